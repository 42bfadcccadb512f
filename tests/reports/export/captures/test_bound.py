"""The sentence about packets that went by unrecorded."""

from rogue.reports.export.captures.capture import missed_text


def test_it_says_how_many_and_what_to_do() -> None:
    assert missed_text(1).startswith("the bound was hit: 1 more packet went by unrecorded; raise packets_max")
    assert "2 more packets" in missed_text(2)
