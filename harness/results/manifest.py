"""Read and write the manifest and the cell records of a run; each file is written whole."""

import errno
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rogue.harness.errors import DamagedRunError, UsageError
from rogue.harness.results.run_directory import write_whole
from rogue.reports.reading.files import read_regular
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
