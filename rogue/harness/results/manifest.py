"""Manifests and records of cells in the directory of a run: read, and written whole or not at all."""

import json
from pathlib import Path
from typing import Final

from rogue.harness.errors import UsageError
from rogue.harness.results.files import write_whole
from rogue.reports.files import read_regular
from rogue.workloads.manifest import (
    MANIFEST,
    CellRecord,
    Manifest,
    ManifestError,
    Record,
    parse_json,
    parse_manifest,
)

CELL_RECORD: Final = "cell.json"


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Replace the manifest of a run."""
    write_whole(directory / MANIFEST, _to_json(manifest))


def write_cell_record(directory: Path, record: CellRecord) -> None:
    """Keep a cell's part of the manifest beside its tables, so that a killed run can be taken up again."""
    write_whole(directory / CELL_RECORD, _to_json(record))


def _to_json(record: Record) -> bytes:
    text = json.dumps(record.model_dump(mode="json"), indent=1, allow_nan=False)
    return (text + "\n").encode()


def read_manifest(directory: Path) -> Manifest:
    """Read a run's manifest; UsageError if the directory is not a run that this version can read."""
    file = directory / MANIFEST
    try:
        return parse_manifest(read_regular(file))
    except OSError as error:
        advice = "name the directory of a run, such as the last line that `rogue run` printed"
        raise UsageError(f"{file}: got {error.strerror!r}, expected a run's manifest; {advice}.") from error
    except ManifestError as error:
        raise UsageError(f"{file}: {error}.") from error


def read_cell_record(directory: Path) -> CellRecord | None:
    """Read what a cell wrote about itself; None if it did not get that far."""
    try:
        return CellRecord.model_validate(parse_json(read_regular(directory / CELL_RECORD)))
    except (OSError, ValueError, RecursionError):
        return None
