"""Delay metrics on a cell whose numbers are worked by hand."""

import math
from pathlib import Path

import pytest
from helpers.tiny_run import SECOND, tiny_view

from rogue.reports.cells.view import CellView
from rogue.reports.metrics import METRICS


@pytest.fixture
def view(tmp_path: Path) -> CellView:
    probes = [{"t_ns": n, "rtt_ns": 1000 * n, "status": "ok"} for n in range(1, 100)]
    lost = {"t_ns": 100, "rtt_ns": None, "status": "unfinished"}
    sizes = [(SECOND, 10, 90), (2 * SECOND, 30, 40), (3 * SECOND, 20, 500)]
    queues = [{"port": "s0->h2", "t_ns": t, "bytes": size, "max_bytes": most} for t, size, most in sizes]
    return tiny_view(tmp_path, {"latency": [*probes, lost], "queues": queues})


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("probe_p10_ns", 10_000),  # rank 10 of 100
        ("probe_p90_ns", 90_000),  # rank 90 of 100
        ("probe_p50_ns", 50_000),  # rank 50 of 100
        ("probe_p99_ns", 99_000),  # rank 99 of 100, the last that completed
        ("probe_loss_share", 0.01),
        ("queue_p50_bytes", 20),
        ("queue_max_bytes", 500),  # between samples
        ("queue_deviation_share", 0.2),  # of 30 and 20
    ],
)
def test_worked_example(view: CellView, metric: str, value: float) -> None:
    assert METRICS[metric].of(view, SECOND) == pytest.approx(value)


@pytest.mark.parametrize(("lost", "median_ns"), [(1, 2_000), (3, 3_000), (4, math.inf)])
def test_a_probe_that_never_came_back_is_infinite(tmp_path: Path, lost: int, median_ns: float) -> None:
    """Three came back after 1, 2 and 3 us: one lost makes it rank 2 of 4, three rank 3 of 6, four none."""
    back = [{"t_ns": n, "rtt_ns": 1000 * n, "status": "ok"} for n in (1, 2, 3)]
    gone = [{"t_ns": 9 + n, "rtt_ns": None, "status": "unfinished"} for n in range(lost)]
    view = tiny_view(tmp_path, {"latency": [*back, *gone]})
    assert METRICS["probe_p50_ns"].of(view, SECOND) == median_ns
    assert METRICS["probe_loss_share"].of(view, SECOND) == lost / (3 + lost)


def test_probes_that_all_failed(tmp_path: Path) -> None:
    view = tiny_view(tmp_path, {"latency": [{"t_ns": 1, "rtt_ns": None, "status": "error"}]})
    assert METRICS["probe_p50_ns"].of(view, SECOND) == math.inf
    assert METRICS["probe_loss_share"].of(view, SECOND) == 1.0
