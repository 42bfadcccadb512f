"""The entries of a run's directory: listed with bounds, and never opened."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rogue.reports.reading.files import TABLE_BYTES_MAX

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
