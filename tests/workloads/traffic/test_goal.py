"""GOAL programs as transfers that wait for each other."""

from helpers.data_files import goal_schedule

from rogue.workloads.topologies import Placement
from rogue.workloads.traffic.goal import Goal
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
