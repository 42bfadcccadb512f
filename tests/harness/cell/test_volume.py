"""How much of a cell is stored, worked by hand."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.cell.cell import expected_bytes


def test_greedy_flows_fill_their_receiver(tmp_path: Path) -> None:
    """10 Gb/s for 1 s are 1.25 GB: 1250 transfers of 1 MB, and 19 073.5 segments of 64 KiB.

    Ten thousand probes; two flows each 10 ms; four ports each millisecond.
    """
    cell = cell_of(tmp_path, "workload.repeat_for=1s")
    rows = 1250 * 100 + 19073.486 * 20 + 10_000 * 10 + 100 * 2 * 25 + 1000 * 4 * 2
    assert expected_bytes(cell) == pytest.approx(20_000 + rows)


def test_only_what_is_measured_is_stored(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "workload.repeat_for=1s", "probe=null", "measure=[rtt]")
    assert expected_bytes(cell) == pytest.approx(20_000 + 1250 * 100 + 19073.486 * 20)


def test_finite_flows_have_the_transfers_that_they_ask_for(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "probe=null", "measure=[rtt]")
    assert expected_bytes(cell) == pytest.approx(20_000 + 2 * 100 + 2e6 / 65536 * 20)


@pytest.mark.parametrize(("interval", "rows"), [("10ms", 2e6 / 65536), ("100us", 2 * 1_717_184 / 1e5)])
def test_controls_tell_after_each_segment_or_interval(tmp_path: Path, interval: str, rows: float) -> None:
    """Two flows of 1 MB last 1.7 ms: 31 segments, or 17 intervals of each flow."""
    measure = f"measure=[control, {{kind: throughput, interval: {interval}}}]"
    cell = cell_of(tmp_path, "probe=null", measure)
    intervals = 2 * cell.timing.traffic_ns / cell.timing.throughput_interval_ns
    expected = 20_000 + 2 * 100 + rows * 40 + intervals * 25
    assert expected_bytes(cell) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("packets_max", "rows"), [(50_000, 2 * 2 * 2e6 / 1024), (500, 500)])
def test_packets_cross_two_links_and_are_acknowledged(tmp_path: Path, packets_max: int, rows: float) -> None:
    measure = f"measure=[rtt, {{kind: packets, packets_max: {packets_max}}}]"
    cell = cell_of(tmp_path, "probe=null", measure)
    assert expected_bytes(cell) == pytest.approx(20_000 + 2 * 100 + 2e6 / 65536 * 20 + rows * 10)
