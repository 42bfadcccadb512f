"""The manifest of a run: everything about it that is not a table, and what a file must say to be one."""

import json
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from rogue.workloads.printable import printable
from rogue.workloads.records import SCHEMA_VERSION, CellStatus, FailureKind

MANIFEST: Final = "manifest.json"
DATA: Final = "data"
"""Where a run keeps files of data, each under its SHA-256."""

RunStatus = Literal["running", "partial", "complete"]


class ManifestError(ValueError):
    """A text is no manifest that this version can read; says why, without the name of the file."""


class Record(BaseModel):
    """Part of a manifest; keys of later versions are ignored."""

    model_config = ConfigDict(extra="ignore", validate_assignment=True)


class CellRecord(Record):
    """One cell: what it was and what became of it."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+=,@-]*$", max_length=255)]
    transport: str
    """The transport's label in the experiment."""
    transport_name: str
    """The transport's name, such as `roce+pfc`, which claims and styles go by."""
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
    """Code from outside that took part."""

    file: str
    """Where it was, as it was named."""
    sha256: str
    text: str
    adds: list[str]
    """What it registered, such as `control swift`."""
    is_installed: bool = False
    """It came with an installed package."""


class DataRecord(Record):
    """A file of data that the experiment names."""

    file: str
    """As it was named."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]

    @property
    def kept(self) -> str:
        """Where the run keeps it, by path relative to the run."""
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


def parse_manifest(text: bytes) -> Manifest:
    """Read the content of a manifest's file; ManifestError if it is none, or one of a later version."""
    try:
        content = parse_json(text)
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"got what is not valid JSON ({error}), expected a run's manifest") from error
    if not isinstance(content, dict):
        raise ManifestError(f"got a {type(content).__name__}, expected a JSON object")
    version = content.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool) or not 0 < version <= SCHEMA_VERSION:
        expected = f"expected schema_version {SCHEMA_VERSION} or older"
        raise ManifestError(f"got schema_version {version}, {expected}; update rogue")
    try:
        return Manifest.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        got = f"got {first['input']!r:.80}"
        raise ManifestError(f"{key}: {first['msg']}, {got}; the file is damaged") from error


def parse_json(text: bytes) -> object:
    """Read what a run wrote, or somebody in its place; ValueError or RecursionError if it is no JSON.

    Texts come without what no file can hold, and without what steers a terminal.
    """
    return _harmless(json.loads(text, parse_constant=_refuse_constant))


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no number of JSON's")


def _harmless(value: object) -> object:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [_harmless(item) for item in value]
    if isinstance(value, dict):
        return {str(_harmless(key)): _harmless(item) for key, item in value.items()}
    return value
