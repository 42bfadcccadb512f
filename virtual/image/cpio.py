"""Writes cpio archives of the kind the Linux kernel unpacks as its initial RAM disk ("newc")."""

import stat
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One file (``content``), or one directory (``content`` None), owned by root; ``path`` is relative."""

    path: str
    content: bytes | None
    mode: int


def archive(entries: list[Entry]) -> bytes:
    """Pack the entries, each missing parent directory before its first child; equal input, equal bytes."""
    packed = bytearray()
    for number, entry in enumerate(_with_parents(entries), start=1):
        kind = stat.S_IFDIR if entry.content is None else stat.S_IFREG
        packed += _record(number, entry.path, kind | entry.mode, entry.content or b"")
    packed += _record(0, "TRAILER!!!", 0, b"")
    return bytes(packed)


def _with_parents(entries: list[Entry]) -> list[Entry]:
    known: dict[str, Entry] = {}
    for entry in entries:
        parts = entry.path.split("/")
        for depth in range(1, len(parts)):
            parent = "/".join(parts[:depth])
            known.setdefault(parent, Entry(parent, None, 0o755))
        known[entry.path] = entry
    return list(known.values())


def _record(inode: int, path: str, mode: int, content: bytes) -> bytes:
    """One header of 13 eight-digit hexadecimal fields, the name, the data; both padded to four bytes.

    Source: Linux, Documentation/driver-api/early-userspace/buffer-format.rst.
    """
    name = path.encode() + b"\0"
    fields = (inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0)
    header = b"070701" + b"".join(f"{field:08x}".encode() for field in fields)
    return _padded(header + name) + _padded(content)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
