"""When links change."""

from pathlib import Path

from helpers.experiments import cell_of

from harness.testbeds.fault_events import fault_events

CUT = "faults=[{kind: link_cut, at: 1ms, target: h1, duration: 2ms}]"
LOSS = "faults=[{kind: loss, target: s0-h1, %s}]"


def test_changes_of_links_by_time(tmp_path: Path) -> None:
    assert fault_events(cell_of(tmp_path, CUT), 10**9) == [
        ("", 1_000_000, "link_cut", "h1"),
        ("", 3_000_000, "link_restored", "h1"),
    ]
    assert [row[2] for row in fault_events(cell_of(tmp_path, CUT), 2_000_000)] == ["link_cut"]
    losses = cell_of(tmp_path, LOSS % "one_in: 8, from: 1ms, until: 2ms")
    assert fault_events(losses, 10**9) == [
        ("", 1_000_000, "loss_begins", "s0-h1"),
        ("", 2_000_000, "loss_ends", "s0-h1"),
    ]
    assert fault_events(cell_of(tmp_path, LOSS % "one_in: 0"), 10**9) == []
