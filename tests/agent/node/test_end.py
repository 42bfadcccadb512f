import pytest

from rogue.agent.node.end import End, Report


def test_a_report_of_nothing_is_empty() -> None:
    report = Report(0)
    assert (report.moved_bytes, report.ended, report.error, report.facts) == (0, {}, None, {})


def test_an_end_has_every_part() -> None:
    class Half(End):
        is_requester = True

    with pytest.raises(TypeError, match="abstract"):
        Half()  # type: ignore[abstract]
