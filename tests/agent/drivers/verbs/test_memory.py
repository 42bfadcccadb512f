"""Memory of a flow, registered buffers, and rings of receives."""

import ctypes
import hashlib
import os

import pytest
from helpers.fake_verbs_device import Context, ProtectionDomain
from helpers.fake_verbs_network import Fabric

from rogue.agent.drivers.verbs.completion_queue import DATAGRAM
from rogue.agent.drivers.verbs.endpoint import Endpoint
from rogue.agent.drivers.verbs.memory import RECEIVE, Buffer, Memory, ReceiveRing, owner_of
from rogue.agent.drivers.verbs.pyverbs import Pyverbs
from rogue.agent.drivers.verbs.queue_pair import QueuePair, QueueSizes


def test_the_same_seed_gives_the_same_bytes() -> None:
    descriptor = os.memfd_create("memory")
    os.ftruncate(descriptor, 2_000_000)
    in_file, anonymous = Memory(2_000_000, descriptor), Memory(2_000_000)
    assert in_file.sha256() == anonymous.sha256()
    in_file.fill(7)
    assert in_file.sha256() != anonymous.sha256()
    anonymous.fill(7)
    assert in_file.sha256() == anonymous.sha256()
    assert os.pread(descriptor, 100, 1_999_900) == anonymous.mapped[-100:]
    os.close(descriptor)


@pytest.mark.parametrize("size_bytes", [1 << 62, 1 << 70])
def test_too_much_memory_is_an_error(size_bytes: int) -> None:
    with pytest.raises(OSError, match=f"this node has no {size_bytes} bytes of memory"):
        Memory(size_bytes)


def test_the_address_is_that_of_the_checksummed_bytes(pyverbs: Pyverbs) -> None:
    buffer = Buffer(pyverbs, ProtectionDomain(Context("rxe0")), 5)
    ctypes.memmove(buffer.address, b"hello", 5)
    assert buffer.sha256() == hashlib.sha256(b"hello").hexdigest()


@pytest.fixture
def ring(pyverbs: Pyverbs, requester: Endpoint) -> ReceiveRing:
    """A ring with index 5 and eight slots of 100 bytes from the start of the requester's buffer."""
    pair = QueuePair(pyverbs, None, requester.queue.cq, "rc", QueueSizes(1, 8))
    ring = ReceiveRing(pyverbs, pair, 5, 8, 100, (requester.buffer.address, requester.buffer.lkey))
    ring.renew()
    return ring


def test_receives_have_adjacent_slots_and_distinct_numbers(
    ring: ReceiveRing, requester: Endpoint, fabric: Fabric
) -> None:
    posted = fabric.queue_pairs[ring.qp_num].receives
    slots = [(each.sg[0].addr - requester.buffer.address, each.sg[0].length) for each in posted]
    assert slots == [(offset_bytes, 100) for offset_bytes in range(0, 800, 100)]
    assert len({each.wr_id for each in posted}) == 8
    for each in posted:
        assert each.wr_id & RECEIVE and each.wr_id > DATAGRAM, "not the number of a send"
        assert owner_of(each.wr_id) == 5


def test_a_renewed_ring_has_new_numbers(ring: ReceiveRing, fabric: Fabric) -> None:
    posted = fabric.queue_pairs[ring.qp_num].receives
    early = posted[0].wr_id
    assert ring.is_of_this_life(early)
    posted.clear()
    ring.renew()
    assert not ring.is_of_this_life(early)
    assert ring.is_of_this_life(posted[0].wr_id)


def test_a_used_receive_is_posted_again_with_its_slot(ring: ReceiveRing, fabric: Fabric) -> None:
    posted = fabric.queue_pairs[ring.qp_num].receives
    posted.popleft()
    second = posted.popleft()
    ring.post_again(second.wr_id)
    assert (posted[-1].wr_id, posted[-1].sg[0].addr) == (second.wr_id, second.sg[0].addr)
