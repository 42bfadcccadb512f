import ctypes
import hashlib

from helpers.fake_verbs_device import Context, ProtectionDomain

from rogue.agent.drivers.verbs.pyverbs import Pyverbs
from rogue.agent.drivers.verbs.receives import Buffer

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
