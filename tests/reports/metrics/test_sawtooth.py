"""Crests and troughs of a queue, by hand."""

from pathlib import Path

import pytest
from helpers.tiny_run import SECOND, delivery, tiny_view, transfer

from reports.metrics import METRICS
from reports.view import CellView

STEP_NS = 1_000_000


def queue_view(directory: Path) -> CellView:
    """A thousand samples: a climb from 1000, then 100 to 199 over and over, an outlier on either side."""
    queue = [*range(1000, 1500), *[100 + n % 100 for n in range(500)]]
    queue[700], queue[800] = 0, 5000
    flow_id = "main/h0->h2"
    times = [STEP_NS * (n + 1) for n in range(len(queue))]
    tables = {
        "flows": [transfer(flow_id, end_ns=None, status="unfinished")],
        "throughput": [delivery(flow_id, t, 1000, STEP_NS) for t in times],
        "queues": [
            {"port": "s0->h2", "t_ns": t, "bytes": size} for t, size in zip(times, queue, strict=True)
        ],
    }
    return tiny_view(directory, tables, bottleneck_port="s0->h2")


@pytest.mark.parametrize(
    ("metric", "expected"),
    [("queue_crest_bytes", 199), ("queue_trough_bytes", 100), ("queue_swing_bytes", 99)],
)
def test_of_the_second_half_without_outliers(tmp_path: Path, metric: str, expected: float) -> None:
    assert METRICS[metric].of(queue_view(tmp_path), SECOND) == pytest.approx(expected, abs=1)
