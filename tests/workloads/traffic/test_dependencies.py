"""Tests: transfers that wait for others."""

from collections.abc import Callable

import numpy as np
import pytest
from helpers.experiments import goal_schedule
from hypothesis import given
from hypothesis import strategies as st

from rogue.workloads.files import DataFile
from rogue.workloads.topologies import Placement
from rogue.workloads.traffic.goal import Goal, GoalSchedule, Operation, Turn
from rogue.workloads.traffic.transfer_graph import (
    MOMENTS,
    NOTHING,
    GraphArrivals,
    TransferOrder,
    graph_of,
    unknowable,
    waits,
)
from rogue.workloads.traffic.transfer_steps import Step, Steps, all_arrived, all_of
from rogue.workloads.traffic.workload import Arrival, Flow, Predecessor


def flow(ends: str, *arrivals: Arrival) -> Flow:
    source, _, destination = ends.partition("->")
    return Flow(source, destination, "write", 1, 0, count=len(arrivals), arrivals=arrivals)


def earliest_end_ns(flows: list[Flow], took_ns: Callable[[Flow, int], int]) -> int | None:
    return TransferOrder(flows).earliest_end_ns(took_ns)


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
    assert TransferOrder(flows).has_cycle
    assert earliest_end_ns(flows, size) is None


def test_an_order_serves_several_questions() -> None:
    order = TransferOrder([flow("a->b", Arrival(0, 10), Arrival(4, 1)), flow("b->a", Arrival(2, 5))])
    assert not order.has_cycle
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
    st.sampled_from(["h0->x", "h1->x", "h2->x", "nowhere"]),
    st.integers(0, 4),
    st.sampled_from(MOMENTS),
    st.integers(0, 50),
)
ARRIVALS = st.builds(Arrival, st.integers(0, 100), st.integers(1, 9), st.lists(CAUSES, max_size=2).map(tuple))


def ends_ns_one_by_one(flows: list[Flow]) -> dict[tuple[str, int], int]:
    """Start transfers one by one, as soon as all their predecessors have; return when each ends."""
    starts: dict[tuple[str, int], int] = {}
    ends: dict[tuple[str, int], int] = {}
    for _ in range(sum(len(each.arrivals) for each in flows)):
        for each in flows:
            for number, arrival in enumerate(each.arrivals):
                before = [(each.ends, number - 1)] * (number > 0)
                causes = [(cause.flow, cause.number) for cause in arrival.after]
                if ends.keys() >= {*before, *causes}:
                    own = [
                        (starts if cause.moment == "start" else ends)[cause.flow, cause.number]
                        + cause.pause_ns
                        for cause in arrival.after
                    ]
                    start = max([arrival.start_ns, *own, *(starts[key] for key in before)])
                    starts[each.ends, number], ends[each.ends, number] = start, start + arrival.size_bytes
    return ends


@given(st.lists(st.lists(ARRIVALS, max_size=4), max_size=3))
def test_levels_give_the_same_end_as_starting_transfers_one_by_one(listed: list[list[Arrival]]) -> None:
    flows = [flow(f"h{number}->x", *arrivals) for number, arrivals in enumerate(listed)]
    ends = ends_ns_one_by_one(flows)
    is_whole = len(ends) == sum(map(len, listed))
    assert earliest_end_ns(flows, size) == (max(ends.values(), default=0) if is_whole else None)


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
    """Two hosts send to the next one after a first step, and these send on when it has arrived."""
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


WAITING = Arrival(3, 20, (Predecessor("h0->h1", 0, "arrival", 3), Predecessor("h2->h1", 0, "arrival", 3)))


def chain() -> tuple[Flow, ...]:
    """Two arrive at h1, which sends on twice."""
    steps = Steps()
    ways = [steps.connection(host, "h1") for host in ("h0", "h2")]
    both = all_arrived(steps.send_all(ways, [10, 11], Step(least_ns=5)).tolist()).later(3)
    steps.send("h1", "h3", 20, both)
    steps.send("h1", "h3", 21, both)
    return steps.flows("write")


