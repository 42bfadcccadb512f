"""Three endpoints: two have a connection whose queue pairs fail in turn, the third attacks the side channel.

Whatever it sends, forged, replayed, reordered, cut or held back, the same transfers are reported with the
same bytes, and the same messages reach the application, as if it were silent.
"""

from contextlib import ExitStack
from random import Random

import pytest
from helpers.fake_verbs_network import Fabric
from helpers.hostile_network import Attacker
from helpers.verbs_ends import START, Scene, scene

from rogue.agent.core.actions import Verb
from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.verbs.pyverbs import Pyverbs

SEGMENT_BYTES = 65_536
TRANSFERS = 12
RETRY_NS = 1_100_000_000
"""Longer than a requester ever waits before it asks again."""


def reported(played: Scene, verb: Verb) -> tuple[object, ...]:
    """What a user can read of it, and what arrived; messages posted again take other places in memory."""
    transfers = [
        (row["transfer_id"], row["size_bytes"], row["status"]) for row in played.sent.rows("transfers")
    ]
    memory = b"" if verb == "send" else bytes(played.responder.buffer.mapped[: 15 * SEGMENT_BYTES])
    return transfers, played.library.delivered_messages, memory


def play(stage: Scene, verb: Verb, attacker: Attacker | None) -> Scene:
    """Run the schedule while queue pairs are lost in turn, with an attack before each step."""
    stage.requester.buffer.fill(11)
    qp_nums = [pair.qp_num for pair in stage.requester.pairs]
    stage.follow(Schedule(15 * SEGMENT_BYTES, START, count=TRANSFERS, verb=verb))
    step = 0
    while not stage.flow.is_finished:
        step += 1
        assert step < 2_000, "the transfers never end"
        if attacker is not None:
            attacker.attack(20)
        stage.turn(step * RETRY_NS)
        if step % 7 == 0 and step < 60:
            stage.fabric.broken.add(qp_nums[step // 7 % 2])
        stage.flow.on_time(HostNs(step * RETRY_NS))
    return stage


def made(stack: ExitStack, pyverbs: Pyverbs, fabric: Fabric, verb: Verb) -> Scene:
    return scene(stack, pyverbs, fabric, verb=verb, has_shadow=True)


def attacked(pyverbs: Pyverbs, fabric: Fabric, verb: Verb, seed: int) -> tuple[tuple[object, ...], int]:
    with ExitStack() as stack:
        stage = made(stack, pyverbs, fabric, verb)
        attacker = Attacker(stage, Random(seed))
        return reported(play(stage, verb, attacker), verb), attacker.sent


def check(pyverbs: Pyverbs, fabric: Fabric, verb: Verb, messages: int) -> None:
    with ExitStack() as stack:
        quiet = reported(play(made(stack, pyverbs, fabric, verb), verb, None), verb)
    assert quiet[0] == [(str(number), str(15 * SEGMENT_BYTES), "ok") for number in range(1, TRANSFERS + 1)]
    assert quiet[1] == (15 * TRANSFERS if verb == "send" else 0)
    sent = seed = 0
    while sent < messages:
        loud, count = attacked(pyverbs, fabric, verb, seed)
        assert loud == quiet
        sent, seed = sent + count, seed + 1


@pytest.mark.parametrize("verb", ["write", "read", "send"])
def test_no_datagram_changes_which_bytes_are_reported(pyverbs: Pyverbs, fabric: Fabric, verb: Verb) -> None:
    check(pyverbs, fabric, verb, 1_000)


@pytest.mark.long
@pytest.mark.parametrize("verb", ["write", "read", "send"])
def test_a_hundred_thousand_datagrams_change_nothing(pyverbs: Pyverbs, fabric: Fabric, verb: Verb) -> None:
    check(pyverbs, fabric, verb, 34_000)
