"""Define the range of a key (two quantities, two numbers, or choices), and simplify values in ranges."""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self, TypeGuard

from pydantic import Field, model_validator

from rogue.harness.experiment.choices import Parameter, Scalar
from rogue.workloads.specification import FromList, Specification, mistake, mistakes_at
from rogue.workloads.units import RATE, SIZE, TIME, Quantity, UnitError

if TYPE_CHECKING:
    import optuna

Values = Mapping[str, Scalar]
"""Values by dotted key of the experiment."""
DIGITS: Final = 2
"""Significant digits of a value that is drawn, so that it is easy to read."""
WIDE: Final = 0.5
"""A range that is at least this wide, in parts of its greater end, needs no more digits."""
STEPS_MIN: Final = 10
"""A narrow range has digits for at least this many values."""
HALVINGS: Final = 3
"""How often the distance between a value and the simple end of its range is halved."""


class Range(Specification):
    """The values that a search may write at one key of the experiment, and where the bounds come from."""

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
        if not _is_number(low) or not _is_number(high):
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
    """Return how many significant digits tell the values of a range apart."""
    width, greater = high - low, max(abs(low), abs(high))
    if width >= WIDE * greater:
        return DIGITS
    return math.floor(math.log10(greater)) - math.floor(math.log10(width / STEPS_MIN)) + 1


def _is_number(end: object) -> TypeGuard[int | float]:
    return isinstance(end, int | float) and not isinstance(end, bool)


def shrink(
    values: Values,
    ranges: Mapping[str, Range],
    ends: Mapping[str, float],
    holds: Callable[[Values], bool],
    tries: int,
) -> dict[str, Scalar]:
    """Return the simplest values at which `holds` is true: `values` themselves if nothing simpler is found.

    First each key is removed, which leaves it as the experiment has it. Then the others are moved towards
    their simple end, a share of the range from 0 to 1. `holds` is called at most `tries` times.
    """
    now = dict(values)
    for candidates in _simpler(now, ranges, ends):
        for candidate in candidates:
            if tries == 0:
                return now
            tries -= 1
            if holds(candidate):
                now.clear()
                now.update(candidate)
                break
    return now


def _simpler(
    now: dict[str, Scalar], ranges: Mapping[str, Range], ends: Mapping[str, float]
) -> Iterator[list[dict[str, Scalar]]]:
    """Yield the candidates of each key, the simplest first; the caller updates `now` in between."""
    for key in list(now):
        if len(now) > 1:
            yield [{other: value for other, value in now.items() if other != key}]
    for key in [key for key in now if key in ends]:
        share, end = ranges[key].share_of(now[key]), ends[key]
        if share is not None:
            tried = [
                ranges[key].at(end + (share - end) * (1 - 0.5**halved)) for halved in range(HALVINGS + 1)
            ]
            yield [{**now, key: value} for value in dict.fromkeys(tried) if value != now[key]]