def test_arrivals_look_like_a_tuple_of_them() -> None:
    first, _, on = (flow.arrivals for flow in chain())
    assert isinstance(on, GraphArrivals)
    assert on == (WAITING, WAITING._replace(size_bytes=21))
    assert on != (WAITING,)
    assert (len(on), on[-1].size_bytes, on[:1], on.sizes_bytes) == (2, 21, (WAITING,), [20, 21])
    assert hash(on) == hash(tuple(on))
    assert repr(first) == repr((Arrival(5, 10),))
    assert isinstance(first, GraphArrivals)
    assert (first.waiting, first.starts_ns, on.waiting, on.starts_ns) == ([], [5], [0, 1], [3, 3])


def test_transfers_that_follow_one_step_share_what_they_wait_for() -> None:
    on = chain()[2].arrivals
    assert on[0].after is on[1].after
    program = graph_of(chain())
    assert program.joins.tolist() == [NOTHING, NOTHING, 0, 0]
    assert program.join_firsts.tolist() == [0, 2]


def test_columns_are_made_of_objects_where_there_are_none() -> None:
    flows = chain()
    assert graph_of(flows) is flows[0].arrivals.graph  # type: ignore[attr-defined]
    some = graph_of(flows[1:])
    assert some.firsts.tolist() == [0, 1, 3]
    assert some.causes.tolist() == [NOTHING, 0, NOTHING, 0], "h0 is not among them"
    listed = graph_of([Flow("h0", "h1", "write", 1, 0, arrivals=tuple(flows[0].arrivals))])
    assert (listed.starts_ns.tolist(), listed.sizes_bytes.tolist()) == ([5], [10])
    assert graph_of([]).firsts.tolist() == [0]


def test_a_flow_knows_its_sizes_and_whether_it_waits_without_objects() -> None:
    flows = chain()
    listed = [Flow("h1", "h3", "write", 1, 0, arrivals=tuple(flow.arrivals)) for flow in flows]
    for as_columns, as_objects in zip(flows, listed, strict=True):
        assert as_columns.finite_bytes == as_objects.finite_bytes
        assert as_columns.arrived_sizes_bytes == as_objects.arrived_sizes_bytes
        assert as_columns.waiting == as_objects.waiting
        assert as_columns.arrived_starts_ns == as_objects.arrived_starts_ns


HOSTS = Placement(("h0", "h1", "h2"), "h2", 9.26e9, 10_000_000_000)
TEXT = """\
num_ranks 3
rank 0 {
a: send 100b to 1
b: send 200b to 2
c: send 0b to 2 tag 7
b requires a
c irequires b
}
rank 1 {
x: recv 100b from 0
y: calc 500
z: calc 30
s: send 10b to 2
y requires x
z requires y
s requires z
}
rank 2 {
p: recv 200b from 0
q: recv 0b from 0 tag 7
r: recv 10b from 1
d: send 5b to 0
d requires p
d requires r
}
"""


def flows(eager: str = "64KB") -> dict[str, Flow]:
    text = TEXT.replace("b: send 200b to 2\n", "b: send 200b to 2\ne: recv 5b from 2\n")
    goal = Goal.model_validate({"kind": "goal", "file": goal_schedule(text), "eager": eager})
    assert goal.hosts_min() == 3
    return {flow.ends: flow for flow in goal.flows(HOSTS, 1)}


def test_what_is_received_lets_go_after_the_computing_in_between() -> None:
    found = flows()
    assert set(found) == {"h0->h1", "h0->h2", "h0->h2#1", "h1->h2", "h2->h0"}
    assert found["h1->h2"].arrivals[0].after == (Predecessor("h0->h1", 0, "arrival", 530),)
    assert set(found["h2->h0"].arrivals[0].after) == {
        Predecessor("h0->h2", 0, "arrival"),
        Predecessor("h1->h2", 0, "arrival"),
    }


def test_an_eager_send_is_done_when_it_starts_and_a_larger_one_when_it_is_acknowledged() -> None:
    assert flows()["h0->h2"].arrivals[0].after == (Predecessor("h0->h1", 0, "start"),)
    assert flows("99B")["h0->h2"].arrivals[0].after == (Predecessor("h0->h1", 0, "end"),)
    assert flows("99B")["h0->h2#1"].arrivals[0].after == (Predecessor("h0->h2", 0, "start"),)


