"""Read a space file: the aim, the ranges, the seeds and the budget of a search."""

from dataclasses import replace
from typing import Annotated, Final, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from rogue.harness.errors import ConfigError, Problem
from rogue.harness.experiment.document import Document, parse_path, read_document
from rogue.harness.experiment.load import FACTOR_ROOTS, find_problems
from rogue.harness.experiment.model import REPETITIONS_MAX, SEED_MAX
from rogue.harness.search.ranges import Range
from rogue.workloads.specification import Specification, Time, mistake, mistakes_at

DOCS: Final = "docs/how-to/find-weaknesses.md"
SamplerName = Literal["tpe", "random"]
Direction = Literal["least", "most"]
File = TypeVar("File", bound=Specification)


class Aim(Specification):
    """The measure that a search looks at, its transport, and the bound of a finding."""

    metric: Annotated[str, Field(min_length=1, max_length=100)]
    """A measure of the report; `rogue list measures` has them."""
    direction: Direction | None = None
    """Which end counts as broken; by default the one that is worse for the transport."""
    bound: float | None = None
    """A finding is no better than that, in the measure's base unit: bit/s, ns, bytes, a fraction; a ratio."""
    transport: str | None = None
    """Name or label of the transport; optional if the experiment has one transport."""
    against: str | None = None
    """Divide by the same measure of this transport, at the same values and seeds."""

    @property
    def text(self) -> str:
        """Return the aim in a few words."""
        whose = f" of {self.transport}" if self.transport else ""
        over = f" over that of {self.against}" if self.against else ""
        return f"{self.direction or 'worst'} {self.metric}{whose}{over}"


class SeedRange(Specification):
    """Consecutive seeds."""

    first: Annotated[int, Field(ge=0, le=SEED_MAX)] = 1
    count: Annotated[int, Field(ge=1, le=100)] = 1

    @property
    def numbers(self) -> range:
        """Return the seeds themselves."""
        return range(self.first, self.first + self.count)


class Seeds(SeedRange):
    """Seeds of the search, and others on which a finding has to hold."""

    held_out_first: Annotated[int, Field(ge=0, le=SEED_MAX)] = 101
    held_out_count: Annotated[int, Field(ge=1, le=100)] = 5

    @property
    def held_out(self) -> range:
        """Return the seeds on which a finding has to hold."""
        return range(self.held_out_first, self.held_out_first + self.held_out_count)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.held_out.start < self.numbers.stop or self.held_out.stop - self.first > REPETITIONS_MAX:
            above = f"seeds above {self.numbers.stop - 1}"
            expected = f"{above} that end at most {REPETITIONS_MAX} above {self.first}"
            raise mistakes_at({"held_out_first": mistake(expected, "write 101 for the first")})
        return self


class Budget(Specification):
    """Limits of a search, for each sampler separately."""

    cells: Annotated[int, Field(ge=1, le=50_000)]
    """Cells that run, or have run before."""
    for_ns: Time = 3600 * 10**9
    """Real time, after which no new batch begins."""
    batch: Annotated[int, Field(ge=1, le=1000)] = 4
    """Values that are drawn before their results are known; further workers are idle."""
    cell_ns: Time = 60 * 10**9
    """Values of which a cell should take longer than this on one core are left out."""
    shrink: Annotated[int, Field(ge=0, le=10_000)] = 16
    """How often a finding is made simpler and tried again."""


class RangeFile(Specification):
    """The ranges of a space, or of a sensitivity analysis."""

    keys: Annotated[dict[str, Range], Field(min_length=1, max_length=64)]
    """A range per key of the experiment."""
    sampler_seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 1
    """Seed of the points that are drawn, and of nothing else."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        for key in self.keys:
            path = parse_path(key)
            if path is None or path[0] not in FACTOR_ROOTS or len(path) < 2:
                expected = f"dotted keys that start with {', '.join(FACTOR_ROOTS)}"
                found = mistake(expected, "write for example workload.senders", repr(key))
                raise mistakes_at({"keys": found})
        return self


class Space(RangeFile):
    """The whole file."""

    aim: Aim | None = None
    seeds: Seeds = Field(default_factory=Seeds)
    budget: Budget


class Request(BaseModel):
    """The file of ranges and the options of a command; the experiment is in the manifest."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    file: str
    sha256: str
    data: dict[str, JsonValue]
    claims: tuple[str, ...] = ()
    has_baseline: bool = True

    @property
    def document(self) -> Document:
        """Return the file as it was written."""
        return Document(self.file, self.sha256, self.data, {})


def check_file(document: Document, kind: type[File]) -> File:
    """Check a file of this kind; ConfigError with a sentence per mistake."""
    try:
        return kind.model_validate(document.data)
    except ValidationError as error:
        raise ConfigError(find_problems(error, document)) from error


def read_file(file: str, kind: str) -> Document:
    """Read a file of some kind, unchecked; a ConfigError names this kind instead of an experiment."""
    try:
        return read_document(file)
    except ConfigError as error:
        raise ConfigError([_named(each, kind) for each in error.problems]) from error


def _named(problem: Problem, kind: str) -> Problem:
    advice = f"{DOCS} shows one" if "experiment" in problem.advice else problem.advice
    return replace(problem, expected=problem.expected.replace("experiment", kind), advice=advice)
