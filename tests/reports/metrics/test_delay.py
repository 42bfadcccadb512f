"""Delay metrics on a cell whose numbers are worked by hand."""

from pathlib import Path

import pytest
from helpers.tiny_run import SECOND, tiny_view

from reports.metrics import METRICS
from reports.view import CellView


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
        ("probe_p10_ns", 10_000),  # rank ceil(9.9) = 10
        ("probe_p90_ns", 90_000),  # rank ceil(89.1) = 90
        ("probe_p50_ns", 50_000),  # rank ceil(49.5) = 50 of the 99 that completed
        ("probe_p99_ns", 99_000),  # rank ceil(98.01) = 99
        ("probe_loss_share", 0.01),
        ("queue_p50_bytes", 20),
        ("queue_max_bytes", 500),  # between samples
        ("queue_deviation_share", 0.2),  # of 30 and 20
    ],
)
def test_worked_example(view: CellView, metric: str, value: float) -> None:
    assert METRICS[metric].of(view, SECOND) == pytest.approx(value)


def test_probes_that_all_failed_have_no_percentile_but_a_loss(tmp_path: Path) -> None:
    view = tiny_view(tmp_path, {"latency": [{"t_ns": 1, "rtt_ns": None, "status": "error"}]})
    assert METRICS["probe_p50_ns"].of(view, SECOND) is None
    assert METRICS["probe_loss_share"].of(view, SECOND) == 1.0
