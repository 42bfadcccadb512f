"""The side channel, and datagrams of strangers."""

from contextlib import ExitStack
from random import Random

import pytest
from helpers.fake_verbs_device import Context, ProtectionDomain
from helpers.fake_verbs_network import IPV4_HEADER, Fabric
from helpers.hostile_network import Attacker
from helpers.verbs_ends import PORT, START, Scene, scene

from rogue.agent.core.actions import Verb
from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.verbs import clock
from rogue.agent.drivers.verbs.completion_queue import DATAGRAM, EventQueue
from rogue.agent.drivers.verbs.pyverbs import Pyverbs
from rogue.agent.drivers.verbs.side_channel import RemoteSide, SideChannel

Channel = tuple[SideChannel, EventQueue]
Ends = tuple[Channel, Channel, Channel]


@pytest.fixture
def ends(pyverbs: Pyverbs) -> Ends:
    domain = ProtectionDomain(Context("rxe0"))
    made = []
    for number in range(3):
        queue = EventQueue(pyverbs, domain.context, 128, clock.nic_ns)
        made.append((SideChannel(pyverbs, domain, queue, 1000 + number), queue))
    here, there, stranger = made
    here[0].connect(PORT, remote_of(there))
    there[0].connect(PORT, remote_of(here))
    stranger[0].connect(PORT, remote_of(there))
    return here, there, stranger


def remote_of(end: Channel) -> RemoteSide:
    return RemoteSide(PORT.gid, end[0].qp_num, end[0].qkey)


def received(end: Channel) -> list[bytes | None]:
    channel, queue = end
    return [channel.take(entry[0], entry[3]) for poll in queue.drain() for entry in poll]


def test_datagrams_arrive_without_header_and_their_receives_are_posted_again(ends: Ends) -> None:
    here, there, _ = ends
    for number in range(200):
        assert here[0].send(b"%d" % number)
        assert received(there) == [b"%d" % number]
        assert received(here) == [None], "the completion of a send is no datagram"


def test_a_refused_datagram_is_lost(ends: Ends, fabric: Fabric) -> None:
    (channel, _), there, _ = ends
    fabric.queue_pairs[channel.qp_num].refuses = True
    assert not channel.send(b"lost one")
    assert received(there) == []


def test_numbers_of_datagrams_are_distinct(ends: Ends) -> None:
    here, there, _ = ends
    here[0].send(b"x")
    numbers = [entry[0] for end in (here, there) for poll in end[1].drain() for entry in poll]
    assert all(DATAGRAM <= number < DATAGRAM << 1 for number in numbers)


def test_a_datagram_of_another_queue_pair_is_dropped(
    ends: Ends,
) -> None:
    here, there, (stranger, _) = ends
    assert stranger.send(b"forged")
    assert received(there) == [None]
    assert there[0].strangers == 1
    here[0].send(b"true")
    assert received(there) == [b"true"], "its receive has been posted again"


def test_a_datagram_with_a_wrong_key_does_not_arrive(ends: Ends) -> None:
    here, there, _ = ends
    here[0]._peer = RemoteSide(PORT.gid, there[0].qp_num, there[0].qkey + 1)
    here[0].send(b"guessed")
    assert received(there) == []


@pytest.mark.parametrize(
    "header",
    [
        IPV4_HEADER[:32] + bytes([10, 9, 0, 7]) + IPV4_HEADER[36:],
        b"\x60" + bytes(7) + bytes.fromhex("00000000000000000000ffff0a090001") + bytes(16),
        bytes(40),
    ],
)
def test_a_datagram_from_another_address_is_dropped(ends: Ends, fabric: Fabric, header: bytes) -> None:
    here, there, _ = ends
    fabric.header = header
    here[0].send(b"forged")
    assert (received(there), there[0].strangers) == ([None], 1)


def test_an_ipv6_address_is_recognised(ends: Ends, fabric: Fabric) -> None:
    here, there, _ = ends
    gid = "fe80:0000:0000:0000:0000:0000:0000:0001"
    there[0]._peer = RemoteSide(gid, here[0].qp_num, 0)
    fabric.header = b"\x60" + bytes(7) + b"\xfe\x80" + bytes(13) + b"\x01" + bytes(16)
    here[0].send(b"true")
    assert received(there) == [b"true"]


SEGMENT_BYTES = 65_536
TRANSFERS = 12
RETRY_NS = 1_100_000_000
"""Longer than a requester ever waits before it asks again."""


def reported(played: Scene, verb: Verb) -> tuple[object, ...]:
    """Return the memory that a user can read, and what arrived; repeated messages use other addresses."""
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
