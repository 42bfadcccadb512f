"""Write files whole or not at all, and delete directories."""

import os
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Final

from rogue.reports.reading.files import TABLE_BYTES_MAX, checksum, write_new

DEPTH_MAX: Final = 16
"""The deepest path below a run: our own files are at most four levels deep."""
ENTRIES_MAX: Final = 2_000_000
"""A run of 50 000 cells, the most that are planned, has fewer."""
FILE: Final = "a file"
FOLDER: Final = "a folder"
_KINDS: Final = {
    stat.S_IFREG: FILE,
    stat.S_IFDIR: FOLDER,
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """Something that has a name in a directory."""

    path: str
    """Relative to where the search began; empty for that place itself."""
    kind: str
    """What it is, or what a link leads to, in words."""
    size_bytes: int = 0
    is_link: bool = False
    problem: str | None = None
    """Why it was not looked into."""

    @property
    def is_readable(self) -> bool:
        """It is a file, or a link to one, that is no larger than any file of a run."""
        return self.kind == FILE and self.size_bytes <= TABLE_BYTES_MAX

    @property
    def described(self) -> str:
        """Return what it is in words, which a link says of itself and of where it leads."""
        return f"a link to {self.kind}" if self.is_link else self.kind


def entries_below(directory: Path) -> Iterator[FoundEntry]:
    """Look at everything below a directory, folder by folder; no link to a folder is followed.

    Folders are told before what is in them.  One that is too deep, or cannot be read, has its problem.
    """
    seen, waiting = 0, [""]
    while waiting:
        folder = waiting.pop()
        if folder.count("/") + 1 >= DEPTH_MAX:
            yield FoundEntry(folder, FOLDER, problem="a folder deeper than any of a run")
            continue
        try:
            with os.scandir(directory / folder) as listed:
                for each in listed:
                    seen += 1
                    if seen > ENTRIES_MAX:
                        yield FoundEntry("", FOLDER, problem=f"more than {ENTRIES_MAX} files and folders")
                        return
                    found = _entry(each, f"{folder}/{each.name}" if folder else each.name)
                    yield found
                    if found.kind == FOLDER and not found.is_link:
                        waiting.append(found.path)
        except OSError as error:
            yield FoundEntry(folder, FOLDER, problem=f"a folder that cannot be read ({error.strerror})")


def _entry(each: "os.DirEntry[str]", path: str) -> FoundEntry:
    is_link = each.is_symlink()
    try:
        status = each.stat()
    except OSError:
        return FoundEntry(path, "nothing" if is_link else "something that cannot be read", is_link=is_link)
    return FoundEntry(path, _KINDS.get(stat.S_IFMT(status.st_mode), "a device"), status.st_size, is_link)


TEMPORARY_PREFIX: Final = ".writing-"


def write_whole(path: Path, content: bytes) -> None:
    """Write under a temporary name, sync, rename: a reader never sees half a file."""
    temporary = path.with_name(f"{TEMPORARY_PREFIX}{path.name}")
    write_new(temporary, content)
    temporary.replace(path)
    sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make the names in a directory survive a power cut."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def checksums(directory: Path) -> dict[str, str]:
    """SHA-256 of every file below a directory, by path relative to it.

    Temporary files are left out, and so is what is no file of a run: a pipe, or a file larger than any table.
    """
    found = (each for each in entries_below(directory) if each.is_readable)
    paths = sorted(each.path for each in found if not _is_temporary(each.path))
    return {path: checksum(directory / path) for path in paths}


def _is_temporary(path: str) -> bool:
    return any(part.startswith(TEMPORARY_PREFIX) for part in path.split("/"))


_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_AT_ONCE: Final = 1000
"""Names that are kept in mind while a folder is emptied."""


def delete_directory(directory: Path) -> None:
    """Delete a directory and all that is in it; no link is followed.

    A folder in a folder is first moved up to the top, so that every folder is emptied there: two are open at
    a time, and their names are short.  What is left after a stop is deleted like any other directory.
    """
    unused = _unused_names()
    top = os.open(directory, _FOLDER)
    try:
        for name in _folders_left(top):
            folder = os.open(name, _FOLDER, dir_fd=top)
            try:
                for below in _folders_left(folder):
                    os.rename(below, next(unused), src_dir_fd=folder, dst_dir_fd=top)
            finally:
                os.close(folder)
            os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)
    directory.rmdir()


def _folders_left(folder: int) -> Iterator[str]:
    """Delete files and empty folders; give each other folder by its name, to be moved away or emptied."""
    while True:
        with os.scandir(folder) as listed:
            found = [(each.name, each.is_dir(follow_symlinks=False)) for each in islice(listed, _AT_ONCE)]
        if not found:
            return
        for name, is_folder in found:
            if not is_folder:
                os.unlink(name, dir_fd=folder)
            elif not _is_gone(name, folder):
                yield name


def _is_gone(name: str, folder: int) -> bool:
    """Delete a folder if there is nothing in it."""
    try:
        os.rmdir(name, dir_fd=folder)
    except OSError:
        return False
    return True


def _unused_names() -> Iterator[str]:
    mine = secrets.token_hex(8)
    return (f"{mine}-{number}" for number in count())
