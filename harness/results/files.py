"""List, checksum and write files of a run."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from rogue.reports.reading.files import checksum, write_new


def files_below(directory: Path) -> Iterator[str]:
    """Yield the relative path of everything below a directory that is no folder.

    Links to folders are yielded and not followed; a folder that is gone or renamed meanwhile has nothing.
    OSError if a folder cannot be read.
    """
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        with suppress(FileNotFoundError), os.scandir(directory / folder) as listed:
            for each in listed:
                if each.is_dir(follow_symlinks=False):
                    waiting.append(f"{folder}{each.name}/")
                else:
                    yield f"{folder}{each.name}"


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
    """Return the SHA-256 of regular files below a directory by relative path, without temporary files."""
    paths = sorted(path for path in files_below(directory) if not _is_temporary(path))
    return {path: checksum(directory / path) for path in paths if (directory / path).is_file()}


def _is_temporary(path: str) -> bool:
    return any(part.startswith(TEMPORARY_PREFIX) for part in path.split("/"))
