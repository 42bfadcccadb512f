"""A run's directory: made once, written by one process at a time."""

import fcntl
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rogue.harness.errors import BusyRunError, StorageError
from rogue.harness.results.files import checksums
from rogue.workloads.manifest import CellRecord

CELLS: Final = "cells"
DEFAULT_OUT: Final = Path("results")
"""Where runs are unless said otherwise."""
LOOK_SECONDS: Final = 0.2
"""Longer than a process holds the lock that only tests whether it is free."""


def create_run_directory(out: Path, experiment: str, now: datetime) -> Path:
    """Make ``<out>/<experiment>/<UTC time>-<short id>/``; its name is the run's id."""
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
        if not _locks(descriptor, fcntl.LOCK_EX, LOOK_SECONDS):
            text = (
                f"{run}: got a run that another process is writing, expected one at rest; wait for it to end."
            )
            raise BusyRunError(text)
        yield
    finally:
        os.close(descriptor)


def is_locked(run: Path) -> bool:
    """Return whether a process works on a run. To look is to take the lock for an instant; `locked` waits."""
    try:
        descriptor = os.open(run, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return not _locks(descriptor, fcntl.LOCK_SH, 0)
    except OSError:  # a file system without locks: nobody can have one
        return False
    finally:
        os.close(descriptor)


def _locks(descriptor: int, kind: int, patience_seconds: float) -> bool:
    """Take a lock if it comes free in time."""
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
    """Where the report of a run stands that is still going: beside it, because the run is being written."""
    named = run if run.name not in ("", "..") else run.resolve()
    return named.with_name(f"{named.name}-partial.html")


def results_directory(run: Path, experiment: str) -> Path | None:
    """The directory of results that a run stands in, as `create_run_directory` put it there; else None."""
    run = run.resolve()
    return run.parent.parent if run.parent.name == experiment else None


def cell_checksums(run: Path, record: CellRecord) -> dict[str, str]:
    """SHA-256 of a cell's files, failed attempts included, by path relative to the run."""
    found: dict[str, str] = {}
    for name in (record.id, *record.failed_attempts):
        if any(each.is_symlink() for each in (run / CELLS, run / CELLS / name)):
            continue  # a link leads out of the run, and what is there is none of its files
        for path, digest in checksums(run / CELLS / name).items():
            found[f"{CELLS}/{name}/{path}"] = digest
    return found
