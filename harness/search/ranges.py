"""What a search may write at a key: a range of quantities or numbers, or a list of choices."""

import math
from functools import cached_property
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from rogue.harness.experiment.choices import Parameter, Scalar
from rogue.workloads.specification import FromList, Specification, mistake, mistakes_at
from rogue.workloads.units import RATE, SIZE, TIME, Quantity, UnitError

DIGITS: Final = 2
"""Significant digits of a quantity or a fraction that is drawn, so that a person can read it."""
WIDE: Final = 0.5
"""A range that is at least so wide, in parts of its greater end, needs no more digits than that."""
STEPS_MIN: Final = 10
"""In a narrow range, digits are enough to tell so many values apart."""
_QUANTITIES: Final = (SIZE, RATE, TIME)


class Range(Specification):
    """The values that a search may write at one key of the experiment, drawn without knowledge."""

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
    """Why these bounds: a document, a device, or that nobody knows."""
    shrink: Literal["from", "to", "none"] = "none"
    """Towards which end a find is made simpler; what the experiment itself says is always tried."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.choices is not None:
            self._check_choices()
        elif self.from_ is None or self.to is None:
            missing = "from" if self.from_ is None else "to"
            raise mistakes_at(
                {missing: mistake("from and to, or choices", "write one of the two", "nothing")}
            )
        else:
            self._check_bounds()
        return self

    def _check_choices(self) -> None:
        if self.from_ is not None or self.to is not None:
            raise mistakes_at({"choices": mistake("from and to, or choices", "write one of the two")})
        if self.shrink != "none":
            raise mistakes_at({"shrink": mistake("none, for choices have no end", "leave it out")})

    def _check_bounds(self) -> None:
        low, high = self._ends
        if not low < high:
            raise mistakes_at({"to": mistake("a value above from", "raise it")})
        if self.scale == "log" and low <= 0:
            raise mistakes_at({"from": mistake("a value above zero, for the scale is log", "raise it")})
        if self.quantity is None and self.unit is None:
            found = mistake("the unit of the numbers, such as packets", "add it", "nothing")
            raise mistakes_at({"unit": found})

    @cached_property
    def quantity(self) -> Quantity | None:
        """The kind of both ends; None for numbers and choices."""
        if isinstance(self.from_, str) or isinstance(self.to, str):
            for quantity in _QUANTITIES:
                if all(_is_of(quantity, end) for end in (self.from_, self.to)):
                    return quantity
            expected = "two sizes, two rates, two times or two numbers"
            raise mistakes_at({"to": mistake(expected, "write both ends in the same kind of unit")})
        return None

    @cached_property
    def _ends(self) -> tuple[float, float]:
        """Both ends in the base unit."""
        ends = (self.from_, self.to)
        if self.quantity is not None:
            low, high = (float(self.quantity.parse(end)) for end in ends)
            return low, high
        if not all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends):
            raise mistakes_at({"to": mistake("two numbers, or two quantities with units", "correct them")})
        return float(str(self.from_)), float(str(self.to))

    def at(self, share: float) -> Scalar:
        """Return the value at a share of the way from one end to the other, 0 to 1, as a file has it.

        Each of several choices has the same part of the way.
        """
        if self.choices is not None:
            return self.choices[min(int(share * len(self.choices)), len(self.choices) - 1)]
        low, high = self._ends
        is_log = self.scale == "log"
        value = low * (high / low) ** share if is_log else low + (high - low) * share
        ends = {0.0: low, 1.0: high}  # as they are, whatever the arithmetic makes of them
        return self._written(ends.get(share, value), low, high)

    def share_of(self, written: Scalar) -> float:
        """Return how far on the way from one end to the other a value stands."""
        low, high = self._ends
        value = float(self.quantity.parse(written)) if self.quantity else float(written)
        share = (
            math.log(value / low) / math.log(high / low)
            if self.scale == "log"
            else (value - low) / (high - low)
        )
        return min(1.0, max(0.0, share))

    def _written(self, value: float, low: float, high: float) -> Scalar:
        if all(isinstance(end, int) for end in (self.from_, self.to)):
            return round(value)
        if value not in (low, high):
            value = min(high, max(low, float(f"{value:.{_digits(low, high)}g}")))
        return value if self.quantity is None else self.quantity.format(round(value))


def _digits(low: float, high: float) -> int:
    """Return how many significant digits tell the values of a range apart."""
    width, greater = high - low, max(abs(low), abs(high))
    if width >= WIDE * greater:
        return DIGITS
    return math.floor(math.log10(greater)) - math.floor(math.log10(width / STEPS_MIN)) + 1


def _is_of(quantity: Quantity, end: object) -> bool:
    try:
        quantity.parse(end)
    except UnitError:
        return False
    return True
