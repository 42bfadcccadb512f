"""Files that are there whole or not at all."""

import os
from pathlib import Path
from typing import Final

from rogue.harness.results.entries import entries_below
from rogue.reports.reading.files import checksum, write_new

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
