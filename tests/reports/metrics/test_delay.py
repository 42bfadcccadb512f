"""Tests: metrics of delay and queues."""

import math
from pathlib import Path

import pytest
from helpers.small_runs import SECOND, delivery, queue_view, tiny_view, transfer

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


US = 1_000


def row(n: int, rtt_ns: int | None, **changes: object) -> dict[str, object]:
    status = "ok" if rtt_ns else "error"
    return {
        "t_ns": n * 100 * US,
        "rtt_ns": rtt_ns,
        "status": status,
        "group": "pings",
        "service": "rc",
        **changes,
    }


def test_percentiles_per_service_without_the_probe(tmp_path: Path) -> None:
    rows = [row(n, n * US) for n in range(1, 201)]
    rows += [row(n, 5 * US, service="tcp") for n in range(1, 11)]
    rows += [row(n, 900 * US, group="probe") for n in range(1, 11)]
    view = tiny_view(tmp_path, {"latency": rows})
    assert METRICS["mesh_rc_p50_ns"].of(view, SECOND) == 100 * US
    assert METRICS["mesh_rc_p99_ns"].of(view, SECOND) == 198 * US
    assert METRICS["mesh_rc_p999_ns"].of(view, SECOND) == 200 * US  # rank ceil(199.8)
    assert METRICS["mesh_tcp_p999_ns"].of(view, SECOND) == 5 * US
    assert METRICS["probe_p50_ns"].of(view, SECOND) == 900 * US


def test_a_lost_request_is_slower_than_any(tmp_path: Path) -> None:
    view = tiny_view(
        tmp_path, {"latency": [*(row(n, 5 * US) for n in range(1, 99)), row(99, None), row(100, None)]}
    )
    assert METRICS["mesh_rc_p50_ns"].of(view, SECOND) == 5 * US
    assert METRICS["mesh_rc_p99_ns"].of(view, SECOND) == math.inf


@pytest.mark.parametrize(("age", "counts"), [(1, False), (9, True)])
def test_a_request_on_its_way_at_the_end_counts_if_it_is_old(tmp_path: Path, age: int, counts: bool) -> None:
    """The slowest that came back took 300 us: one that was posted 100 us before the end may still do so."""
    rows = [row(n, 300 * US) for n in range(1, 51)]
    rows.append(row(50 - age, None, status="unfinished"))
    view = tiny_view(tmp_path, {"latency": rows})
    assert (METRICS["mesh_rc_p99_ns"].of(view, SECOND) == math.inf) == counts


STEP_NS = 1_000_000


def sawtooth(directory: Path) -> CellView:
    """A thousand samples: a climb from 1000, then 100 to 199 over and over, an outlier on either side."""
    queue = [*range(1000, 1500), *[100 + n % 100 for n in range(500)]]
    queue[700], queue[800] = 0, 5000
    return queue_view(directory, queue, STEP_NS)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [("queue_crest_bytes", 199), ("queue_trough_bytes", 100), ("queue_swing_bytes", 99)],
)
def test_of_the_second_half_without_outliers(tmp_path: Path, metric: str, expected: float) -> None:
    assert METRICS[metric].of(sawtooth(tmp_path), SECOND) == pytest.approx(expected, abs=1)


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
