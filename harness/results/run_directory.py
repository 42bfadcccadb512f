"""Make and lock the directory of a run; write, read and checksum its files, its manifest and its cells."""

import errno
import fcntl
import json
import logging
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rogue.harness.errors import BusyRunError, DamagedRunError, StorageError, UsageError
from rogue.reports.reading.files import checksum, read_regular, write_new
from rogue.workloads.manifest import (
    MANIFEST,
    CellRecord,
    LaterManifestError,
    Manifest,
    ManifestError,
    Soundness,
    manifest_content,
    parse_manifest,
)
from rogue.workloads.printable import harmless, parse_json
from rogue.workloads.records import CellStatus

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


CELL_RECORD: Final = "cell.json"
CHANGED: Final = "changed since it was written: its checksum differs"
_NOT_THERE: Final = (errno.ENOENT, errno.ENOTDIR, errno.EACCES)


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Replace the manifest of a run."""
    write_whole(directory / MANIFEST, _to_json(manifest_content(manifest)))


def write_cell_record(directory: Path, record: CellRecord) -> None:
    """Keep a cell's part of the manifest beside its tables, so that a killed run can be resumed."""
    write_whole(directory / CELL_RECORD, _to_json(record.model_dump(mode="json")))


def _to_json(content: Mapping[str, object]) -> bytes:
    return (json.dumps(content, indent=1, allow_nan=False) + "\n").encode()


def read_manifest(directory: Path) -> Manifest:
    """Read a run's manifest, which may have been changed since it was written.

    UsageError if the directory is not a run that this version can read, DamagedRunError if it was one.
    """
    file = directory / MANIFEST
    try:
        return parse_manifest(read_regular(file))
    except OSError as error:
        advice = "name the directory of a run, such as the last line that `rogue run` printed"
        text = f"{file}: got {error.strerror!r}, expected a run's manifest; {advice}."
        raise (UsageError if error.errno in _NOT_THERE else DamagedRunError)(text) from error
    except LaterManifestError as error:
        raise UsageError(f"{file}: {error}.") from error
    except ManifestError as error:
        raise DamagedRunError(f"{file}: {error}.") from error


def read_sound_manifest(directory: Path) -> Manifest:
    """Read a manifest to resume its run, or to sign it; DamagedRunError if it was changed."""
    manifest = read_manifest(directory)
    if manifest.soundness is Soundness.CHANGED:
        raise DamagedRunError(f"{directory / MANIFEST}: {CHANGED}; take it from a copy of the run.")
    return manifest


def read_cell_record(directory: Path) -> CellRecord | None:
    """Read what a cell wrote about itself; None if it did not get that far."""
    try:
        return CellRecord.model_validate(harmless(parse_json(read_regular(directory / CELL_RECORD))))
    except (OSError, ValueError):
        return None


_FAILED: Final = re.compile(r"(?P<id>.+)\.failed-(?P<attempt>[0-9]+)")


def store_cell(cells: Path, record: CellRecord, files: Mapping[str, bytes]) -> Path:
    """Write a cell's files and its record, then rename the directory, so that a cell is whole or absent.

    The record of a failed attempt lists itself. A finished cell is never written again.
    """
    name = record.id
    if record.status is CellStatus.FAILED:
        name = f"{record.id}.failed-{len(failed_attempts(cells, record.id)) + 1}"
        record.failed_attempts = [*failed_attempts(cells, record.id), name]
    temporary = cells / f"{TEMPORARY_PREFIX}{record.id}"
    _discard(temporary)
    temporary.mkdir()
    for path, content in sorted(files.items()):
        (temporary / path).parent.mkdir(exist_ok=True)
        write_whole(temporary / path, content)
    write_cell_record(temporary, record)
    final = cells / name
    temporary.rename(final)
    sync_directory(cells)
    return final


def discard_unfinished(cells: Path, identifier: str) -> None:
    """Remove the unfinished directory of a cell that was stopped."""
    _discard(cells / f"{TEMPORARY_PREFIX}{identifier}")


def discard_all_unfinished(cells: Path) -> None:
    """Remove all unfinished directories, after a run that was killed."""
    for leftover in cells.glob(f"{TEMPORARY_PREFIX}*"):
        _discard(leftover)


def _discard(leftover: Path) -> None:
    """Remove a directory, or any file in its place; the target of a link stays."""
    if leftover.is_symlink() or leftover.is_file():
        leftover.unlink()
    else:
        shutil.rmtree(leftover, ignore_errors=True)


def failed_attempts(cells: Path, identifier: str) -> list[str]:
    """Return the directories of a cell's failed attempts, oldest first."""
    found = []
    for path in cells.glob("*.failed-*"):
        match = _FAILED.fullmatch(path.name)
        if match and match["id"] == identifier and not path.is_symlink():
            found.append((int(match["attempt"]), path.name))
    return [name for _, name in sorted(found)]


def stored_record(cells: Path, identifier: str) -> CellRecord | None:
    """Return the record of a finished cell, else of its last failed attempt, else None."""
    if cells.is_symlink() or (cells / identifier).is_symlink():
        return None  # it leads out of the run
    record = read_cell_record(cells / identifier)
    attempts = failed_attempts(cells, identifier)
    if record is None and attempts:
        record = read_cell_record(cells / attempts[-1])
    if record is not None:
        record.failed_attempts = attempts
    return record
