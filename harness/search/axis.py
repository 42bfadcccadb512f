"""One key as a line from one end of its range to the other, with the place of the experiment's own value."""

from collections.abc import Mapping
from dataclasses import dataclass

from rogue.harness.errors import UsageError
from rogue.harness.experiment.choices import Scalar
from rogue.harness.search.base import Base
from rogue.harness.search.ranges import Range
from rogue.workloads.units import UnitError


@dataclass(frozen=True, slots=True)
class Axis:
    """A key whose own value lies within its range."""

    key: str
    range: Range
    own: Scalar
    """What the experiment itself says."""

    @property
    def start(self) -> float:
        """Where the own value lies, 0 to 1."""
        return self.share_of(self.own)

    def at(self, share: float) -> Scalar:
        """Return the value at a share of the way; several choices divide it into equal steps."""
        if self.range.choices is not None:
            return self.range.choices[round(share * (len(self.range.choices) - 1))]
        return self.range.at(share)

    def share_of(self, value: Scalar) -> float:
        """Return how far on the way from one end to the other a value stands."""
        if self.range.choices is not None:
            return self.range.choices.index(value) / (len(self.range.choices) - 1)
        return self.range.share_of(value)


def axes_of(keys: Mapping[str, Range], base: Base) -> list[Axis]:
    """Return an axis per key; UsageError where the experiment says nothing within the range."""
    return [_axis(key, each, base) for key, each in keys.items()]


def _axis(key: str, each: Range, base: Base) -> Axis:
    axis = Axis(key, each, base.own_value(key))
    try:
        is_within = axis.at(axis.start) == axis.own or 0 < axis.start < 1
    except (ValueError, UnitError):
        is_within = False
    if not is_within:
        ends = each.choices or (each.from_, each.to)
        got = f"sensitivity: got {axis.own} at {key} in {base.document.file}"
        expected = f"a value between {ends[0]} and {ends[-1]}, from which a change can be measured"
        raise UsageError(f"{got}, expected {expected}; write it there, widen the range, or leave out flip.")
    return axis
