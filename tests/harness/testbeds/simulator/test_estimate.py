"""How long simulations should take."""

from pathlib import Path

from helpers.experiments import cell_of

from harness.testbeds.simulator.estimate import estimate_seconds


def test_more_traffic_is_expected_to_take_longer(tmp_path: Path) -> None:
    short, long = (cell_of(tmp_path, f"workload.repeat_for={time}") for time in ("1s", "10s"))
    assert estimate_seconds(short, 65_536) < estimate_seconds(long, 65_536)
    assert estimate_seconds(long, 1_048_576) < estimate_seconds(long, 65_536)
