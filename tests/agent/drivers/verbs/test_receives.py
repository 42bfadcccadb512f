"""Tests: receive buffers of a queue pair, reposted as they are used."""

import ctypes
import hashlib

from helpers.fake_verbs_device import Context, ProtectionDomain
from helpers.fake_verbs_network import Fabric

from rogue.agent.drivers.verbs.completion_queue import DATAGRAM
from rogue.agent.drivers.verbs.endpoint import Endpoint
from rogue.agent.drivers.verbs.memory import RECEIVE, Buffer, ReceiveRing, owner_of
from rogue.agent.drivers.verbs.pyverbs import Pyverbs
from rogue.agent.drivers.verbs.queue_pair import QueuePair, QueueSizes


def ring(pyverbs: Pyverbs, endpoint: Endpoint, owner: int = 1) -> ReceiveRing:
    pair = QueuePair(pyverbs, None, endpoint.queue.cq, "rc", QueueSizes(1, 8))
    return ReceiveRing(pyverbs, pair, owner, 8, 100, (endpoint.buffer.address, endpoint.buffer.lkey))


def test_slots_lie_one_behind_the_other(pyverbs: Pyverbs, requester: Endpoint, fabric: Fabric) -> None:
    receives = ring(pyverbs, requester)
    receives.renew()
    posted = fabric.queue_pairs[receives.qp_num].receives
    assert [each.sg[0].addr - requester.buffer.address for each in posted] == list(range(0, 800, 100))


def test_numbers_tell_receives_from_sends_and_say_whose_they_are(
    pyverbs: Pyverbs, requester: Endpoint, fabric: Fabric
) -> None:
    receives = ring(pyverbs, requester)
    receives.renew()
    for posted in fabric.queue_pairs[receives.qp_num].receives:
        assert posted.wr_id & RECEIVE and posted.wr_id > DATAGRAM
        assert owner_of(posted.wr_id) == 1


def test_a_new_life_has_new_numbers(pyverbs: Pyverbs, requester: Endpoint, fabric: Fabric) -> None:
    receives = ring(pyverbs, requester)
    receives.renew()
    posted = fabric.queue_pairs[receives.qp_num].receives
    early = posted[0].wr_id
    posted.clear()
    receives.renew()
    assert not receives.is_of_this_life(early)
    assert receives.is_of_this_life(posted[0].wr_id)


def test_a_used_receive_is_posted_again_in_its_place(
    pyverbs: Pyverbs, requester: Endpoint, fabric: Fabric
) -> None:
    receives = ring(pyverbs, requester)
    receives.renew()
    posted = fabric.queue_pairs[receives.qp_num].receives
    first = posted.popleft()
    receives.post_again(first.wr_id)
    assert (posted[-1].wr_id, posted[-1].sg[0].addr) == (first.wr_id, first.sg[0].addr)


SIZE_BYTES = (1 << 20) + 3


def make(pyverbs: Pyverbs, size_bytes: int = SIZE_BYTES) -> Buffer:
    return Buffer(pyverbs, ProtectionDomain(Context("rxe0")), size_bytes)


def test_a_new_buffer_is_zero(pyverbs: Pyverbs) -> None:
    assert make(pyverbs).sha256() == hashlib.sha256(bytes(SIZE_BYTES)).hexdigest()


def test_the_address_is_where_the_checksummed_bytes_are(pyverbs: Pyverbs) -> None:
    buffer = make(pyverbs, 5)
    ctypes.memmove(buffer.address, b"hello", 5)
    assert buffer.sha256() == hashlib.sha256(b"hello").hexdigest()


def test_the_seed_decides_every_byte(pyverbs: Pyverbs) -> None:
    first, same, other = make(pyverbs), make(pyverbs), make(pyverbs)
    first.fill(7)
    same.fill(7)
    other.fill(8)
    assert first.sha256() == same.sha256() != other.sha256()
    content = ctypes.string_at(first.address, SIZE_BYTES)
    assert content[:1024] != content[1 << 19 : (1 << 19) + 1024]
    assert content[-3:] != bytes(3)
