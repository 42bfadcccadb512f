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


def ring(pyverbs: Pyverbs, endpoint: Endpoint, owner: int = 1) -> ReceiveRing:
    pair = QueuePair(pyverbs, None, endpoint.queue.cq, "rc", QueueSizes(1, 8))
    return ReceiveRing(pyverbs, pair, owner, 8, 100, (endpoint.buffer.address, endpoint.buffer.lkey))


def test_slots_are_adjacent_and_their_numbers_name_the_owner(
    pyverbs: Pyverbs, requester: Endpoint, fabric: Fabric
) -> None:
    receives = ring(pyverbs, requester)
    receives.renew()
    posted = fabric.queue_pairs[receives.qp_num].receives
    assert [each.sg[0].addr - requester.buffer.address for each in posted] == list(range(0, 800, 100))
    for each in posted:
        assert each.wr_id & RECEIVE and each.wr_id > DATAGRAM
        assert owner_of(each.wr_id) == 1


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


def test_the_address_is_that_of_the_checksummed_bytes(pyverbs: Pyverbs) -> None:
    buffer = Buffer(pyverbs, ProtectionDomain(Context("rxe0")), 5)
    ctypes.memmove(buffer.address, b"hello", 5)
    assert buffer.sha256() == hashlib.sha256(b"hello").hexdigest()
