import pytest
from helpers.fake_verbs_device import Context, ProtectionDomain
from helpers.fake_verbs_network import IPV4_HEADER, Fabric
from helpers.verbs_ends import PORT

from rogue.agent.drivers.verbs import clock
from rogue.agent.drivers.verbs.completion_queue import DATAGRAM, EventQueue
from rogue.agent.drivers.verbs.pyverbs import Pyverbs
from rogue.agent.drivers.verbs.side_channel import RemoteSide, SideChannel

Channel = tuple[SideChannel, EventQueue]


@pytest.fixture
def ends(pyverbs: Pyverbs) -> tuple[Channel, Channel, Channel]:
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


def heard(end: Channel) -> list[bytes | None]:
    channel, queue = end
    return [channel.take(entry[0], entry[3]) for poll in queue.drain() for entry in poll]


def test_a_datagram_arrives_without_its_header(ends: tuple[Channel, Channel, Channel]) -> None:
    here, there, _ = ends
    assert here[0].send(b"lost one")
    assert heard(there) == [b"lost one"]


def test_that_a_datagram_was_sent_is_no_datagram(ends: tuple[Channel, Channel, Channel]) -> None:
    here, _, _ = ends
    here[0].send(b"lost one")
    assert heard(here) == [None]


def test_receives_are_posted_again(ends: tuple[Channel, Channel, Channel]) -> None:
    here, there, _ = ends
    for number in range(200):
        here[0].send(b"%d" % number)
        assert heard(there) == [b"%d" % number]
        heard(here)


def test_a_datagram_that_does_not_go_out_is_lost(
    ends: tuple[Channel, Channel, Channel], fabric: Fabric
) -> None:
    (channel, _), there, _ = ends
    fabric.queue_pairs[channel.qp_num].refuses = True
    assert not channel.send(b"lost one")
    assert heard(there) == []


def test_its_numbers_are_neither_a_sends_nor_a_receives(ends: tuple[Channel, Channel, Channel]) -> None:
    here, there, _ = ends
    here[0].send(b"x")
    numbers = [entry[0] for end in (here, there) for poll in end[1].drain() for entry in poll]
    assert all(DATAGRAM <= number < DATAGRAM << 1 for number in numbers)


def test_what_a_stranger_sends_is_dropped_although_it_knows_the_key(
    ends: tuple[Channel, Channel, Channel],
) -> None:
    here, there, (stranger, _) = ends
    assert stranger.send(b"forged")
    assert heard(there) == [None]
    assert there[0].strangers == 1
    here[0].send(b"true")
    assert heard(there) == [b"true"], "its receive has been posted again"


def test_who_does_not_know_the_key_is_not_heard_at_all(ends: tuple[Channel, Channel, Channel]) -> None:
    here, there, _ = ends
    here[0]._peer = RemoteSide(PORT.gid, there[0].qp_num, there[0].qkey + 1)
    here[0].send(b"guessed")
    assert heard(there) == []


@pytest.mark.parametrize(
    "header",
    [
        IPV4_HEADER[:32] + bytes([10, 9, 0, 7]) + IPV4_HEADER[36:],
        b"\x60" + bytes(7) + bytes.fromhex("00000000000000000000ffff0a090001") + bytes(16),
        bytes(40),
    ],
)
def test_a_datagram_from_another_address_is_a_strangers(
    ends: tuple[Channel, Channel, Channel], fabric: Fabric, header: bytes
) -> None:
    here, there, _ = ends
    fabric.header = header
    here[0].send(b"forged")
    assert (heard(there), there[0].strangers) == ([None], 1)


def test_an_address_of_ipv6_stands_at_another_place(
    ends: tuple[Channel, Channel, Channel], fabric: Fabric
) -> None:
    here, there, _ = ends
    gid = "fe80:0000:0000:0000:0000:0000:0000:0001"
    there[0]._peer = RemoteSide(gid, here[0].qp_num, 0)
    fabric.header = b"\x60" + bytes(7) + b"\xfe\x80" + bytes(13) + b"\x01" + bytes(16)
    here[0].send(b"true")
    assert heard(there) == [b"true"]
