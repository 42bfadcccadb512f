"""Memory of a flow: anonymous, registered with a NIC, or used for receives."""

import ctypes
import errno
import hashlib
import mmap
import random

from rogue.agent.drivers.verbs.pyverbs import Pyverbs
from rogue.agent.drivers.verbs.queue_pair import QueuePair

_FILL_CHUNK_BYTES = 1 << 16
"""Small enough that the allocator reuses the same pages for each chunk."""


class Memory:
    """Zeroed memory, `mapped`; `descriptor` can name a file that holds it."""

    def __init__(self, size_bytes: int, descriptor: int = -1) -> None:
        self.size_bytes = size_bytes
        try:
            self.mapped = mmap.mmap(descriptor, size_bytes)
        except (OSError, ValueError, OverflowError, MemoryError) as error:
            raise OSError(errno.ENOMEM, f"this node has no {size_bytes} bytes of memory") from error

    def fill(self, seed: int) -> None:
        """Fill the memory with pseudo-random bytes, the same for the same seed and size."""
        stream = random.Random(seed)
        for start in range(0, self.size_bytes, _FILL_CHUNK_BYTES):
            length = min(_FILL_CHUNK_BYTES, self.size_bytes - start)
            self.mapped[start : start + length] = stream.randbytes(length)

    def sha256(self, size_bytes: int | None = None) -> str:
        """Return the checksum of the memory, or of its first bytes."""
        with memoryview(self.mapped) as view:
            return hashlib.sha256(view[:size_bytes]).hexdigest()


class Buffer(Memory):
    """A registered region; a peer needs `address` and `rkey` to write into it."""

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
        """Deregister the region."""
        self._region.close()


RECEIVE = 1 << 62
"""Flag in the wr_id of receives, because one completion queue serves both directions."""

_OWNER_SHIFT, _LIFE_SHIFT = 56, 24
_SLOT_MASK = (1 << _LIFE_SHIFT) - 1
_LIFE_MASK = (1 << (_OWNER_SHIFT - _LIFE_SHIFT)) - 1
_OWNER_MASK = (1 << (62 - _OWNER_SHIFT)) - 1


def owner_of(wr_id: int) -> int:
    """Return the index of the ring that a receive belongs to."""
    return wr_id >> _OWNER_SHIFT & _OWNER_MASK


class ReceiveRing:
    """`slots` receives of `slot_bytes` each, adjacent in memory.

    `renew` starts a new life of the ring. A receive of an earlier life does not count, because the queue pair
    has been reset since.
    """

    def __init__(  # noqa: PLR0913 - memory and owner
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
        """Queue pair to which the receives are posted."""
        return self._queue_pair.qp_num

    def renew(self) -> None:
        """Post all receives to a queue pair that has none."""
        self._life = self._life + 1 & _LIFE_MASK
        base = RECEIVE | self._owner << _OWNER_SHIFT | self._life << _LIFE_SHIFT
        for slot, request in enumerate(self._requests):
            request.wr_id = base | slot
            self._queue_pair.post_receive(request)

    def is_of_this_life(self, wr_id: int) -> bool:
        """True if a receive was posted since the last `renew`."""
        return wr_id >> _LIFE_SHIFT & _LIFE_MASK == self._life

    def post_again(self, wr_id: int) -> None:
        """Post a used receive again."""
        self._queue_pair.post_receive(self._requests[wr_id & _SLOT_MASK])
