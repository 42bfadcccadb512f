"""When a queue settles, by hand."""

from pathlib import Path

import pytest
from helpers.tiny_run import SECOND, delivery, queue_view, tiny_view, transfer

from rogue.reports.metrics import METRICS

STEP_NS = 1_000_000


def settled_ns(directory: Path, queue: list[int]) -> float | None:
    """Of a queue sampled each millisecond."""
    view = queue_view(directory, queue, STEP_NS)
    return METRICS["queue_settled_ns"].of(view, SECOND)


@pytest.mark.parametrize(
    ("queue", "settled"),
    [
        ([500, 300, 130, 115, 100, 95, 105, 100, 90, 100], 3 * STEP_NS),
        ([100] * 10, 0),
        ([500] * 7 + [100] * 3, 10 * STEP_NS),  # never: as long as it was watched
        ([0] * 10, None),
    ],
)
def test_within_a_fifth_of_where_it_stays(tmp_path: Path, queue: list[int], settled: int | None) -> None:
    assert settled_ns(tmp_path, queue) == settled


def test_fine_samples_have_no_edges(tmp_path: Path) -> None:
    """A steady queue sampled every 20 us, ten to an average, has always been settled."""
    view = queue_view(tmp_path, [100] * 50, 20_000)
    assert METRICS["queue_settled_ns"].of(view, 20_000) == 0


def test_less_than_one_average(tmp_path: Path) -> None:
    assert METRICS["queue_settled_ns"].of(queue_view(tmp_path, [100] * 8, 20_000), 20_000) is None


def test_the_slowest_of_the_levels(tmp_path: Path) -> None:
    """A, from 10 to 20 ms also B and C; a queue of 100, then 300, then 100 bytes again."""
    spans = {0: (0, 30), 1: (10, 20), 2: (10, 20)}
    flows = [
        transfer(f"main/h{host}->h3", start_ns=start * STEP_NS + 10 * host, end_ns=end * STEP_NS)
        for host, (start, end) in spans.items()
    ]
    flows = [row | {"fct_ns": row["end_ns"] - row["start_ns"]} for row in flows]  # type: ignore[operator]
    queue = [100] * 10 + [900, 600, 310] + [300] * 7 + [200] + [100] * 9
    tables = {
        "flows": flows,
        "throughput": [
            delivery(str(flows[0]["flow_id"]), (n + 1) * STEP_NS, 1000, STEP_NS) for n in range(30)
        ],
        "queues": [
            {"port": "s0->h3", "t_ns": (n + 1) * STEP_NS, "bytes": size} for n, size in enumerate(queue)
        ],
    }
    view = tiny_view(tmp_path, tables, bottleneck_port="s0->h3")
    assert METRICS["level_settled_ns"].of(view, SECOND) == pytest.approx(2 * STEP_NS, abs=100)
    assert METRICS["queue_settled_ns"].of(view, SECOND) is None


def test_flows_that_start_together_have_no_levels_to_settle(tmp_path: Path) -> None:
    view = tiny_view(tmp_path, {"flows": [transfer("a")], "throughput": [delivery("a", SECOND, 1)]})
    assert METRICS["level_settled_ns"].of(view, SECOND) is None
