"""Tests: transfers that wait for others: whether and when all can start."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.workloads.traffic.program import MOMENTS, program_of
from rogue.workloads.traffic.waiting import Levels, OneByOne, WaitingOrder, earliest_end_ns, unknowable, waits
from rogue.workloads.traffic.workload import Arrival, Flow, Predecessor


def flow(ends: str, *arrivals: Arrival) -> Flow:
    source, _, destination = ends.partition("->")
    return Flow(source, destination, "write", 1, 0, count=len(arrivals), arrivals=arrivals)


def size(_flow: Flow, size_bytes: int) -> int:
    return size_bytes


def test_the_longest_way_through_transfers_and_pauses_decides() -> None:
    """a: 10 and then 30 behind it; b starts 5 after the first is there, at 15, and takes 100."""
    flows = [
        flow("a->b", Arrival(0, 10), Arrival(0, 30)),
        flow("b->c", Arrival(0, 100, (Predecessor("a->b", 0, "arrival", 5),))),
    ]
    assert waits(flows)
    assert earliest_end_ns(flows, size) == 115


def test_a_start_lets_go_before_the_end_and_a_flow_keeps_its_order() -> None:
    """The second of a starts with the first, at 50; c starts 1 after that, and takes 2."""
    flows = [
        flow("a->b", Arrival(50, 10), Arrival(0, 30)),
        flow("a->c", Arrival(0, 2, (Predecessor("a->b", 1, "start", 1),))),
    ]
    assert earliest_end_ns(flows, size) == 80
    assert earliest_end_ns(flows, lambda each, _bytes: 200 if each.ends == "a->c" else 1) == 251


def test_a_circle_has_no_end() -> None:
    flows = [
        flow("a->b", Arrival(0, 1, (Predecessor("b->a", 0, "arrival"),))),
        flow("b->a", Arrival(0, 1, (Predecessor("a->b", 0, "arrival"),))),
    ]
    assert earliest_end_ns(flows, size) is None


def test_one_that_waits_for_what_comes_behind_it_is_a_circle() -> None:
    flows = [
        flow("a->b", Arrival(0, 1, (Predecessor("b->a", 0, "arrival"),)), Arrival(0, 1)),
        flow("b->a", Arrival(0, 1, (Predecessor("a->b", 1, "arrival"),))),
    ]
    assert earliest_end_ns(flows, size) is None


@pytest.mark.parametrize("nobody", [Predecessor("x->y", 0), Predecessor("a->b", 1), Predecessor("a->b", -1)])
def test_what_waits_for_a_transfer_that_there_is_not_waits_for_ever(nobody: Predecessor) -> None:
    """Also where the number is that of a transfer of the next flow."""
    flows = [flow("a->b", Arrival(0, 1)), flow("a->c", Arrival(0, 1), Arrival(0, 1, (nobody,)))]
    assert WaitingOrder(flows).has_circle
    assert earliest_end_ns(flows, size) is None


def test_an_order_serves_several_questions() -> None:
    order = WaitingOrder([flow("a->b", Arrival(0, 10), Arrival(4, 1)), flow("b->a", Arrival(2, 5))])
    assert not order.has_circle
    assert order.earliest_end_ns(size) == 10
    assert order.earliest_end_ns(lambda _flow, size_bytes: 2 * size_bytes) == 20
    assert order.earliest_end_ns(lambda _flow, _bytes: 1) == 5


def test_a_host_knows_what_came_to_it_and_what_it_sent() -> None:
    known = (Predecessor("a->b", 0, "arrival"), Predecessor("b->c", 0, "end"))
    unknown = (Predecessor("a->b", 0, "end"), Predecessor("b->c", 0, "arrival"), Predecessor("x->y", 0))
    flows = [
        flow("a->b", Arrival(0, 1)),
        flow("b->c", Arrival(0, 1)),
        flow("b->d", Arrival(0, 1, (*known, *unknown, Predecessor("a->b", 1, "arrival")))),
    ]
    assert [each for _, each in unknowable(flows)] == [*unknown, Predecessor("a->b", 1, "arrival")]


CAUSES = st.builds(
    Predecessor,
    st.sampled_from(["h0->x", "h1->x", "h2->x", "nobody"]),
    st.integers(0, 4),
    st.sampled_from(MOMENTS),
    st.integers(0, 50),
)
ARRIVALS = st.builds(Arrival, st.integers(0, 100), st.integers(1, 9), st.lists(CAUSES, max_size=2).map(tuple))


def flow_of_waiting_levels(number: int, arrivals: list[Arrival]) -> Flow:
    return Flow(f"h{number}", "x", "write", 1, 0, arrivals=tuple(arrivals))


@given(st.lists(st.lists(ARRIVALS, max_size=4), max_size=3))
def test_both_ways_free_the_same_transfers_and_end_at_the_same_instant(listed: list[list[Arrival]]) -> None:
    program = program_of([flow_of_waiting_levels(number, arrivals) for number, arrivals in enumerate(listed)])
    levels, one_by_one = Levels(program), OneByOne(program)
    assert len(levels) == len(one_by_one)
    if len(levels) == len(program.joins):
        took_ns = program.sizes_bytes * 7
        assert levels.last_end_ns(took_ns) == one_by_one.last_end_ns(took_ns)


def test_a_long_chain_is_narrow_and_a_wide_one_is_not() -> None:
    """700 levels of one transfer, or of forty."""
    chain = [Arrival(0, 1)] * 700
    assert Levels(program_of([flow_of_waiting_levels(0, chain)])).are_narrow
    wide = Levels(program_of([flow_of_waiting_levels(number, chain) for number in range(40)]))
    assert (wide.are_narrow, len(wide)) == (False, 28_000)


def test_the_last_cause_and_its_pause_decide_and_flows_keep_their_order() -> None:
    """a ends at 10 and at 0 + 30; b starts at max(10 + 5, 30 + 1) = 31, so c's second not before 31."""
    both = (Predecessor("a->x", 0, "end", 5), Predecessor("a->x", 1, "arrival", 1))
    after_start = (Predecessor("b->x", 0, "start"),)
    flows = [
        Flow("a", "x", "write", 1, 0, arrivals=(Arrival(0, 10), Arrival(0, 30))),
        Flow("b", "x", "write", 1, 0, arrivals=(Arrival(0, 100, both),)),
        Flow("c", "x", "write", 1, 0, arrivals=(Arrival(0, 1, after_start), Arrival(0, 200))),
    ]
    program = program_of(flows)
    order = OneByOne(program)
    assert len(order) == 5
    assert order.last_end_ns(program.sizes_bytes) == 231


def test_who_waits_for_nobody_there_is_never_starts() -> None:
    flows = [
        Flow("a", "x", "write", 1, 0, arrivals=(Arrival(0, 1, (Predecessor("b->x", 0),)), Arrival(0, 1)))
    ]
    assert len(OneByOne(program_of(flows))) == 0
