"""The order in which operations can happen, and those that never can."""

from rogue.workloads.files import DataFile
from rogue.workloads.traffic.goal import GoalSchedule, Operation, Turn


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
