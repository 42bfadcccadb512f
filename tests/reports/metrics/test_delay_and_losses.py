"""Tests: delay, queues, losses and pauses."""

import math
from pathlib import Path

import pytest
from helpers.small_runs import SECOND, delivery, queue_view, tiny_view, transfer

from rogue.reports.cells.view import CellView
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.losses import union_ns
from rogue.reports.results import Results


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


A, B, C = "main/h0->h3", "main/h1->h3", "main/h2->h3"


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("drops_packets", 12),
        ("retransmitted_share", 0.25),  # 100 again, 300 delivered
        ("failed_queue_pairs", 1),
        ("failed_queue_pair_share", 1 / 3),
    ],
)
def test_worked_example_of_losses(tmp_path: Path, metric: str, value: float) -> None:
    view = tiny_view(
        tmp_path,
        {
            "flows": [
                transfer(A, retransmitted_bytes=60),
                transfer(B, retransmitted_bytes=40, status="error"),
                transfer(C, retransmitted_bytes=None, status="unfinished", end_ns=None),
            ],
            "throughput": [delivery(flow, SECOND, 100) for flow in (A, B, C)],
            "queues": [{"port": port, "t_ns": SECOND, "drops": 6} for port in ("s0->h3", "s0->h1")],
        },
    )
    assert METRICS[metric].of(view, SECOND) == pytest.approx(value)


def test_drops_of_a_switch_whose_queues_nobody_sampled(tmp_path: Path) -> None:
    counters = [
        {"node": "s0", "port": f"s0->h{n}", "name": name, "before": 5, "after": 5 + n}
        for n in (1, 2)
        for name in ("dropped_packets", "sent_packets")
    ]
    view = tiny_view(tmp_path / "a", {"flows": [transfer(A)], "counters": counters})
    assert METRICS["drops_packets"].of(view, SECOND) == 3
    others = [row for row in counters if row["name"] != "dropped_packets"]
    assert (
        METRICS["drops_packets"].of(
            tiny_view(tmp_path / "b", {"flows": [transfer(A)], "counters": others}), SECOND
        )
        is None
    )


def test_unknown_retransmissions_are_not_zero(tmp_path: Path) -> None:
    tables = {"flows": [transfer(A, retransmitted_bytes=None)], "throughput": [delivery(A, SECOND, 100)]}
    view = tiny_view(tmp_path, tables)
    assert METRICS["retransmitted_share"].of(view, SECOND) is None


def test_arrived_is_payload_delivered_of_payload_whose_transfers_ended(tmp_path: Path) -> None:
    """A lost 100 of its two transfers of 1000, B arrived, C is under way and left out."""
    tables = {
        "flows": [
            transfer(A), transfer(A, transfer_id=2, status="dropped"), transfer(B),
            transfer(C, status="unfinished", end_ns=None),
        ],
        "throughput": [delivery(A, SECOND, 1900), delivery(B, SECOND, 1000), delivery(C, SECOND, 7)],
    }  # fmt: skip
    assert METRICS["delivered_share"].of(tiny_view(tmp_path, tables), SECOND) == 2900 / 3000


def test_queue_pair_that_failed_counts_though_its_flow_recovered(recovering: Results) -> None:
    (read, write) = recovering.views.values()
    assert read.failed_flow_ids == write.failed_flow_ids == ("main/h0->h1",)
    assert METRICS["failed_queue_pair_share"].of(read, SECOND) == 1.0
    assert METRICS["unfinished_share"].of(read, SECOND) == 0.0


def test_dropped_share_counts_packets_of_transfers_and_of_what_was_sent_again(tmp_path: Path) -> None:
    """3 packets of 2500 bytes, 1 of 1, and 4 again: 2 of 8 were dropped."""
    flows = [
        transfer("main/h0->h1", size_bytes=2_500, retransmitted_bytes=4_000),
        transfer("main/h0->h2", size_bytes=1),
    ]
    drops = {"node": "s0", "name": "dropped_packets", "before": 0, "after": 2}
    view = tiny_view(tmp_path, {"flows": flows, "counters": [drops]}, mtu_bytes=1_000)
    assert METRICS["dropped_share"].of(view, SECOND) == 0.25


PAUSES = [
    {"port": "h0->s0", "start_ns": 100, "duration_ns": 50},
    {"port": "h1->s0", "start_ns": 120, "duration_ns": 80},
    {"port": "h0->s0", "start_ns": 300, "duration_ns": 10},
]


@pytest.mark.parametrize(
    ("metric", "value"),
    [("paused_sum_ns", 140), ("paused_union_ns", 110), ("paused_ports", 2), ("pauses", 3)],
)
def test_pauses_worked_example(tmp_path: Path, metric: str, value: float) -> None:
    assert (
        METRICS[metric].of(tiny_view(tmp_path, {"flows": [transfer("a")], "pauses": PAUSES}), SECOND) == value
    )


@pytest.mark.parametrize("metric", ["paused_sum_ns", "paused_union_ns", "paused_ports", "pauses"])
def test_no_pause_is_zero_and_no_table_is_nothing(tmp_path: Path, metric: str) -> None:
    assert (
        METRICS[metric].of(tiny_view(tmp_path / "a", {"flows": [transfer("a")], "pauses": []}), SECOND) == 0
    )
    assert METRICS[metric].of(tiny_view(tmp_path / "b", {"flows": [transfer("a")]}), SECOND) is None


@pytest.mark.parametrize(
    ("pauses", "worked_ns"),
    [
        ([], 0),
        ([(5, 0)], 0),
        ([(0, 10), (10, 10)], 20),
        ([(0, 10), (2, 3)], 10),
        ([(2, 3), (0, 4)], 5),
        ([(0, 1), (5, 1), (5, 1)], 2),
    ],
)
def test_union(pauses: list[tuple[int, int]], worked_ns: int) -> None:
    assert union_ns([start for start, _ in pauses], [duration for _, duration in pauses]) == worked_ns


def test_flows_that_are_silent_in_the_last_quarter(tmp_path: Path) -> None:
    """Eight seconds: a continues, b stops after six, c never delivers anything."""
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
