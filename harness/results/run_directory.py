"""Make and lock the directory of a run; list, checksum and write its files."""

import fcntl
import logging
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rogue.harness.errors import BusyRunError, StorageError
from rogue.reports.reading.files import checksum, write_new
from rogue.workloads.manifest import CellRecord

_LOGGER: Final = logging.getLogger(__name__)

CELLS: Final = "cells"
TEMPORARY_PREFIX: Final = ".writing-"
"""First characters of the name of a file or folder that is being written."""
LOOK_SECONDS: Final = 0.2
"""How long `locked` waits: longer than `is_locked` holds the lock."""


def create_run_directory(out: Path, experiment: str, now: datetime) -> Path:
    """Make `<out>/<experiment>/<UTC time>-<short id>/`, whose name is the id of the run."""
    run = out / experiment / f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
    try:
        (run / CELLS).mkdir(parents=True)
    except OSError as error:
        text = f"{run}: got {error.strerror!r}, expected a place for results; name another with --out."
        raise StorageError(text) from error
    return run


@contextmanager
def locked(run: Path) -> Iterator[None]:
    """Keep other processes from working on the same run; the lock ends with this process."""
    descriptor = os.open(run, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if not takes_lock(descriptor, fcntl.LOCK_EX, LOOK_SECONDS):
            got = f"{run}: got a run that another process is writing"
            raise BusyRunError(f"{got}, expected one that no process writes; wait for it to end.")
        yield
    finally:
        os.close(descriptor)


def is_locked(run: Path) -> bool:
    """Return whether a process works on a run; takes the lock for an instant, for which `locked` waits."""
    try:
        descriptor = os.open(run, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return not takes_lock(descriptor, fcntl.LOCK_SH, 0)
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(descriptor)


def takes_lock(descriptor: int, kind: int, patience_seconds: float) -> bool:
    """Take a lock if it becomes free in time."""
    until = time.monotonic() + patience_seconds
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(patience_seconds / 10)
        else:
            return True


def partial_report(run: Path) -> Path:
    """Return the path of the report of a run in progress: beside the run, which is being written."""
    named = run if run.name not in ("", "..") else run.resolve()
    return named.with_name(f"{named.name}-partial.html")


def files_below(directory: Path) -> Iterator[str]:
    """Yield the relative path of each file below a directory; OSError if a folder cannot be read.

    Links to folders count as files; a folder that was deleted or renamed meanwhile has none.
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


def write_whole(path: Path, content: bytes) -> None:
    """Write under a temporary name, sync, and rename, so that a reader never sees half a file."""
    temporary = path.with_name(f"{TEMPORARY_PREFIX}{path.name}")
    write_new(temporary, content)
    temporary.replace(path)
    sync_directory(path.parent)
    _LOGGER.debug("wrote %s, %d bytes", path, len(content))


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


def cell_checksums(run: Path, record: CellRecord) -> dict[str, str]:
    """Return the SHA-256 of a cell's files, with failed attempts, by path relative to the run."""
    found: dict[str, str] = {}
    for name in (record.id, *record.failed_attempts):
        if any(each.is_symlink() for each in (run / CELLS, run / CELLS / name)):
            continue  # the target is outside of the run
        for path, digest in checksums(run / CELLS / name).items():
            found[f"{CELLS}/{name}/{path}"] = digest
    return found
