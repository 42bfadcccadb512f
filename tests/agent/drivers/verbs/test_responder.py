from contextlib import ExitStack

import pytest
from helpers.fake_verbs_network import Fabric
from helpers.verbs_ends import START, Scene, scene

from rogue.agent.core.application import Schedule
from rogue.agent.drivers.verbs.pyverbs import Pyverbs

SEGMENT_BYTES = 65_536


@pytest.fixture
def over_uc(stack: ExitStack, pyverbs: Pyverbs, fabric: Fabric) -> Scene:
    return scene(stack, pyverbs, fabric, "rogue-uc")


def test_acknowledgements_free_the_send_queue_from_time_to_time(over_uc: Scene) -> None:
    over_uc.follow(Schedule(SEGMENT_BYTES, START, count=100))
    signaled = 0
    while not over_uc.flow.is_finished:
        for completions in over_uc.requester.queue.drain():
            over_uc.flow.on_completions(START, completions)
        for completions in over_uc.responder.queue.drain():
            signaled += sum(entry[0] < 1 << 61 for entry in completions)
            over_uc.library.on_completions(START, completions)
    assert signaled == 100 // 32


def test_an_acknowledgement_that_cannot_be_posted_is_counted_as_a_mistake(
    over_uc: Scene, fabric: Fabric
) -> None:
    fabric.queue_pairs[over_uc.responder.queue_pair.qp_num].refuses = True
    over_uc.follow(Schedule(SEGMENT_BYTES, START))
    over_uc.turn()
    assert over_uc.library.mistakes == 1


def test_datagrams_wait_for_what_arrived_with_them(
    stack: ExitStack, pyverbs: Pyverbs, fabric: Fabric
) -> None:
    both = scene(stack, pyverbs, fabric, verb="send", has_shadow=True)
    both.follow(Schedule(3 * SEGMENT_BYTES, START, verb="send"))
    fabric.broken.add(both.requester.queue_pair.qp_num)
    both.run()
    both.turn()
    assert both.library.delivered_messages == 3
    assert both.library.mistakes == 0


def test_nonsense_on_the_side_channel_is_dropped_and_counted(
    stack: ExitStack, pyverbs: Pyverbs, fabric: Fabric
) -> None:
    shadowed = scene(stack, pyverbs, fabric, has_shadow=True)
    assert shadowed.requester.side is not None
    shadowed.requester.side.send(b"RoGU but not a message")
    shadowed.turn()
    assert shadowed.library.mistakes == 1
    assert shadowed.received.rows("events") == []
