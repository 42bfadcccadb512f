"""Steps worked by hand."""

import numpy as np

from rogue.workloads.traffic.steps import Step, Steps, all_arrived, all_of
from rogue.workloads.traffic.workload import Arrival, Predecessor


def test_a_transfer_waits_for_what_came_to_its_source() -> None:
    steps = Steps()
    first = steps.send("h0", "h1", 10, Step(least_ns=3))
    steps.send("h1", "h2", 20, first.arrived)
    there, on = steps.flows("write")
    assert there.arrivals == (Arrival(3, 10),)
    assert (there.source, there.destination, there.start_ns, there.count) == ("h0", "h1", 3, 1)
    assert on.arrivals == (Arrival(0, 20, (Predecessor("h0->h1", 0, "arrival"),)),)


def test_computing_is_a_pause_after_each_cause_and_the_longest_way_counts() -> None:
    """Computing (5) after the first, then together with the second (2): 7 after one, 2 after the other."""
    steps = Steps()
    one, other = (steps.send(host, "h2", 1, Step()) for host in ("h0", "h1"))
    computed = one.arrived.later(5)
    both = all_of((computed, other.arrived, one.arrived, Step(least_ns=9))).later(2)
    steps.send("h2", "h3", 1, both)
    (arrival,) = steps.flows("write")[-1].arrivals
    assert arrival.start_ns == 11
    assert set(arrival.after) == {
        Predecessor("h0->h2", 0, "arrival", 7),
        Predecessor("h1->h2", 0, "arrival", 2),
    }


def test_transfers_of_a_connection_keep_their_order_and_number() -> None:
    steps = Steps()
    late = steps.send("h0", "h1", 1, Step(least_ns=50))
    steps.send("h0", "h1", 2, Step(least_ns=10))
    steps.send("h0", "h1", 3, late.started, connection=1)
    first, second = steps.flows("send")
    assert [each.start_ns for each in first.arrivals] == [50, 50], "it goes after the one before it"
    assert (second.ends, second.verb) == ("h0->h1#1", "send")
    assert second.arrivals[0].after == (Predecessor("h0->h1", 0, "start"),)


def test_many_transfers_at_once_are_those_that_are_sent_one_by_one() -> None:
    """Two hosts send to the next one after a step of their own, and these send on when it has come."""
    together, apart = Steps(), Steps()
    first = apart.send("h0", "h1", 5, Step(least_ns=4)), apart.send("h1", "h2", 6, Step(least_ns=4))
    for source, destination, size_bytes, before in (("h1", "h2", 7, first[0]), ("h2", "h3", 8, first[1])):
        apart.send(source, destination, size_bytes, before.arrived.later(9))
    ways = [together.connection(f"h{number}", f"h{number + 1}") for number in range(3)]
    sent = together.send_all(ways[:2], [5, 6], Step(least_ns=4))
    on = together.send_on(np.array(ways[1:]), np.array([7, 8]), sent, 9)
    assert on.tolist() == [2, 3]
    assert together.flows("write") == apart.flows("write")
    assert together.predecessors(all_arrived([3, 0])) == (
        Predecessor("h2->h3", 0, "arrival"),
        Predecessor("h0->h1", 0, "arrival"),
    )
