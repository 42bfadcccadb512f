"""Metrics of what stands still, on cells whose numbers are worked by hand."""

from pathlib import Path

from helpers.tiny_run import SECOND, delivery, tiny_view, transfer

from rogue.reports.metrics import METRICS


def test_flows_that_are_silent_in_the_last_quarter(tmp_path: Path) -> None:
    """Eight seconds: a goes on, b stops after six, c has never begun to get anything through."""
    flows = [transfer(flow, status="unfinished", end_ns=None) for flow in "abc"]
    rows = [
        delivery(flow, t * SECOND, 100 if flow == "a" or (flow == "b" and t <= 6) else 0)
        for flow in "abc"
        for t in range(1, 9)
    ]
    view = tiny_view(tmp_path, {"flows": flows, "throughput": rows})
    assert METRICS["silent_flows"].of(view, SECOND) == 2


def test_where_flows_come_and_go_silence_says_nothing(tmp_path: Path) -> None:
    flows = [
        transfer("a", status="unfinished", end_ns=None),
        transfer("b", start_ns=4 * SECOND, end_ns=6 * SECOND),
    ]
    rows = [delivery("a", t * SECOND, 100) for t in range(1, 9)]
    rows += [delivery("b", t * SECOND, 100 if 4 < t <= 6 else 0) for t in range(1, 9)]
    view = tiny_view(tmp_path, {"flows": flows, "throughput": rows})
    assert METRICS["silent_flows"].of(view, SECOND) is None


def test_ports_in_a_deadlock_are_a_fact_of_the_cell(tmp_path: Path) -> None:
    view = tiny_view(tmp_path, {"flows": [transfer("a")]}, deadlock_ports=5)
    assert METRICS["deadlock_ports"].of(view, SECOND) == 5
