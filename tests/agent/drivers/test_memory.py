import os

import pytest

from rogue.agent.drivers.verbs.memory import Memory


def test_the_same_seed_gives_the_same_bytes_also_in_a_file() -> None:
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
def test_more_memory_than_there_is_is_a_sentence(size_bytes: int) -> None:
    with pytest.raises(OSError, match=f"this node has no {size_bytes} bytes of memory"):
        Memory(size_bytes)
