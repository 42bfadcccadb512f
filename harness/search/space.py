"""Read the files of a search and of an analysis: ranges of keys, the aim, the seeds and the budget."""

import math
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from rogue.harness.errors import ConfigError, Problem
from rogue.harness.experiment.choices import Parameter, Scalar
from rogue.harness.experiment.document import Document, parse_path, read_document
from rogue.harness.experiment.load import FACTOR_ROOTS, find_problems
from rogue.harness.experiment.model import REPETITIONS_MAX, SEED_MAX
from rogue.workloads.specification import FromList, Specification, Time, mistake, mistakes_at
from rogue.workloads.units import RATE, SIZE, TIME, Quantity, UnitError

if TYPE_CHECKING:
    import optuna

DOCS: Final = "docs/how-to/find-weaknesses.md"
SamplerName = Literal["tpe", "random"]
Direction = Literal["least", "most"]
File = TypeVar("File", bound=Specification)
DIGITS: Final = 2
"""Significant digits of a drawn value, so that it is easy to read."""
WIDE: Final = 0.5
"""A range that is at least this wide, as a share of its greater end, needs no more digits."""
STEPS_MIN: Final = 10
"""A narrow range has digits for at least this many values."""


class Range(Specification):
    """The values that a search may write at one key of the experiment, and the source of the bounds."""

    from_: Annotated[Parameter | None, Field(alias="from")] = None
    """The least value: a quantity with its unit, or a number."""
    to: Parameter | None = None
    """The greatest value, of the same kind."""
    choices: Annotated[tuple[Parameter, ...], FromList, Field(min_length=2, max_length=1000)] | None = None
    """Instead of a range: single values."""
    scale: Literal["linear", "log"] = "linear"
    """`log`: each factor of ten is as likely as the next."""
    unit: Annotated[str, Field(min_length=1, max_length=40)] | None = None
    """Unit of plain numbers, such as `packets`; quantities have their own."""
    source: Annotated[str, Field(min_length=1, max_length=300)]
    """Where the bounds come from: a document, a device, or an assumption."""
    shrink: Literal["from", "to", "none"] = "none"
    """The end towards which a finding is made simpler; the experiment's own value is always tried."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        ends = (self.from_, self.to)
        if (self.choices is None) is (None in ends) or (self.choices is not None and ends != (None, None)):
            at = "choices" if self.choices is not None else "from" if self.from_ is None else "to"
            raise mistakes_at({at: mistake("from and to, or choices", "write one of the two")})
        if self.choices is not None:
            if self.shrink != "none":
                raise mistakes_at({"shrink": mistake("none, because choices have no end", "leave it out")})
            return self
        low, high = self._ends
        if not low < high:
            raise mistakes_at({"to": mistake("a value above from", "raise it")})
        if self.scale == "log" and low <= 0:
            raise mistakes_at({"from": mistake("a value above zero, because the scale is log", "raise it")})
        if self.quantity is None and self.unit is None:
            found = mistake("the unit of the numbers, such as packets", "add it", "nothing")
            raise mistakes_at({"unit": found})
        return self

    @cached_property
    def quantity(self) -> Quantity | None:
        """Return the kind of both ends; None for numbers and choices."""
        if not isinstance(self.from_, str) and not isinstance(self.to, str):
            return None
        for quantity in (SIZE, RATE, TIME):
            with suppress(UnitError):
                for end in (self.from_, self.to):
                    quantity.parse(end)
                return quantity
        expected = "two sizes, two rates, two times or two numbers"
        raise mistakes_at({"to": mistake(expected, "write both ends in the same kind of unit")})

    @cached_property
    def _ends(self) -> tuple[float, float]:
        """Return both ends in the base unit."""
        low, high = self.from_, self.to
        if self.quantity is not None:
            return float(self.quantity.parse(low)), float(self.quantity.parse(high))
        if isinstance(low, bool | str | None) or isinstance(high, bool | str | None):
            raise mistakes_at({"to": mistake("two numbers, or two quantities with units", "correct them")})
        return float(low), float(high)

    @property
    def distribution(self) -> "optuna.distributions.BaseDistribution":
        """Return what Optuna draws from: choices, or numbers in the base unit."""
        from optuna.distributions import CategoricalDistribution, FloatDistribution

        if self.choices is not None:
            return CategoricalDistribution(self.choices)
        return FloatDistribution(*self._ends, log=self.scale == "log")

    def written(self, drawn: Scalar) -> Scalar:
        """Return a value that Optuna drew as the experiment file has it."""
        if self.choices is not None:
            return drawn
        value, (low, high) = float(drawn), self._ends
        if isinstance(self.from_, int) and isinstance(self.to, int):
            return round(value)
        if value not in (low, high):
            value = min(high, max(low, float(f"{value:.{_digits(low, high)}g}")))
        return value if self.quantity is None else self.quantity.format(round(value))

    def at(self, share: float) -> Scalar:
        """Return the value at a share of the range, 0 to 1, as the experiment file has it."""
        if self.choices is not None:
            return self.choices[min(int(share * len(self.choices)), len(self.choices) - 1)]
        low, high = self._ends
        if share in (0.0, 1.0):  # exactly, despite the logarithm's rounding
            return self.written(high if share else low)
        is_log = self.scale == "log"
        return self.written(low * (high / low) ** share if is_log else low + (high - low) * share)

    def share_of(self, written: Scalar) -> float | None:
        """Return the position of a value in the range, 0 to 1; None if it is outside."""
        if self.choices is not None:
            return self.choices.index(written) / (len(self.choices) - 1) if written in self.choices else None
        low, high = self._ends
        try:
            value = float(self.quantity.parse(written)) if self.quantity else float(written)
        except ValueError:
            return None
        if not low <= value <= high:
            return None
        is_log = self.scale == "log"
        return math.log(value / low) / math.log(high / low) if is_log else (value - low) / (high - low)

    @property
    def text(self) -> str:
        """Return the values in words."""
        if self.choices is not None:
            return f"one of {', '.join(map(str, self.choices))}"
        return f"{self.from_} to {self.to}{f' {self.unit}' if self.unit else ''}, {self.scale}"


def _digits(low: float, high: float) -> int:
    """Return the number of significant digits that distinguish values of a range."""
    width, greater = high - low, max(abs(low), abs(high))
    if width >= WIDE * greater:
        return DIGITS
    return math.floor(math.log10(greater)) - math.floor(math.log10(width / STEPS_MIN)) + 1


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
    """The whole file of a search."""

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

    def named(problem: Problem) -> Problem:
        advice = f"{DOCS} shows one" if "experiment" in problem.advice else problem.advice
        return replace(problem, expected=problem.expected.replace("experiment", kind), advice=advice)

    try:
        return read_document(file)
    except ConfigError as error:
        raise ConfigError([named(each) for each in error.problems]) from error
