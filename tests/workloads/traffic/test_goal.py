"""Tests: programs of messages and computation in GOAL form."""

from helpers.data_files import goal_schedule

from rogue.workloads.files import DataFile
from rogue.workloads.topologies import Placement
from rogue.workloads.traffic.goal import Goal, GoalSchedule, Operation, Turn
from rogue.workloads.traffic.workload import Flow, Predecessor

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
