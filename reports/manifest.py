"""What a run says about itself: `manifest.json`, checked."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from reports.errors import ReportError
from workloads.records import SCHEMA_VERSION, CellStatus

MANIFEST = "manifest.json"


class _Part(BaseModel):
    """A part of the manifest: unknown keys of a later minor change are ignored, known ones are checked."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Git(_Part):
    """The code that ran."""

    commit: str | None = None
    dirty: bool | None = None


class Source(_Part):
    """The experiment file that was run."""

    file: str | None = None
    sha256: str | None = None
    set: list[str] = Field(default_factory=list)
    data: dict[str, JsonValue] = Field(default_factory=dict)


class Session(_Part):
    """One call of `rogue run` that worked on the run: the first one, or a resumption."""

    created_utc: str
    git: Git = Field(default_factory=Git)


class CellEntry(_Part):
    """One cell: transport, factor point and repetition, and what became of it."""

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+=,@-]*$", max_length=255)
    transport: str
    transport_name: str | None = None
    factors: dict[str, JsonValue] = Field(default_factory=dict)
    repetition: int = 1
    seed: int | None = None
    status: CellStatus
    failure_kind: str | None = None
    message: str | None = None
    wall_seconds: float | None = None
    failed_attempts: list[str] = Field(default_factory=list)
    not_measured: dict[str, str] = Field(default_factory=dict)
    facts: dict[str, JsonValue] = Field(default_factory=dict)

    @property
    def registry_name(self) -> str:
        """Return the transport's name in the registry, which claims and styles go by."""
        return self.transport_name or self.transport

    def number(self, fact: str) -> float | None:
        """Return a fact that is a number; None if it is missing or something else."""
        value = self.facts.get(fact)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return float(value)


class Manifest(_Part):
    """The whole of `manifest.json`, as far as a report needs it."""

    schema_version: int
    run_id: str
    status: Literal["complete", "partial", "running"]
    testbed: str
    created_utc: str
    finished_utc: str | None = None
    command: list[str] = Field(default_factory=list)
    experiment: dict[str, JsonValue]
    source: Source = Field(default_factory=Source)
    sessions: list[Session] = Field(default_factory=list)
    git: Git = Field(default_factory=Git)
    versions: dict[str, str] = Field(default_factory=dict)
    host: dict[str, JsonValue] = Field(default_factory=dict)
    cells: list[CellEntry]
    files: dict[str, str] = Field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return the experiment's name."""
        return str(self.experiment.get("name") or self.run_id)

    @property
    def title(self) -> str:
        """Return the experiment's title, its name if it has none."""
        return str(self.experiment.get("title") or self.name)

    @property
    def question(self) -> str | None:
        """Return what the experiment is to answer; None if its file does not say, as older ones do not."""
        question = self.experiment.get("question")
        return question if isinstance(question, str) and question else None


def read_manifest(directory: Path) -> Manifest:
    """Read and check the manifest of a run directory; a sentence in a ReportError if that is impossible."""
    return checked(_content(directory / MANIFEST), directory)


def checked(content: Mapping[str, object], directory: Path) -> Manifest:
    """Check what a manifest says; a sentence in a ReportError if it is none."""
    path = directory / MANIFEST
    version = content.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise ReportError(
            f"{path}: the run was written with schema_version {version}, this version of the testbed reads"
            f" up to {SCHEMA_VERSION}; update the testbed to report on it."
        )
    try:
        return Manifest.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the whole file"
        raise ReportError(
            f"{path}: {key} is not what a manifest has there: {first['msg']}, got {first['input']!r:.80};"
            " the file was damaged or is not from `rogue run`."
        ) from error


def _content(path: Path) -> dict[str, object]:
    try:
        content = _encodable(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise ReportError(
            f"{path}: there is no such file; give the directory of a run, such as"
            " results/<experiment>/<time>-<id>."
        ) from error
    except OSError as error:
        raise ReportError(f"{path}: the manifest cannot be read: {error.strerror}.") from error
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ReportError(
            f"{path}: this is not valid JSON ({error}); the file was damaged; run the experiment again."
        ) from error
    if not isinstance(content, dict):
        raise ReportError(f"{path}: expected a JSON object, got {type(content).__name__}.")
    return content


def _encodable(value: object) -> object:
    """Replace what no file can hold: half a surrogate pair, as a shell hands it over for a broken name."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    if isinstance(value, dict):
        return {str(_encodable(key)): _encodable(item) for key, item in value.items()}
    return value
