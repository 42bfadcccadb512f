"""Simplify a finding, and find the smallest change that flips a claim."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Final

from rogue.harness.experiment.choices import Scalar
from rogue.harness.search.asked import Asked
from rogue.harness.search.axis import Axis
from rogue.harness.search.bench import Measured
from rogue.harness.search.screening import Screened
from rogue.harness.search.space import Space

HALVINGS: Final = 3
"""How often the way between a value and the simple end of its range is halved."""

Values = Mapping[str, Scalar]


def simplest(values: Values, space: Space, holds: Callable[[Values], bool]) -> Values:
    """Return the simplest values for which `holds` is true: `values` themselves if nothing is simpler.

    First each key goes back to what the experiment says, or to its default. Then what is left is moved
    towards the simple end of its range. The budget says how often `holds` may be asked.
    """
    left = space.budget.shrink
    now = dict(values)
    for tried in _tries(now, space):
        for candidate in tried:
            if left == 0:
                return now
            left -= 1
            if holds(candidate):
                now.clear()
                now.update(candidate)
                break
    return now


def _tries(now: dict[str, Scalar], space: Space) -> Iterator[list[dict[str, Scalar]]]:
    """Yield for each key what to try in turn until something holds; `now` is what has held last."""
    for key in list(now):
        if len(now) > 1:
            yield [{other: value for other, value in now.items() if other != key}]
    for key in list(now):
        if key in now and space.keys[key].shrink != "none":
            yield [{**now, key: value} for value in _smaller(space, key, now[key])]


def _smaller(space: Space, key: str, value: Scalar) -> list[Scalar]:
    """Return values between one and the simple end of its range, the simplest first."""
    each = space.keys[key]
    share, end = each.share_of(value), 0.0 if each.shrink == "from" else 1.0
    found = [each.at(end + (share - end) * (1 - 0.5**halvings)) for halvings in range(HALVINGS + 1)]
    return [one for one in dict.fromkeys(found) if one != value]


RESOLUTION: Final = 1 / 32
"""A change is halved until it is known to this share of a range."""
_KEYS_MAX: Final = 2


@dataclass(frozen=True, slots=True)
class Change:
    """One key that was moved."""

    key: str
    before: Scalar
    after: Scalar
    share: float
    """By how much of its range."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Values at which a claim turns."""

    changes: tuple[Change, ...]
    measured: Measured

    @property
    def size(self) -> float:
        """Return how far the keys were moved together, in shares of their ranges."""
        return sum(each.share for each in self.changes)


@dataclass(frozen=True, slots=True)
class Flip:
    """What came of looking for a turn."""

    own: Measured
    held: bool | None
    """Whether the claim holds at the experiment's own values; None without a number there."""
    turn: Turn | None
    tried: list[Measured]
    """Points that were tried, beside the experiment itself."""
    again: int = 0
    """On how many of the held-out seeds it turns as well."""


@dataclass(slots=True)
class _Search:
    """Points that may still be tried, and the smallest turn so far."""

    asked: Asked
    seeds: range
    held: bool
    left: int
    best: Turn | None = None
    tried: list[Measured] = field(default_factory=list)

    def turns(self, line: "_Line", part: float) -> bool:
        """Try a point on a line; remember it if it turns the claim by less than all before."""
        self.left -= 1
        changes = line.changes(part)
        (measured,) = self.asked.measure([{each.key: each.after for each in changes}], self.seeds)
        self.tried.append(measured)
        is_turned = self.asked.verdict(measured) is (not self.held)
        if is_turned:
            self.keep(Turn(changes, measured))
        return is_turned

    def keep(self, turn: Turn) -> None:
        """Remember a turn if it is smaller than all before."""
        if self.best is None or turn.size < self.best.size:
            self.best = turn

    def follow(self, line: "_Line", least_left: int) -> None:
        """Try the end of a line, and halve the way to it if the claim turns there."""
        if self.best is not None:
            line = line.shortened(self.best.size)
        if self.left <= least_left or not line.changes(1.0) or not self.turns(line, 1.0):
            return
        low, high = 0.0, 1.0
        while self.left > 0 and (high - low) * line.length > RESOLUTION:
            middle = (low + high) / 2
            if line.changes(middle) in (line.changes(low), line.changes(high)):
                break
            low, high = (low, middle) if self.turns(line, middle) else (middle, high)


@dataclass(frozen=True, slots=True)
class _Line:
    """A straight way from the experiment's own values, along one or two keys."""

    axes: tuple[Axis, ...]
    reach: tuple[float, ...]
    """How far each of them goes, as a share of its range, with a sign."""

    @property
    def length(self) -> float:
        return sum(map(abs, self.reach))

    def shortened(self, size: float) -> "_Line":
        """Return the same way, ending just before a change of this size."""
        part = (size - RESOLUTION) / self.length if self.length else 0.0
        return self if part >= 1 else _Line(self.axes, tuple(max(0.0, part) * each for each in self.reach))

    def changes(self, part: float) -> tuple[Change, ...]:
        """Return what is written after a part of the way, where it is not the experiment's own."""
        found = []
        for axis, reach in zip(self.axes, self.reach, strict=True):
            value = axis.at(min(1.0, max(0.0, axis.start + part * reach)))
            if axis.distance_to(value) > 0:
                found.append(Change(axis.key, axis.own, value, axis.distance_to(value)))
        return tuple(found)


def find_flip(screened: Screened, axes: Sequence[Axis], points: int, seeds: range) -> Flip:
    """Look for the smallest change with so many points; `axes` has keys that move the number most first.

    Points that ran anyway count where they differ from the experiment in two keys at most.
    """
    asked = screened.asked
    (own,) = asked.measure([{}], seeds)
    held = asked.verdict(own)
    if held is None:
        return Flip(own, None, None, [])
    search = _Search(asked, seeds, held, points)
    for measured in screened.measured:
        changes = _changes_to(measured, axes)
        if len(changes) <= _KEYS_MAX and asked.verdict(measured) is (not held):
            search.keep(Turn(changes, measured))
    for line in _lines(axes, 1):
        search.follow(line, 0 if search.best is not None else points // 2)
    if search.best is None:
        for line in _lines(axes, 2):
            search.follow(line, 0)
    return Flip(own, held, search.best, search.tried)


def turns_again(asked: Asked, turn: Turn, held: bool, seeds: range) -> int:
    """Return on how many seeds a claim says at the experiment what it said, and otherwise where it turned."""
    points = [{}, {each.key: each.after for each in turn.changes}]
    measured = asked.measure(points, seeds)
    here, there = ([asked.verdict_of(value) for value in each.by_seed] for each in measured)
    return sum(one is held and other is (not held) for one, other in zip(here, there, strict=False))


def _lines(axes: Sequence[Axis], keys: int) -> Iterator[_Line]:
    """Yield the ways to the ends of each key, or to the corners of each pair; leading keys first."""
    for some in combinations(axes, keys):
        for ends in product((1.0, 0.0), repeat=keys):
            reach = tuple(end - axis.start for end, axis in zip(ends, some, strict=True))
            if all(reach):
                yield _Line(some, reach)


def _changes_to(measured: Measured, axes: Sequence[Axis]) -> tuple[Change, ...]:
    pairs = [(axis, measured.values.get(axis.key, axis.own)) for axis in axes]
    return tuple(
        Change(axis.key, axis.own, value, axis.distance_to(value))
        for axis, value in pairs
        if axis.distance_to(value) > 0
    )
