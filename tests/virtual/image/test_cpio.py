import stat

from rogue.virtual.image.initrd import Entry, archive


def records(packed: bytes) -> list[tuple[str, int, bytes]]:
    """Read an archive by the format's definition: (name, mode, content) up to the trailer."""
    found, position = [], 0
    while True:
        assert packed[position : position + 6] == b"070701"
        fields = [int(packed[position + 6 + 8 * i : position + 14 + 8 * i], 16) for i in range(13)]
        name_start = position + 110
        name = packed[name_start : name_start + fields[11] - 1].decode()
        data_start = -(-(name_start + fields[11]) // 4) * 4
        if name == "TRAILER!!!":
            return found
        found.append((name, fields[1], packed[data_start : data_start + fields[6]]))
        position = -(-(data_start + fields[6]) // 4) * 4


def test_an_archive_reads_back_as_written() -> None:
    packed = archive([Entry("init", b"#!/bin/sh\n", 0o755), Entry("bin/busybox", b"x" * 5, 0o755)])
    assert records(packed) == [
        ("init", stat.S_IFREG | 0o755, b"#!/bin/sh\n"),
        ("bin", stat.S_IFDIR | 0o755, b""),
        ("bin/busybox", stat.S_IFREG | 0o755, b"xxxxx"),
    ]


def test_a_directory_given_explicitly_keeps_its_mode_and_comes_before_its_files() -> None:
    packed = archive([Entry("root/.ssh", None, 0o700), Entry("root/.ssh/authorized_keys", b"k", 0o600)])
    assert [(name, stat.S_IMODE(mode)) for name, mode, _ in records(packed)] == [
        ("root", 0o755),
        ("root/.ssh", 0o700),
        ("root/.ssh/authorized_keys", 0o600),
    ]


def test_archives_can_be_joined_because_each_ends_on_a_word() -> None:
    assert len(archive([Entry("a", b"12345", 0o644)])) % 4 == 0
