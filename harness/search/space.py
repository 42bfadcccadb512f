"""Read the files that say what a search or screening varies."""

from collections.abc import Iterable
from typing import Annotated, Final, Literal, Self

from pydantic import Field, ValidationError, model_validator

from rogue.harness.errors import ConfigError
from rogue.harness.experiment.document import Document
from rogue.harness.experiment.load import FACTOR_ROOTS, find_problems
from rogue.harness.experiment.model import REPETITIONS_MAX, SEED_MAX
from rogue.harness.experiment.settings import parse_path
from rogue.harness.search.ranges import Range
from rogue.harness.search.record import read_as
from rogue.workloads.specification import Specification, Time, mistake, mistakes_at

SamplerName = Literal["tpe", "cmaes", "nsga2", "random"]
RANDOM: Final[SamplerName] = "random"
TWO_AIMS: Final[tuple[SamplerName, ...]] = ("nsga2", RANDOM)
"""Samplers that know what to do with two aims."""
Direction = Literal["least", "most"]


class Aim(Specification):
    """What is looked for, and what counts as a find."""

    metric: Annotated[str, Field(min_length=1, max_length=100)]
    """A measure of the report; `rogue list measures` has them."""
    direction: Direction | None = None
    """Which end is looked for; by default the one that is worse for the transport."""
    bound: float | None = None
    """A find is no better than that, in the measure's base unit: bit/s, ns, bytes, a fraction; a ratio."""
    transport: str | None = None
    """Whose measure it is, by name or label; may be left out where the experiment has one transport."""
    against: str | None = None
    """Divide by the same measure of this transport, at the same values and seeds."""

    @property
    def text(self) -> str:
        """Return the aim in a few words."""
        words = [self.direction or "worst", self.metric]
        words += ["of", self.transport] if self.transport else []
        words += ["over that of", self.against] if self.against else []
        return " ".join(words)


class SecondAim(Specification):
    """What is looked for at the same time, of the same transports."""

    metric: Annotated[str, Field(min_length=1, max_length=100)]
    direction: Direction | None = None
    bound: float | None = None
    """With one, a find is no better than that either."""


class SeedRange(Specification):
    """Seeds that follow each other."""

    first: Annotated[int, Field(ge=0, le=SEED_MAX)] = 1
    count: Annotated[int, Field(ge=1, le=100)] = 1
    """How many: a value of a search counts with the seed at which it looks least like a find."""

    @property
    def numbers(self) -> range:
        """Return the seeds themselves."""
        return range(self.first, self.first + self.count)


class Seeds(SeedRange):
    """Seeds of the search, and others on which a find has to hold."""

    held_out_first: Annotated[int, Field(ge=0, le=SEED_MAX)] = 101
    held_out_count: Annotated[int, Field(ge=1, le=100)] = 5

    @property
    def held_out(self) -> range:
        """Return the seeds on which a find has to hold."""
        return range(self.held_out_first, self.held_out_first + self.held_out_count)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.held_out_first < self.first + self.count:
            found = mistake("a seed above all that the search sees", "raise it")
            raise mistakes_at({"held_out_first": found})
        if self.held_out.stop - self.first > REPETITIONS_MAX:  # each seed is a repetition, counted from first
            expected = f"held-out seeds that end at most {REPETITIONS_MAX} above first, {self.first}"
            raise mistakes_at({"held_out_first": mistake(expected, "lower it, or raise first")})
        return self


class Budget(Specification):
    """When a search ends, each sampler on its own."""

    cells: Annotated[int, Field(ge=1, le=50_000)]
    """Cells that run, or have run before, with values that can be."""
    for_ns: Time = 3600 * 10**9
    """Real time, after which no new batch begins."""
    batch: Annotated[int, Field(ge=1, le=1000)] = 4
    """Values that are drawn before their results are told; more workers than cells of a batch are idle.

    A value has a cell for each transport that is compared and each seed.
    """
    cell_ns: Time = 60 * 10**9
    """Values of which a cell should take longer than this on one core are left out."""
    shrink: Annotated[int, Field(ge=0, le=10_000)] = 16
    """How often a find is made simpler and tried again."""


