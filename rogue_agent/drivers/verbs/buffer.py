"""Memory that the NIC reads from or writes into, filled and checksummed without copying it."""

import ctypes
import hashlib
import mmap
import random

from rogue_agent.drivers.verbs.library import Library

_FILL_CHUNK_BYTES = 1 << 20


class Buffer:
    """A registered region; `address` and `rkey` are what a peer needs to write into it."""

    def __init__(self, library: Library, protection_domain: object, size_bytes: int) -> None:
        access = library.enums.ibv_access_flags
        self.size_bytes = size_bytes
        self._memory = mmap.mmap(-1, size_bytes)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._region = library.mr.MR(
            protection_domain,
            size_bytes,
            access.IBV_ACCESS_LOCAL_WRITE | access.IBV_ACCESS_REMOTE_WRITE | access.IBV_ACCESS_REMOTE_READ,
            address=self.address,
        )
        self.lkey: int = self._region.lkey
        self.rkey: int = self._region.rkey

    def fill(self, seed: int) -> None:
        """Write bytes that differ everywhere; the same seed and size give the same bytes."""
        stream = random.Random(seed)
        for start in range(0, self.size_bytes, _FILL_CHUNK_BYTES):
            length = min(_FILL_CHUNK_BYTES, self.size_bytes - start)
            self._memory[start : start + length] = stream.randbytes(length)

    def sha256(self) -> str:
        """Checksum of what is in the memory now."""
        return hashlib.sha256(self._memory).hexdigest()

    def close(self) -> None:
        """Take the region away from the NIC."""
        self._region.close()