def test_a_message_of_nothing_has_a_byte() -> None:
    assert flows()["h0->h2#1"].arrivals[0].size_bytes == 1


def test_a_message_that_waits_holds_up_no_other_tag() -> None:
    text = (
        "num_ranks 2\nrank 0 {\nc: calc 1000000\na: send 8b to 1 tag 1\na requires c\n"
        "b: send 8b to 1 tag 2\n}\n"
        "rank 1 {\nrecv 8b from 0 tag 1\nrecv 8b from 0 tag 2\n}\n"
    )
    goal = Goal.model_validate({"kind": "goal", "file": goal_schedule(text)})
    free, waits = sorted(flow.arrivals[0].start_ns for flow in goal.flows(HOSTS, 1))
    assert waits - free == 1_000_000


def test_all_computing_is_known_also_what_nothing_waits_for() -> None:
    text = TEXT.replace("d requires r\n", "d requires r\nl: calc 77\nl requires r\n")
    text = text.replace("b: send 200b to 2\n", "b: send 200b to 2\ne: recv 5b from 2\n")
    goal = Goal.model_validate({"kind": "goal", "file": goal_schedule(text)})
    least_ns, after = goal.computed(HOSTS, 1)
    assert 0 <= least_ns < 11_000
    assert set(after) == {Predecessor("h0->h1", 0, "arrival", 530), Predecessor("h1->h2", 0, "arrival", 77)}


def schedule(*operations: Operation) -> GoalSchedule:
    return GoalSchedule(DataFile("x.goal", "0"), 2, operations)


def test_a_message_is_received_after_its_send_has_started() -> None:
    found = schedule(Operation("recv", 1, 1, 0, match=1), Operation("send", 0, 1, 1))
    assert list(found.turns()) == [Turn(0, False), Turn(1, False), Turn(0, True), Turn(1, True)]
    assert found.first_in_cycle() is None


def test_a_recv_that_has_started_lets_a_send_go_that_brings_its_message() -> None:
    """Rank 0 sends once its recv is posted; rank 1 sends that recv's message in return: no cycle."""
    found = schedule(
        Operation("recv", 0, 1, 1, match=3),
        Operation("send", 0, 1, 1, irequires=(0,)),
        Operation("recv", 1, 1, 0, match=1),
        Operation("send", 1, 1, 0, requires=(2,)),
    )
    assert found.first_in_cycle() is None
    assert len(list(found.turns())) == 8


def test_two_that_wait_for_each_others_message_are_a_cycle() -> None:
    found = schedule(
        Operation("calc", 0, 5),
        Operation("recv", 0, 1, 1, match=4, requires=(0,)),
        Operation("send", 0, 1, 1, requires=(1,)),
        Operation("recv", 1, 1, 0, match=2),
        Operation("send", 1, 1, 0, requires=(3,)),
        Operation("calc", 1, 5, requires=(4,)),
    )
    assert found.first_in_cycle() == 1
    assert list(found.turns()) == [Turn(0, False), Turn(3, False), Turn(0, True), Turn(1, False)]


def test_what_has_less_before_it_has_its_turn_first() -> None:
    """Of rank 0's messages to rank 1 the second in the file may go at once, the first after another's."""
    found = schedule(
        Operation("recv", 0, 1, 1, match=3),
        Operation("send", 0, 1, 1, requires=(0,)),
        Operation("send", 0, 2, 1),
        Operation("send", 1, 1, 0),
    )
    sends = [turn.operation for turn in found.turns() if not turn.is_done and turn.operation in {1, 2}]
    assert sends == [2, 1]


def test_a_long_way_leads_to_a_cycle() -> None:
    """20 000 operations wait for one another; only the last two for themselves."""
    last = 20_000
    chain = (Operation("calc", 0, 1, requires=(number + 1,)) for number in range(last))
    assert schedule(*chain, Operation("calc", 0, 1, requires=(last - 1,))).first_in_cycle() == last - 1
