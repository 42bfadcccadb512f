"""Tests: metrics of losses, pauses and stalls."""

from pathlib import Path

import pytest
from helpers.small_runs import SECOND, delivery, tiny_view, transfer

from rogue.reports.metrics import METRICS
from rogue.reports.metrics.losses import union_ns
from rogue.reports.results import Results

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
def test_worked_example(tmp_path: Path, metric: str, value: float) -> None:
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
