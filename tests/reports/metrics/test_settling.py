"""When a queue settles, by hand."""

from pathlib import Path

import pytest
from helpers.tiny_run import SECOND, delivery, tiny_view, transfer

from reports.metrics import METRICS
from reports.view import CellView

STEP_NS = 1_000_000


def settled_ns(directory: Path, queue: list[int]) -> float | None:
    """Of a queue sampled each millisecond."""
    flow_id = "main/h0->h2"
    times = [STEP_NS * (n + 1) for n in range(len(queue))]
    tables = {
        "flows": [transfer(flow_id, end_ns=None, status="unfinished")],
        "throughput": [delivery(flow_id, t, 1000, STEP_NS) for t in times],
        "queues": [
            {"port": "s0->h2", "t_ns": t, "bytes": size} for t, size in zip(times, queue, strict=True)
        ],
    }
    view: CellView = tiny_view(directory, tables, bottleneck_port="s0->h2")
    return METRICS["queue_settled_ns"].of(view, SECOND)


@pytest.mark.parametrize(
    ("queue", "settled"),
    [
        ([500, 300, 130, 115, 100, 95, 105, 100, 90, 100], 3 * STEP_NS),
        ([100] * 10, 0),
        ([500] * 7 + [100] * 3, None),
        ([0] * 10, None),
    ],
)
def test_within_a_fifth_of_where_it_stays(tmp_path: Path, queue: list[int], settled: int | None) -> None:
    assert settled_ns(tmp_path, queue) == settled
