"""The manifest of a run: everything about the run that is not in a table."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, PrivateAttr, ValidationError

from rogue.workloads.printable import harmless, parse_json
from rogue.workloads.records import SCHEMA_VERSION, CellStatus, FailureKind

MANIFEST: Final = "manifest.json"
CHECKSUM: Final = "checksum"
"""Key of a manifest's own checksum."""
CHECKED_SINCE: Final = 7
"""The first schema with a checksum: a newer manifest without one is damaged."""
DATA: Final = "data"
"""Folder of a run for files of data, each named by its SHA-256."""

RunStatus = Literal["running", "partial", "complete"]


class ManifestError(ValueError):
    """A text is no manifest of this or an older version; the text has the reason without the file name."""


class LaterManifestError(ManifestError):
    """A later version wrote it."""


class Soundness(Enum):
    """Result of the check of a manifest's checksum."""

    SOUND = "sound"
    CHANGED = "changed"
    UNKNOWN = "unknown"
    """Its version wrote no checksum."""


class Record(BaseModel):
    """Part of a manifest; keys of later versions are ignored."""

    model_config = ConfigDict(extra="ignore", validate_assignment=True)


class CellRecord(Record):
    """One cell: its setting and its status."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+=,@-]*$", max_length=255)]
    transport: str
    """The transport's label in the experiment."""
    transport_name: str
    """The transport's name, such as `roce+pfc`, which claims and styles use."""
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

    def number(self, fact: str) -> float | None:
        """Return a fact that is a number; None if it is missing or something else."""
        value = self.facts.get(fact)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return float(value)


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


class PluginRecord(Record):
    """Code of a plug-in."""

    file: str
    """Its path as written."""
    sha256: str
    text: str
    adds: list[str]
    """Its registrations, such as `control swift`."""
    is_installed: bool = False
    """It came with an installed package."""


class DataRecord(Record):
    """A file of data that the experiment names."""

    file: str
    """As it was named."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]

    @property
    def kept(self) -> str:
        """Return its path in the run."""
        return f"{DATA}/{self.sha256}"


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
    run_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+=,@ -]*$", max_length=255)]
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
    plugins: list[PluginRecord] = Field(default_factory=list)
    data: list[DataRecord] = Field(default_factory=list)
    files: dict[str, str] = Field(default_factory=dict)
    _soundness: Soundness = PrivateAttr(default=Soundness.SOUND)

    def __repr__(self) -> str:
        """Return ten lines; `model_dump()` returns everything."""
        counts = Counter(cell.status.value for cell in self.cells)
        seeds = sorted({cell.seed for cell in self.cells})
        names = {cell.transport: None for cell in self.cells}
        factors = {key: None for cell in self.cells for key in cell.factors}
        facts = {
            "title": self.title,
            "question": self.question or "none",
            "status": self.status,
            "cells": ", ".join(f"{count} {status}" for status, count in counts.items()),
            "transports": ", ".join(names),
            "factors": ", ".join(factors) or "none",
            "seeds": f"{seeds[0]} to {seeds[-1]}" if seeds else "none",
            "testbed": self.testbed,
            "commit": f"{self.git.commit}, created {self.created_utc}",
        }
        lines = [f"  {key}: {' '.join(text.split())}" for key, text in facts.items()]
        return "\n".join([f"<manifest of run {self.run_id}", *lines]) + ">"

    @property
    def soundness(self) -> Soundness:
        """Return the result of the check when it was read; a new manifest is sound."""
        return self._soundness

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
        """Return the question of the experiment; None if its file has none."""
        question = self.experiment.get("question")
        return question if isinstance(question, str) and question else None


def checksum_of(content: Mapping[str, object]) -> str:
    """Return the SHA-256 of a manifest's content without its checksum, independent of spaces and order."""
    said = {key: value for key, value in content.items() if key != CHECKSUM}
    text = json.dumps(said, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def manifest_content(manifest: Manifest) -> dict[str, object]:
    """Return the content of a manifest's file, with its checksum last.

    A changed manifest keeps a wrong checksum, also after a report has added its files. A manifest of an older
    schema gets no checksum until its run is resumed.
    """
    content: dict[str, object] = manifest.model_dump(mode="json")
    if manifest.soundness is Soundness.CHANGED:
        content[CHECKSUM] = manifest.soundness.value
    elif manifest.schema_version >= CHECKED_SINCE:
        content[CHECKSUM] = checksum_of(content)
    return content


def parse_manifest(text: bytes) -> Manifest:
    """Return the manifest of a file's content; ManifestError if it is damaged or of a later version.

    `soundness` has the result of the checksum.
    """
    try:
        content = parse_json(text)
        shown = harmless(content)
    except ValueError as error:
        raise ManifestError(f"got what is not valid JSON ({error}), expected a run's manifest") from error
    if not isinstance(content, dict):
        raise ManifestError(f"got a {type(content).__name__}, expected a JSON object")
    version = content.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ManifestError(f"got schema_version {version!r:.80}, expected {SCHEMA_VERSION} or older")
    if version > SCHEMA_VERSION:
        expected = f"expected schema_version {SCHEMA_VERSION} or older"
        raise LaterManifestError(f"got schema_version {version}, {expected}; update rogue")
    try:
        manifest = Manifest.model_validate(shown)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        got = f"got {first['input']!r:.80}"
        raise ManifestError(f"{key}: {first['msg']}, {got}; the file is damaged") from error
    manifest._soundness = _soundness_of(content, version)
    return manifest


def _soundness_of(content: Mapping[str, object], version: int) -> Soundness:
    noted = content.get(CHECKSUM)
    if noted is None and version < CHECKED_SINCE:
        return Soundness.UNKNOWN
    return Soundness.SOUND if noted == checksum_of(content) else Soundness.CHANGED
