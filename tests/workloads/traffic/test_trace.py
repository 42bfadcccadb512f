"""Tests: transfers from a file."""

import pytest
from helpers.experiments import trace_rows
from pydantic import ValidationError

from rogue.workloads.topologies import Placement
from rogue.workloads.traffic.trace import Trace

HOSTS = Placement(("h0", "h1", "h2"), "h2", 9e9, 10**10)
ROWS = trace_rows(
    "start_us,src,dst,size_bytes,group\n"
    "0,h0,h1,1000,a\n"
    "2,h0,h1,2000,b\n"
    "3,h0,h1,3000,a\n"
    "4.5,h1,h2,4000,b\n"
)  # fmt: skip


def trace(**keys: object) -> Trace:
    return Trace.model_validate({"kind": "trace", "file": ROWS, **keys})


def test_each_transfer_has_a_connection_of_its_own() -> None:
    flows = trace().flows(HOSTS, 1)
    assert [(flow.name_in("main"), flow.start_ns, flow.size_bytes, flow.count) for flow in flows] == [
        ("main.a/h0->h1", 0, 1000, 1),
        ("main.b/h0->h1#1", 2000, 2000, 1),
        ("main.a/h0->h1#2", 3000, 3000, 1),
        ("main.b/h1->h2", 4500, 4000, 1),
    ]


def test_or_transfers_of_a_pair_and_group_share_one() -> None:
    first, *others = trace(connection="per_pair").flows(HOSTS, 1)
    assert (first.name_in("main"), first.count, first.start_ns) == ("main.a/h0->h1", 2, 0)
    assert [tuple(each) for each in first.arrivals] == [(0, 1000, ()), (3000, 3000, ())]
    assert [flow.name_in("main") for flow in others] == ["main.b/h0->h1#1", "main.b/h1->h2"]


def test_without_groups_flows_are_those_of_the_traffic_group() -> None:
    rows = trace_rows("start_ns,src,dst,size_bytes\n0,h0,h1,1\n")
    (flow,) = trace(file=rows).flows(HOSTS, 1)
    assert flow.name_in("main") == "main/h0->h1"


def test_a_run_can_begin_and_end_within_the_trace() -> None:
    cut = trace(begin="2us", until="4500ns")
    assert [(flow.start_ns, flow.size_bytes) for flow in cut.flows(HOSTS, 1)] == [(0, 2000), (1000, 3000)]
    assert cut.scheduled_transfers(HOSTS) == 2


def test_it_lasts_until_all_are_done_or_for_a_while() -> None:
    assert trace().duration_ns is None
    assert trace(begin="2us", drain_for="1us").duration_ns == 2500 + 1000 + 1
    assert trace(ignore_for="2us").warm_up_ns == 2000


def test_a_span_without_a_transfer_is_a_mistake() -> None:
    with pytest.raises(ValidationError, match="the last one does so after 4500 ns"):
        trace(begin="5us")
    with pytest.raises(ValidationError, match="expected a time after begin"):
        trace(begin="2us", until="2us")


def test_transfers_that_all_do_not_count_are_a_mistake() -> None:
    with pytest.raises(ValidationError, match="at most 2500 ns, when the last transfer starts"):
        trace(begin="2us", ignore_for="2501ns")
    assert trace(begin="2us", ignore_for="2500ns").warm_up_ns == 2500


def test_a_host_that_is_none_of_the_networks_is_named() -> None:
    unfit = trace().unfit(Placement(("h0", "h1"), "h1", 9e9, 10**10))
    assert unfit is not None
    assert unfit.context is not None
    assert unfit.context["got"] == "h2 in line 5, column dst of flows.csv"
    assert trace().unfit(HOSTS) is None


TRACE_ROWS_ROWS = trace_rows(
    "start_ns,src,dst,size_bytes,group\n"
    "0,h0,h1,10,a\n"
    "5,h2,h1,20,b\n"
    "5,h1,h0,30,a\n"
    "9,h0,h2,40,b\n"
)  # fmt: skip


def test_rows_come_back_as_they_stood() -> None:
    assert [tuple(row) for row in TRACE_ROWS_ROWS.rows(slice(0, 4))] == [
        (0, "h0", "h1", 10, "a"),
        (5, "h2", "h1", 20, "b"),
        (5, "h1", "h0", 30, "a"),
        (9, "h0", "h2", 40, "b"),
    ]


def test_a_span_has_its_beginning_and_not_its_end() -> None:
    spans = {(0, None): [0, 5, 5, 9], (5, 9): [5, 5], (6, 9): [], (0, 5): [0], (9, 10): [9], (6, 3): []}
    for (begin_ns, until_ns), starts_ns in spans.items():
        found = TRACE_ROWS_ROWS.rows(TRACE_ROWS_ROWS.between(begin_ns, until_ns))
        assert [row.start_ns for row in found] == starts_ns


def test_the_first_host_that_nobody_knows_has_its_line_and_column() -> None:
    assert TRACE_ROWS_ROWS.first_unknown(frozenset({"h0", "h1", "h2"})) is None
    assert TRACE_ROWS_ROWS.first_unknown(frozenset({"h0", "h1"})) == (3, "src", "h2")
    assert TRACE_ROWS_ROWS.first_unknown(frozenset({"h0", "h2"})) == (2, "dst", "h1")
    assert TRACE_ROWS_ROWS.first_unknown(frozenset({"h2"})) == (2, "dst", "h1")
