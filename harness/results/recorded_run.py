"""Read and update a run: its manifest, data files and records of cells."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rogue.harness.data.source import SIZE_BYTES_MAX, DataSource
from rogue.harness.errors import DamagedRunError
from rogue.harness.results.run_directory import (
    CELL_RECORD,
    CELLS,
    TEMPORARY_PREFIX,
    cell_checksums,
    read_manifest,
    stored_record,
    write_manifest,
    write_whole,
)
from rogue.reports.reading.files import checksum, read_regular
from rogue.workloads.manifest import DATA, CellRecord, DataRecord, Manifest
from rogue.workloads.records import CellStatus


def keep_data(run: Path, sources: Iterable[DataSource]) -> list[DataRecord]:
    """Copy files into the run; files with the same content are stored once."""
    records = [DataRecord(file=source.name, sha256=source.sha256) for source in sources]
    for record, source in zip(records, sources, strict=True):
        (run / DATA).mkdir(exist_ok=True)
        if not (run / record.kept).exists():
            write_whole(run / record.kept, source.content)
    return records


def kept_data(run: Path, manifest: Manifest) -> dict[str, DataSource]:
    """Return the data files of a run by their names in the experiment; DamagedRunError if one has changed."""
    return {record.file: _kept(run, record) for record in manifest.data}


def _kept(run: Path, record: DataRecord) -> DataSource:
    file = run / record.kept
    try:
        content = read_regular(file, SIZE_BYTES_MAX)
    except OSError as error:
        got = f"{file}: got '{error.strerror}'"
        raise DamagedRunError(f"{got}, expected the run's copy of {record.file}; start a new run.") from error
    if hashlib.sha256(content).hexdigest() != record.sha256:
        got = f"{file}: got another content than the manifest says"
        raise DamagedRunError(f"{got}, expected the run's copy of {record.file}; start a new run.")
    return DataSource(record.file, content, record.sha256)


def changed_data(manifest: Manifest) -> list[str]:
    """Return the data files that have changed since the run began, without missing ones."""
    here = Path(manifest.source.file).parent
    changed = []
    for record in manifest.data:
        try:
            is_same = checksum(here / record.file, SIZE_BYTES_MAX) == record.sha256
        except (OSError, ValueError):
            continue
        if not is_same:
            changed.append(str(here / record.file))
    return changed


SO_FAR: Final = f"{TEMPORARY_PREFIX}so-far.txt"
"""Summary of a search in progress, a sentence per line, for `rogue watch`; no file of the run."""


@dataclass(slots=True)
class Run:
    """A run that this process works on."""

    directory: Path
    manifest: Manifest

    @property
    def cells(self) -> Path:
        """Return the folder of the cells' directories."""
        return self.directory / CELLS

    def note(self, record: CellRecord) -> None:
        """Put the record and the checksums of a cell that has just ended into the manifest."""
        self._put(record)
        self.manifest.files |= cell_checksums(self.directory, record)

    def note_stored(self) -> None:
        """Add records from the cells' directories that the manifest of a killed run lacks.

        A record that the manifest lists stays: a file that differs is damaged.
        """
        for cell in list(self.manifest.cells):
            record = stored_record(self.cells, cell.id)
            if record is not None and self._lists(record):
                record = cell.model_copy(update={"failed_attempts": record.failed_attempts})
            if record is not None and record != cell:
                self._put(record)
                self.manifest.files = cell_checksums(self.directory, record) | self.manifest.files

    def _put(self, record: CellRecord) -> None:
        index = next(index for index, cell in enumerate(self.manifest.cells) if cell.id == record.id)
        self.manifest.cells[index] = record

    def _lists(self, record: CellRecord) -> bool:
        """True if the manifest has this attempt at a cell."""
        is_failed = record.status is CellStatus.FAILED and record.failed_attempts
        name = record.failed_attempts[-1] if is_failed else record.id
        return f"{CELLS}/{name}/{CELL_RECORD}" in self.manifest.files

    def write(self) -> None:
        """Write the manifest."""
        write_manifest(self.directory, self.manifest)


def present_manifest(directory: Path) -> Manifest:
    """Return the manifest of a run with all finished cells, also while another process works on it."""
    run = Run(directory, read_manifest(directory))
    run.note_stored()
    return run.manifest
