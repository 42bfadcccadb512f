"""Memory of a flow, registered buffers, and rings of receives."""

import ctypes
import hashlib
import os

import pytest
from helpers.fake_verbs_device import Context, ProtectionDomain

from rogue.agent.drivers.verbs.memory import Buffer, Memory
from rogue.agent.drivers.verbs.pyverbs import Pyverbs


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
