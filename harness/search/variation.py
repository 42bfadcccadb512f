"""The file that says what a screening varies, and what it looks at."""

from typing import Annotated, Self

from pydantic import Field, ValidationError, model_validator

from rogue.harness.errors import ConfigError
from rogue.harness.experiment.document import Document
from rogue.harness.experiment.model import REPETITIONS_MAX
from rogue.harness.experiment.problems import find_problems
from rogue.harness.search.ranges import Range
from rogue.harness.search.reading import read_as
from rogue.harness.search.space import SeedRange, check_keys
from rogue.workloads.mistakes import mistake, mistakes_at
from rogue.workloads.specification import Specification, Time


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
