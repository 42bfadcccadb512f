"""One key as a line from one end of its range to the other, with the place of the experiment's own value."""

from collections.abc import Mapping
from dataclasses import dataclass

from rogue.harness.errors import UsageError
from rogue.harness.experiment.choices import Scalar
from rogue.harness.search.base import Base
from rogue.harness.search.ranges import Range


@dataclass(frozen=True, slots=True)
class Axis:
    """A key whose own value lies within its range."""

    key: str
    range: Range
    own: Scalar
    """What the experiment itself says."""
    start: float
    """Where that lies, 0 to 1."""

    def at(self, share: float) -> Scalar:
        """Return the value at a share of the way; several choices divide it into equal steps."""
        choices = self.range.choices
        return self.range.at(share) if choices is None else choices[round(share * (len(choices) - 1))]

    def distance_to(self, value: Scalar) -> float:
        """Return how far a value lies from the own one, as a share of the range."""
        place = place_of(self.range, value)
        assert place is not None, "it was drawn from the range"
        return abs(place - self.start)


def place_of(each: Range, value: Scalar) -> float | None:
    """Return how far on the way from one end to the other a value stands; None outside, or if it is none."""
    if each.choices is not None:
        return each.choices.index(value) / (len(each.choices) - 1) if value in each.choices else None
    try:
        share = each.share_of(value)
    except ValueError:
        return None
    if 0 < share < 1:
        return share
    end, quantity = each.at(share), each.quantity
    is_end = end == value if quantity is None else quantity.parse(end) == quantity.parse(value)
    return share if is_end else None


def axes_of(keys: Mapping[str, Range], base: Base) -> list[Axis]:
    """Return an axis per key; UsageError where the experiment says nothing within the range."""
    return [_axis(key, each, base) for key, each in keys.items()]


def _axis(key: str, each: Range, base: Base) -> Axis:
    own = base.own_value(key)
    start = place_of(each, own)
    if start is None:
        ends = each.choices or (each.from_, each.to)
        got = f"sensitivity: got {own} at {key} in {base.document.file}"
        expected = f"a value from {ends[0]} to {ends[-1]}, from which a change can be measured"
        raise UsageError(f"{got}, expected {expected}; write it there, widen the range, or leave out flip.")
    return Axis(key, each, own, start)
