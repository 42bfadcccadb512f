"""Memory that bytes are moved from or into, filled and checksummed without copying it."""

import errno
import hashlib
import mmap
import random

_FILL_CHUNK_BYTES = 1 << 16
"""Small enough that the allocator uses the same pages for each."""


class Memory:
    """Zeroed memory of a size, `mapped`; `descriptor` may name a file that holds it."""

    def __init__(self, size_bytes: int, descriptor: int = -1) -> None:
        self.size_bytes = size_bytes
        try:
            self.mapped = mmap.mmap(descriptor, size_bytes)
        except (OSError, ValueError, OverflowError, MemoryError) as error:
            raise OSError(errno.ENOMEM, f"this node has no {size_bytes} bytes of memory") from error

    def fill(self, seed: int) -> None:
        """Write bytes that differ everywhere; the same seed and size give the same bytes."""
        stream = random.Random(seed)
        for start in range(0, self.size_bytes, _FILL_CHUNK_BYTES):
            length = min(_FILL_CHUNK_BYTES, self.size_bytes - start)
            self.mapped[start : start + length] = stream.randbytes(length)

    def sha256(self, size_bytes: int | None = None) -> str:
        """Checksum of what is in the memory now, or in its first bytes."""
        with memoryview(self.mapped) as view:
            return hashlib.sha256(view[:size_bytes]).hexdigest()
