"""Files that are there whole or not at all."""

import os
from pathlib import Path
from typing import Final

from rogue.reports.files import checksum, write_new

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
    """SHA-256 of every file below a directory, by path relative to it; temporary files left out."""
    return {
        path.relative_to(directory).as_posix(): checksum(path)
        for path in sorted(directory.rglob("*"))
        if path.is_file() and not any(part.startswith(TEMPORARY_PREFIX) for part in path.parts)
    }
