"""The manifest: everything about a run that is not a table."""

import json
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from harness.errors import UsageError
from harness.results.files import write_whole
from workloads.records import SCHEMA_VERSION, CellStatus, FailureKind

MANIFEST: Final = "manifest.json"
CELL_RECORD: Final = "cell.json"

RunStatus = Literal["running", "partial", "complete"]


class Record(BaseModel):
    """Part of a manifest; keys of later versions are ignored."""

    model_config = ConfigDict(extra="ignore", validate_assignment=True)


class CellRecord(Record):
    """One cell: what it was and what became of it."""

    id: str
    transport: str
    transport_name: str
    factors: dict[str, JsonValue]
    repetition: int
    seed: int
    status: CellStatus = CellStatus.PENDING
    failure_kind: FailureKind | None = None
    message: str | None = None
    wall_seconds: float | None = None
    session: int | None = None
    failed_attempts: list[str] = Field(default_factory=list)
    not_measured: dict[str, str] = Field(default_factory=dict)
    facts: dict[str, JsonValue] = Field(default_factory=dict)


class Git(Record):
    """Commit of the code that ran; None where it is not in a git checkout."""

    commit: str | None
    dirty: bool | None


class Host(Record):
    """Machine that ran the harness, asked at run time."""

    cpu: str | None
    cores: int
    memory_bytes: int | None
    kernel: str


class Session(Record):
    """One invocation that worked on the run: the first, and each resumption."""

    created_utc: str
    command: list[str]
    git: Git
    versions: dict[str, str]
    host: Host


class Source(Record):
    """The experiment as it was written."""

    file: str
    sha256: str
    set: list[str]
    data: dict[str, JsonValue]
    """The file's content with `set` applied."""


class Manifest(Record):
    """The whole manifest."""

    schema_version: int = SCHEMA_VERSION
    run_id: str
    status: RunStatus
    testbed: str
    created_utc: str
    finished_utc: str | None = None
    command: list[str]
    experiment: dict[str, JsonValue]
    source: Source
    sessions: list[Session]
    git: Git
    versions: dict[str, str]
    host: Host
    cells: list[CellRecord]
    files: dict[str, str] = Field(default_factory=dict)


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
        data = json.loads(file.read_bytes())
    except OSError as error:
        advice = "name the directory of a run, such as the last line that `rogue run` printed"
        raise UsageError(f"{file}: got {error.strerror!r}, expected a run's manifest; {advice}.") from error
    except ValueError as error:
        raise _damaged(file, str(error)) from error
    version = data.get("schema_version") if isinstance(data, dict) else None
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        expected = f"schema version {SCHEMA_VERSION} or older"
        raise UsageError(f"{file}: got schema version {version}, expected {expected}; update rogue.")
    try:
        return Manifest.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise _damaged(file, f"{where}: {first['msg']}") from error


def _damaged(file: Path, what: str) -> UsageError:
    return UsageError(f"{file}: got {what}, expected a manifest that `rogue run` wrote; it is damaged.")


def read_cell_record(directory: Path) -> CellRecord | None:
    """Read what a cell wrote about itself; None if it did not get that far."""
    try:
        return CellRecord.model_validate_json((directory / CELL_RECORD).read_bytes())
    except (OSError, ValidationError):
        return None
