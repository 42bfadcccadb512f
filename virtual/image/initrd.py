"""Write initial RAM disks."""

import stat
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.image import recipe


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


def load_order(dependencies: Mapping[str, list[str]], wanted: Iterable[str]) -> list[str]:
    """List the modules to insert for ``wanted``, dependencies first; unknown names are built into the kernel.

    ``dependencies`` maps a module's path to the paths it needs, nearest first, as modules.dep lists them.
    """
    by_name = {_module_name(path): path for path in dependencies}
    order: dict[str, None] = {}
    for name in wanted:
        path = by_name.get(name)
        if path is not None:
            order.update(dict.fromkeys([*reversed(dependencies[path]), path]))
    return list(order)


def parse_modules_dep(text: str) -> dict[str, list[str]]:
    """Read modules.dep: ``path: dependency dependency …`` per line."""
    pairs = (line.split(":", 1) for line in text.splitlines() if ":" in line)
    return {path: needed.split() for path, needed in pairs}


def _module_name(path: str) -> str:
    return PurePosixPath(path).name.split(".")[0].replace("-", "_")


def unpack_boot_files(tree: tarfile.TarFile) -> tuple[bytes, bytes]:
    """Take the kernel and the initial RAM disk out of the image's tree."""
    members = {str(PurePosixPath(member.name)): member for member in tree.getmembers()}
    modules = _only(members, "*/modules.dep")
    order = load_order(parse_modules_dep(_read(tree, members, modules).decode()), recipe.BOOT_MODULES)
    directory = PurePosixPath(modules).parent
    entries = [
        Entry("init", recipe.initramfs_script(), 0o755),
        Entry("bin/busybox", _read(tree, members, _only(members, "*bin/busybox")), 0o755),
        *(Entry(path, None, 0o755) for path in ("base", "dev", "overlay", "proc", "root", "seed", "sys")),
        Entry("modules/order", "".join(f"{PurePosixPath(path).name}\n" for path in order).encode(), 0o644),
    ]
    for path in order:
        content = _read(tree, members, str(directory / path))
        entries.append(Entry(f"modules/{PurePosixPath(path).name}", content, 0o644))
    return _read(tree, members, _only(members, "boot/vmlinuz-*")), archive(entries)


def _only(members: Mapping[str, tarfile.TarInfo], pattern: str) -> str:
    found = [
        name for name, member in members.items() if member.isfile() and PurePosixPath(name).match(pattern)
    ]
    if len(found) != 1:
        raise VirtualTestbedError(f"the image's tree has {len(found)} files {pattern}, expected exactly one")
    return found[0]


def _read(tree: tarfile.TarFile, members: Mapping[str, tarfile.TarInfo], path: str) -> bytes:
    stream = tree.extractfile(members[path]) if path in members else None
    if stream is None:
        raise VirtualTestbedError(f"the image's tree lacks the file {path}")
    return stream.read()


def of_tree(path: Path) -> tuple[bytes, bytes]:
    """Return kernel and initial RAM disk from the tree archive at ``path``."""
    with tarfile.open(path) as tree:
        return unpack_boot_files(tree)