class Space(Specification):
    """The whole file."""

    aim: Aim | None = None
    also: SecondAim | None = None
    """A second aim: of two that pull apart there is a front, which NSGA-II looks for."""
    keys: Annotated[dict[str, Range], Field(min_length=1, max_length=64)]
    """A range per key of the experiment."""
    seeds: Seeds = Field(default_factory=Seeds)
    budget: Budget
    sampler: SamplerName = "tpe"
    sampler_seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 1
    """Seed of the sampler alone."""

    def samplers(self, *, has_baseline: bool) -> list[SamplerName]:
        """Return who proposes values, in that order; random values are a baseline for all but themselves."""
        return [self.sampler, RANDOM] if has_baseline and self.sampler != RANDOM else [self.sampler]

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_keys(self.keys)
        if self.also is not None and self.sampler not in TWO_AIMS:
            found = mistake(f"{' or '.join(TWO_AIMS)}, for there are two aims", "write sampler: nsga2")
            raise mistakes_at({"sampler": found})
        return self


def check_keys(keys: Iterable[str]) -> None:
    """Blame what is no key of an experiment that may vary."""
    for key in keys:
        path = parse_path(key)
        if path is None or path[0] not in FACTOR_ROOTS or len(path) < 2:
            expected = f"dotted keys that start with {', '.join(FACTOR_ROOTS)}"
            found = mistake(expected, "write for example workload.senders", repr(key))
            raise mistakes_at({"keys": found})


def read_space(file: str) -> Space:
    """Read a space file; ConfigError with a sentence per mistake."""
    return check_space(read_space_document(file))


def read_space_document(file: str) -> Document:
    """Read a space file before it is checked."""
    return read_as(file, "space file", "`rogue list spaces` has some to start from")


def check_space(document: Document) -> Space:
    """Check what a space file says."""
    try:
        return Space.model_validate(document.data)
    except ValidationError as error:
        raise ConfigError(find_problems(error, document)) from error


class SobolPlan(Specification):
    """Sobol indices of the keys that a screening leaves."""

    keys: Annotated[int, Field(ge=2, le=16)] = 3
    """Of how many keys, those that moved a number most; all others stay as the experiment has them."""
    samples: Annotated[int, Field(ge=4, le=4096)] = 64
    """A power of two; there are two points more than keys for each of them."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.samples.bit_count() != 1:
            raise mistakes_at({"samples": mistake("a power of two", "write 64")})
        return self

    @property
    def points(self) -> int:
        """Return how many points it takes."""
        return self.samples * (self.keys + 2)


class Variation(Specification):
    """The whole file."""

    measures: Annotated[list[str], Field(max_length=32)] = Field(default_factory=list)
    """Measures of the report, beside those of the claims that are named."""
    transport: str | None = None
    """Whose measures they are; may be left out where the experiment has one transport."""
    keys: Annotated[dict[str, Range], Field(min_length=1, max_length=64)]
    """A range per key of the experiment."""
    trajectories: Annotated[int, Field(ge=1, le=1000)] = 4
    """How often each key is moved."""
    levels: Annotated[int, Field(ge=2, le=64)] = 4
    """Into how many values a range is divided, an even number; a step is half of the range or more."""
    seeds: SeedRange = Field(default_factory=SeedRange)
    """A step compares the same seed at both of its ends."""
    cell_ns: Time = 60 * 10**9
    """Values of which a cell should take longer than this on one core are left out."""
    sobol: SobolPlan | None = None
    """For each measure and claim; left out, no indices are worked out."""
    flip: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Points that may be tried for each claim, to find the smallest change that turns it."""
    held_out: SeedRange = Field(default_factory=lambda: SeedRange(first=101, count=3))
    """Seeds on which the smallest change is tried again: a claim may turn with one seed by chance."""
    sampler_seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 1
    """Seed of trajectories and indices alone."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_keys(self.keys)
        seeds, others = self.seeds.numbers, self.held_out.numbers
        if others.start < seeds.stop or others.stop - seeds.start > REPETITIONS_MAX:
            expected = f"seeds above those of the screening, at most {REPETITIONS_MAX} above its first"
            raise mistakes_at({"held_out": mistake(expected, "write {first: 101, count: 3}")})
        if self.levels % 2:
            raise mistakes_at({"levels": mistake("an even number", "write 4")})
        return self


def read_variation_document(file: str) -> Document:
    """Read a file of what varies before it is checked."""
    return read_as(file, "file of what varies", "docs/SEARCH.md says what is in it")


def check_variation(document: Document) -> Variation:
    """Check what a file says; ConfigError with a sentence per mistake."""
    try:
        return Variation.model_validate(document.data)
    except ValidationError as error:
        raise ConfigError(find_problems(error, document)) from error
