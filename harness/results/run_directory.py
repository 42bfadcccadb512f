"""A run's directory: made once, written by one process at a time."""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from harness.errors import StorageError, UsageError
from harness.results.files import checksums
from harness.results.manifest import MANIFEST, CellRecord

CELLS: Final = "cells"


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
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            text = (
                f"{run}: got a run that another process is writing, expected one at rest; wait for it to end."
            )
            raise UsageError(text) from error
        yield
    finally:
        os.close(descriptor)


def cell_checksums(run: Path, record: CellRecord) -> dict[str, str]:
    """SHA-256 of a cell's files, failed attempts included, by path relative to the run."""
    found: dict[str, str] = {}
    for name in (record.id, *record.failed_attempts):
        for path, digest in checksums(run / CELLS / name).items():
            found[f"{CELLS}/{name}/{path}"] = digest
    return found


def check_files(run: Path, expected: dict[str, str]) -> list[str]:
    """What differs from the manifest: one sentence per file that is missing, changed or added."""
    found = {path: digest for path, digest in checksums(run).items() if path != MANIFEST}
    differences = [f"{path}: missing" for path in expected if path not in found]
    differences += [
        f"{path}: changed" for path in expected if found.get(path, expected[path]) != expected[path]
    ]
    differences += [f"{path}: not in the manifest" for path in found if path not in expected]
    return sorted(differences)
