"""Tests: delay, queues, losses and pauses."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from helpers.small_runs import SECOND, delivery, measure, queue_view, tiny_view, transfer

from rogue.reports.metrics import METRICS
from rogue.reports.metrics.losses import union_ns
from rogue.reports.results import Results

Tables = Mapping[str, Sequence[Mapping[str, object]]]
US, MS = 1_000, 1_000_000
A, B, C = "main/h0->h3", "main/h1->h3", "main/h2->h3"

PROBED: Tables = {
    "latency": [
        *({"t_ns": n, "rtt_ns": 1000 * n, "status": "ok"} for n in range(1, 100)),
        {"t_ns": 100, "rtt_ns": None, "status": "unfinished"},
    ],
    "queues": [
        {"port": "s0->h2", "t_ns": t * SECOND, "bytes": size, "max_bytes": most}
        for t, size, most in ((1, 10, 90), (2, 30, 40), (3, 20, 500))
    ],
}
LOSSY: Tables = {
    "flows": [
        transfer(A, retransmitted_bytes=60),
        transfer(B, retransmitted_bytes=40, status="error"),
        transfer(C, retransmitted_bytes=None, status="unfinished", end_ns=None),
    ],
    "throughput": [delivery(flow, SECOND, 100) for flow in (A, B, C)],
    "queues": [{"port": port, "t_ns": SECOND, "drops": 6} for port in ("s0->h3", "s0->h1")],
}
PAUSED: Tables = {
    "flows": [transfer("a")],
    "pauses": [
        {"port": "h0->s0", "start_ns": 100, "duration_ns": 50},
        {"port": "h1->s0", "start_ns": 120, "duration_ns": 80},
        {"port": "h0->s0", "start_ns": 300, "duration_ns": 10},
    ],
}
COUNTERS = [
    {"node": "s0", "port": f"s0->h{n}", "name": name, "before": 5, "after": 5 + n}
    for n in (1, 2)
    for name in ("dropped_packets", "sent_packets")
]


def of_counters(counters: Sequence[Mapping[str, object]]) -> Tables:
    return {"flows": [transfer(A)], "counters": counters}


@pytest.mark.parametrize(
    ("tables", "metric", "value"),
    [
        (PROBED, "probe_p10_ns", 10_000),  # rank 10 of 100
        (PROBED, "probe_p90_ns", 90_000),  # rank 90 of 100
        (PROBED, "probe_p50_ns", 50_000),  # rank 50 of 100
        (PROBED, "probe_p99_ns", 99_000),  # rank 99 of 100, the last that completed
        (PROBED, "probe_loss_share", 0.01),
        (PROBED, "queue_p50_bytes", 20),
        (PROBED, "queue_max_bytes", 500),  # between samples
        (PROBED, "queue_deviation_share", 0.2),  # of 30 and 20
        ({"latency": [{"t_ns": 1, "rtt_ns": None, "status": "error"}]}, "probe_p50_ns", math.inf),
        ({"latency": [{"t_ns": 1, "rtt_ns": None, "status": "error"}]}, "probe_loss_share", 1.0),
        (LOSSY, "drops_packets", 12),
        (LOSSY, "retransmitted_share", 0.25),  # 100 again, 300 delivered
        (LOSSY, "failed_queue_pairs", 1),
        (LOSSY, "failed_queue_pair_share", 1 / 3),
        (of_counters(COUNTERS), "drops_packets", 3),  # of a switch whose queues are not sampled
        (of_counters([row for row in COUNTERS if row["name"] == "sent_packets"]), "drops_packets", None),
        (
            {"flows": [transfer(A, retransmitted_bytes=None)], "throughput": [delivery(A, SECOND, 100)]},
            "retransmitted_share",
            None,
        ),
        (PAUSED, "paused_sum_ns", 140),
        (PAUSED, "paused_union_ns", 110),
        (PAUSED, "paused_ports", 2),
        (PAUSED, "pauses", 3),
        *(({**PAUSED, "pauses": []}, name, 0) for name in ("paused_sum_ns", "paused_union_ns")),
        *(({**PAUSED, "pauses": []}, name, 0) for name in ("paused_ports", "pauses")),
        *(({"flows": [transfer("a")]}, name, None) for name in ("paused_sum_ns", "paused_union_ns")),
        *(({"flows": [transfer("a")]}, name, None) for name in ("paused_ports", "pauses")),
    ],
)
def test_worked_examples(tmp_path: Path, tables: Tables, metric: str, value: float | None) -> None:
    found = measure(tmp_path, metric, tables)
    assert found == (None if value is None else pytest.approx(value))


@pytest.mark.parametrize(("lost", "median_ns"), [(1, 2_000), (3, 3_000), (4, math.inf)])
def test_lost_probe_is_infinite(tmp_path: Path, lost: int, median_ns: float) -> None:
    """Three came back after 1, 2 and 3 us: one lost makes it rank 2 of 4, three rank 3 of 6, four none."""
    back = [{"t_ns": n, "rtt_ns": 1000 * n, "status": "ok"} for n in (1, 2, 3)]
    gone = [{"t_ns": 9 + n, "rtt_ns": None, "status": "unfinished"} for n in range(lost)]
    view = tiny_view(tmp_path, {"latency": [*back, *gone]})
    assert METRICS["probe_p50_ns"].of(view, SECOND) == median_ns
    assert METRICS["probe_loss_share"].of(view, SECOND) == lost / (3 + lost)


def ping(n: int, rtt_ns: int | None, **changes: object) -> dict[str, object]:
    row = {"t_ns": n * 100 * US, "rtt_ns": rtt_ns, "status": "ok" if rtt_ns else "error"}
    return {**row, "group": "pings", "service": "rc", **changes}


def test_percentiles_of_a_mesh_are_per_service_and_without_the_probe(tmp_path: Path) -> None:
    rows = [ping(n, n * US) for n in range(1, 201)]
    rows += [ping(n, 5 * US, service="tcp") for n in range(1, 11)]
    rows += [ping(n, 900 * US, group="probe") for n in range(1, 11)]
    view = tiny_view(tmp_path, {"latency": rows})
    assert METRICS["mesh_rc_p50_ns"].of(view, SECOND) == 100 * US
    assert METRICS["mesh_rc_p99_ns"].of(view, SECOND) == 198 * US
    assert METRICS["mesh_rc_p999_ns"].of(view, SECOND) == 200 * US  # rank ceil(199.8)
    assert METRICS["mesh_tcp_p999_ns"].of(view, SECOND) == 5 * US
    assert METRICS["probe_p50_ns"].of(view, SECOND) == 900 * US


def test_lost_request_is_infinite(tmp_path: Path) -> None:
    rows = [*(ping(n, 5 * US) for n in range(1, 99)), ping(99, None), ping(100, None)]
    view = tiny_view(tmp_path, {"latency": rows})
    assert METRICS["mesh_rc_p50_ns"].of(view, SECOND) == 5 * US
    assert METRICS["mesh_rc_p99_ns"].of(view, SECOND) == math.inf


@pytest.mark.parametrize(("age", "counts"), [(1, False), (9, True)])
def test_old_request_under_way_at_the_end_counts(tmp_path: Path, age: int, counts: bool) -> None:
    """The slowest that came back took 300 us: one that was posted 100 us before the end may still do so."""
    rows = [*(ping(n, 300 * US) for n in range(1, 51)), ping(50 - age, None, status="unfinished")]
    assert (measure(tmp_path, "mesh_rc_p99_ns", {"latency": rows}) == math.inf) == counts


@pytest.mark.parametrize(
    ("metric", "expected"),
    [("queue_crest_bytes", 199), ("queue_trough_bytes", 100), ("queue_swing_bytes", 99)],
)
def test_sawtooth_of_the_second_half_without_outliers(tmp_path: Path, metric: str, expected: float) -> None:
    """A thousand samples: a climb from 1000, then 100 to 199 over and over, an outlier on either side."""
    queue = [*range(1000, 1500), *[100 + n % 100 for n in range(500)]]
    queue[700], queue[800] = 0, 5000
    view = queue_view(tmp_path, queue, MS)
    assert METRICS[metric].of(view, SECOND) == pytest.approx(expected, abs=1)


@pytest.mark.parametrize(
    ("queue", "step_ns", "settled_ns"),
    [
        ([500, 300, 130, 115, 100, 95, 105, 100, 90, 100], MS, 3 * MS),
        ([100] * 10, MS, 0),
        ([500] * 7 + [100] * 3, MS, 10 * MS),  # never: as long as it was watched
        ([0] * 10, MS, None),
        ([100] * 50, 20 * US, 0),  # fine samples, ten to an average, have no edges
        ([100] * 8, 20 * US, None),  # less than one average
    ],
)
def test_queue_settles_within_a_fifth_of_its_level(
    tmp_path: Path, queue: list[int], step_ns: int, settled_ns: int | None
) -> None:
    assert METRICS["queue_settled_ns"].of(queue_view(tmp_path, queue, step_ns), SECOND) == settled_ns


def test_settling_of_the_slowest_level(tmp_path: Path) -> None:
    """A, from 10 to 20 ms also B and C; a queue of 100, then 300, then 100 bytes again."""
    spans = {0: (10 * 0, 30 * MS), 1: (10 * MS + 10, 20 * MS), 2: (10 * MS + 20, 20 * MS)}
    flows = [
        transfer(f"main/h{host}->h3", start_ns=start, end_ns=end, fct_ns=end - start)
        for host, (start, end) in spans.items()
    ]
    queue = [100] * 10 + [900, 600, 310] + [300] * 7 + [200] + [100] * 9
    times = [n * MS for n in range(1, 31)]
    tables = {
        "flows": flows,
        "throughput": [delivery(A, t, 1000, MS) for t in times],
        "queues": [
            {"port": "s0->h3", "t_ns": t, "bytes": size} for t, size in zip(times, queue, strict=True)
        ],
    }
    view = tiny_view(tmp_path, tables, bottleneck_port="s0->h3")
    assert METRICS["level_settled_ns"].of(view, SECOND) == pytest.approx(2 * MS, abs=100)
    assert METRICS["queue_settled_ns"].of(view, SECOND) is None


def test_simultaneous_flows_have_no_level_to_settle(tmp_path: Path) -> None:
    tables = {"flows": [transfer("a")], "throughput": [delivery("a", SECOND, 1)]}
    assert measure(tmp_path, "level_settled_ns", tables) is None


def test_delivered_share_is_over_transfers_that_ended(tmp_path: Path) -> None:
    """A lost 100 of its two transfers of 1000, B arrived, C is under way and left out."""
    lost, open_ended = {"transfer_id": 2, "status": "dropped"}, {"status": "unfinished", "end_ns": None}
    tables = {
        "flows": [transfer(A), transfer(A, **lost), transfer(B), transfer(C, **open_ended)],
        "throughput": [delivery(A, SECOND, 1900), delivery(B, SECOND, 1000), delivery(C, SECOND, 7)],
    }
    assert measure(tmp_path, "delivered_share", tables) == 2900 / 3000


def test_failed_queue_pair_counts_even_if_the_flow_recovered(recovering: Results) -> None:
    read, write = recovering.views.values()
    assert read.failed_flow_ids == write.failed_flow_ids == ("main/h0->h1",)
    assert METRICS["failed_queue_pair_share"].of(read, SECOND) == 1.0
    assert METRICS["unfinished_share"].of(read, SECOND) == 0.0


def test_dropped_share_counts_retransmitted_packets(tmp_path: Path) -> None:
    """3 packets of 2500 bytes, 1 of 1, and 4 again: 2 of 8 were dropped."""
    flows = [
        transfer("main/h0->h1", size_bytes=2_500, retransmitted_bytes=4_000),
        transfer("main/h0->h2", size_bytes=1),
    ]
    drops = {"node": "s0", "name": "dropped_packets", "before": 0, "after": 2}
    tables = {"flows": flows, "counters": [drops]}
    assert measure(tmp_path, "dropped_share", tables, mtu_bytes=1_000) == 0.25


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
def test_union_of_pauses(pauses: list[tuple[int, int]], worked_ns: int) -> None:
    assert union_ns([start for start, _ in pauses], [duration for _, duration in pauses]) == worked_ns


def test_flows_that_are_silent_in_the_last_quarter(tmp_path: Path) -> None:
    """Eight seconds: a continues, b stops after six, c never delivers anything."""
    flows = [transfer(flow, status="unfinished", end_ns=None) for flow in "abc"]
    until = {"a": 8, "b": 6, "c": 0}
    rows = [delivery(flow, t * SECOND, 100 * (t <= until[flow])) for flow in "abc" for t in range(1, 9)]
    assert measure(tmp_path / "one", "silent_flows", {"flows": flows, "throughput": rows}) == 2
    flows[1] = transfer("b", start_ns=4 * SECOND, end_ns=6 * SECOND)  # flows come and go
    assert measure(tmp_path / "two", "silent_flows", {"flows": flows[:2], "throughput": rows}) is None


def test_deadlocked_ports_are_a_fact_of_the_cell(tmp_path: Path) -> None:
    assert measure(tmp_path, "deadlock_ports", {"flows": [transfer("a")]}, deadlock_ports=5) == 5
