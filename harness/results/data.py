"""Files of data in a run's directory: kept when it begins, read again when it goes on."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from rogue.harness.data.source import SIZE_BYTES_MAX, DataSource
from rogue.harness.errors import DamagedRunError
from rogue.harness.results.files import write_whole
from rogue.reports.reading.files import checksum, read_regular
from rogue.workloads.manifest import DATA, DataRecord, Manifest


def keep_data(run: Path, sources: Iterable[DataSource]) -> list[DataRecord]:
    """Copy the files into the run; two of the same content are one."""
    records = [DataRecord(file=source.name, sha256=source.sha256) for source in sources]
    for record, source in zip(records, sources, strict=True):
        (run / DATA).mkdir(exist_ok=True)
        if not (run / record.kept).exists():
            write_whole(run / record.kept, source.content)
    return records


def kept_data(run: Path, manifest: Manifest) -> dict[str, DataSource]:
    """The files that a run keeps, by the names of the experiment; DamagedRunError if one has changed."""
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
    """The files that have changed since the run was begun; a missing file does not count."""
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
