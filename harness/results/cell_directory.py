"""Store and read cells: `cells/<id>/`, or `cells/<id>.failed-<k>/` for each failed attempt."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rogue.harness.results.manifest import read_cell_record, write_cell_record
from rogue.harness.results.run_directory import TEMPORARY_PREFIX, sync_directory, write_whole
from rogue.workloads.manifest import CellRecord
from rogue.workloads.records import CellStatus

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
