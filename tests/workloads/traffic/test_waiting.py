"""Transfers that wait for others, worked by hand."""

import pytest

from rogue.workloads.traffic.waiting import WaitingOrder, earliest_end_ns, unknowable, waits
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
