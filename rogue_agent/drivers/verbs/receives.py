"""Receive buffers of a queue pair, reposted as they are used."""

import ctypes

from rogue.agent.drivers.memory import Memory
from rogue.agent.drivers.verbs.pyverbs import Pyverbs
from rogue.agent.drivers.verbs.queue_pair import QueuePair


class Buffer(Memory):
    """A registered region; `address` and `rkey` are what a peer needs to write into it."""

    def __init__(self, pyverbs: Pyverbs, protection_domain: object, size_bytes: int) -> None:
        super().__init__(size_bytes)
        access = pyverbs.enums.ibv_access_flags
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.mapped))
        self._region = pyverbs.mr.MR(
            protection_domain,
            size_bytes,
            access.IBV_ACCESS_LOCAL_WRITE | access.IBV_ACCESS_REMOTE_WRITE | access.IBV_ACCESS_REMOTE_READ,
            address=self.address,
        )
        self.lkey: int = self._region.lkey
        self.rkey: int = self._region.rkey

    def close(self) -> None:
        """Take the region away from the NIC."""
        self._region.close()


RECEIVE = 1 << 62
"""Set in the numbers of receives, so that one completion queue serves both directions."""

_OWNER_SHIFT, _LIFE_SHIFT = 56, 24
_SLOT_MASK = (1 << _LIFE_SHIFT) - 1
_LIFE_MASK = (1 << (_OWNER_SHIFT - _LIFE_SHIFT)) - 1
_OWNER_MASK = (1 << (62 - _OWNER_SHIFT)) - 1


def owner_of(wr_id: int) -> int:
    """Which ring a receive belongs to."""
    return wr_id >> _OWNER_SHIFT & _OWNER_MASK


class ReceiveRing:
    """`slots` receives of `slot_bytes` each, one behind the other in memory.

    A ring lives from `renew` to the next: a receive of an earlier life says nothing about the queue pair as
    it is now, which has been reset in between.
    """

    def __init__(  # noqa: PLR0913 - a place in memory, and who owns it
        self,
        pyverbs: Pyverbs,
        queue_pair: QueuePair,
        owner: int,
        slots: int,
        slot_bytes: int,
        memory: tuple[int, int],
    ) -> None:
        self._queue_pair = queue_pair
        self._owner = owner
        self._life = 0
        address, lkey = memory
        wr = pyverbs.wr
        self._elements = [wr.SGE(address + slot * slot_bytes, slot_bytes, lkey) for slot in range(slots)]
        self._requests = [wr.RecvWR(0, 1, [element]) for element in self._elements]

    @property
    def qp_num(self) -> int:
        """Queue pair that the receives are posted to."""
        return self._queue_pair.qp_num

    def renew(self) -> None:
        """Post all receives, to a queue pair that has none."""
        self._life = self._life + 1 & _LIFE_MASK
        base = RECEIVE | self._owner << _OWNER_SHIFT | self._life << _LIFE_SHIFT
        for slot, request in enumerate(self._requests):
            request.wr_id = base | slot
            self._queue_pair.post_receive(request)

    def is_of_this_life(self, wr_id: int) -> bool:
        """Whether a receive was posted since the last `renew`."""
        return wr_id >> _LIFE_SHIFT & _LIFE_MASK == self._life

    def post_again(self, wr_id: int) -> None:
        """Put a receive that was used up back to the queue."""
        self._queue_pair.post_receive(self._requests[wr_id & _SLOT_MASK])
