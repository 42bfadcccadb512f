"""The memory of a host that verbs move bytes from and to."""

import hashlib

from rogue.simulator._core import Engine
from rogue.simulator.errors import SimulationError


class Memory:
    """A registered range of a host's memory. Bytes of a verb land when their packet is accepted."""

    def __init__(self, engine: Engine, host: int, size_bytes: int, seed: int | None) -> None:
        self.size_bytes = size_bytes
        self.number = engine.add_memory(host=host, size_bytes=size_bytes, seed=seed)
        self.engine = engine

    def read(self, offset: int, length_bytes: int) -> bytes:
        """Return what stands there."""
        self._check("read", offset, length_bytes)
        return self.engine.read_memory(self.number, offset, length_bytes)

    def write(self, offset: int, data: bytes) -> None:
        """Write, as the host's own software does. Packets that are under way take what stands there then."""
        self._check("write", offset, len(data))
        self.engine.write_memory(self.number, offset, data)

    def digest(self, offset: int = 0, length_bytes: int | None = None) -> str:
        """Return a hash of a part, by default of all from ``offset`` on."""
        length = self.size_bytes - offset if length_bytes is None else length_bytes
        return hashlib.blake2b(self.read(offset, length), digest_size=16).hexdigest()

    def _check(self, what: str, offset: int, length_bytes: int) -> None:
        if offset < 0 or length_bytes < 0 or offset + length_bytes > self.size_bytes:
            raise SimulationError(
                f"{what} of memory {self.number}: expected a part of its {self.size_bytes} bytes, "
                f"got {length_bytes} bytes at {offset}"
            )
