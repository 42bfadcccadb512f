"""Goodput metrics on a cell whose numbers are worked by hand."""

from pathlib import Path

import pytest
from helpers.tiny_run import SECOND, delivery, tiny_view, transfer

from rogue.reports.cells.view import CellView
from rogue.reports.metrics import METRICS

A, B = "main/h0->h2", "main/h1->h2"


@pytest.fixture
def view(tmp_path: Path) -> CellView:
    """Two flows, ideal 1600 bit/s: A delivers 100 B in each of 2 s, B 100 B and then nothing (it failed)."""
    return tiny_view(
        tmp_path,
        {
            "flows": [
                transfer(A, goodput_bps=720.0),
                transfer(B, status="error", end_ns=SECOND, goodput_bps=None),
            ],
            "throughput": [delivery(A, SECOND, 100), delivery(A, 2 * SECOND, 100), delivery(B, SECOND, 100)],
        },
        ideal_goodput_bps=1600,
    )


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("aggregate_bps", 1200.0),  # 300 B in 2 s
        ("aggregate_share", 0.75),
        ("interval_goodput_p50_share", 1.0),  # 0, 800, 800, 800 over a share of 800: rank 2
        ("interval_goodput_p10_share", 0.0),  # rank 1
        ("jain", 0.9),  # 800 and 400: 1200^2 / (2 * 800000)
        ("worst_flow_share", 0.5),  # 400 of 800
        ("flow_median_share", 0.75),  # 400 and 800 of 800
        ("flow_p50_share", 0.5),  # rank 1 of 400 and 800
        ("flow_mean_bps", 600.0),
        ("first_completion_p10_share", 0.0),  # 720 and a failure
    ],
)
def test_worked_example(view: CellView, metric: str, value: float) -> None:
    assert METRICS[metric].of(view, SECOND) == pytest.approx(value)


def test_first_completion_looks_at_the_first_transfer_only(tmp_path: Path) -> None:
    rows = [
        transfer(A, goodput_bps=720.0),
        transfer(A, start_ns=SECOND, transfer_id=1, goodput_bps=80.0),
        transfer(B, goodput_bps=760.0),
    ]
    view = tiny_view(tmp_path, {"flows": rows}, ideal_goodput_bps=1600)
    assert METRICS["first_completion_p10_share"].of(view, SECOND) == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("status_of_b", "end_ns", "value"),
    [
        ("unfinished", 9, None),
        ("unfinished", 10, 0.0),
        ("unfinished", None, 0.0),
        ("error", 9, 0.0),
        ("ok", 9, 0.0),
    ],
)
def test_first_transfers_that_time_ended_too_early_say_nothing(
    tmp_path: Path, status_of_b: str, end_ns: int | None, value: float | None
) -> None:
    """1000 bytes at a share of 800 bit/s would have taken 10 s; those that had so long never end."""
    rows = [
        transfer(A, status="unfinished", fct_ns=None, goodput_bps=None),
        transfer(B, status=status_of_b, goodput_bps=760.0 if status_of_b == "ok" else None),
    ]
    simulated_ns = None if end_ns is None else end_ns * SECOND
    view = tiny_view(tmp_path, {"flows": rows}, ideal_goodput_bps=1600, simulated_ns=simulated_ns)
    assert METRICS["first_completion_p10_share"].of(view, SECOND) == value


def test_without_the_ideal_there_is_no_share(tmp_path: Path) -> None:
    view = tiny_view(tmp_path, {"flows": [transfer(A)], "throughput": [delivery(A, SECOND, 100)]})
    assert METRICS["aggregate_share"].of(view, SECOND) is None
    assert METRICS["interval_goodput_p50_share"].of(view, SECOND) is None
    assert METRICS["aggregate_bps"].of(view, SECOND) == 800.0


def test_first_transfers_that_start_apart_are_not_compared(tmp_path: Path) -> None:
    rows = [
        transfer(A, goodput_bps=720.0, fct_ns=SECOND),
        transfer(B, start_ns=SECOND // 5, goodput_bps=760.0),
    ]
    view = tiny_view(tmp_path, {"flows": [{"fct_ns": SECOND, **row} for row in rows]}, ideal_goodput_bps=1600)
    assert METRICS["first_completion_p10_share"].of(view, SECOND) is None


def test_finished_transfer_without_its_rate_is_no_number(tmp_path: Path) -> None:
    rows = [transfer(A, goodput_bps=None, fct_ns=SECOND)]
    view = tiny_view(tmp_path, {"flows": rows}, ideal_goodput_bps=1600)
    assert METRICS["first_completion_p10_share"].of(view, SECOND) is None
