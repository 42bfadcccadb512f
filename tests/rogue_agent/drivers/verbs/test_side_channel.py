import pytest
from helpers.fake_verbs_device import Context, ProtectionDomain
from helpers.fake_verbs_network import Fabric
from helpers.verbs_ends import PORT

from rogue_agent.drivers.verbs import clock
from rogue_agent.drivers.verbs.completion_queue import EventQueue
from rogue_agent.drivers.verbs.pyverbs import Pyverbs
from rogue_agent.drivers.verbs.side_channel import SIDE, SideChannel

Channel = tuple[SideChannel, EventQueue]


@pytest.fixture
def ends(pyverbs: Pyverbs) -> tuple[Channel, Channel]:
    domain = ProtectionDomain(Context("rxe0"))
    made = []
    for _ in range(2):
        queue = EventQueue(pyverbs, domain.context, 128, clock.nic_ns)
        made.append((SideChannel(pyverbs, domain, queue.cq), queue))
    here, there = made
    here[0].connect(PORT, PORT.gid, there[0].qp_num)
    there[0].connect(PORT, PORT.gid, here[0].qp_num)
    return here, there


def heard(end: Channel) -> list[bytes | None]:
    channel, queue = end
    return [channel.take(entry[0], entry[3]) for poll in queue.drain() for entry in poll]


def test_a_datagram_arrives_without_its_header(ends: tuple[Channel, Channel]) -> None:
    here, there = ends
    assert here[0].send(b"lost one")
    assert heard(there) == [b"lost one"]


def test_that_a_datagram_was_sent_is_no_datagram(ends: tuple[Channel, Channel]) -> None:
    here, _ = ends
    here[0].send(b"lost one")
    assert heard(here) == [None]


def test_receives_are_posted_again(ends: tuple[Channel, Channel]) -> None:
    here, there = ends
    for number in range(200):
        here[0].send(b"%d" % number)
        assert heard(there) == [b"%d" % number]
        heard(here)


def test_a_datagram_that_does_not_go_out_is_lost(ends: tuple[Channel, Channel], fabric: Fabric) -> None:
    (channel, _), there = ends
    fabric.queue_pairs[channel.qp_num].refuses = True
    assert not channel.send(b"lost one")
    assert heard(there) == []


def test_its_numbers_are_neither_a_sends_nor_a_receives(ends: tuple[Channel, Channel]) -> None:
    here, there = ends
    here[0].send(b"x")
    numbers = [entry[0] for end in (here, there) for poll in end[1].drain() for entry in poll]
    assert all(SIDE <= number < SIDE << 1 for number in numbers)
