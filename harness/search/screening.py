"""A screening from its first point to its effects: run all trajectories, then ask every question of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rogue.harness.experiment.choices import Scalar
from rogue.harness.search.asked import Asked
from rogue.harness.search.bench import Measured
from rogue.harness.search.morris import Effect, Point, Step, effect_of, sample, steps_of
from rogue.harness.search.question import Question
from rogue.harness.search.variation import Variation


@dataclass(frozen=True, slots=True)
class Moved:
    """What moving one key did."""

    key: str
    effect: Effect | None
    """None if no step had numbers at both of its ends."""
    turned: int | None
    """In how many steps the claim held at one end alone; None without a claim."""
    judged: int
    """Of how many."""


@dataclass(frozen=True, slots=True)
class Screened:
    """What came of one question; keys that move its number most come first."""

    asked: Asked
    moved: list[Moved]
    measured: list[Measured]
    """Of each point, in the order of the trajectories."""

    @property
    def held(self) -> int:
        """Return at how many points the claim held."""
        return sum(self.asked.verdict(each) is True for each in self.measured)

    @property
    def question(self) -> Question:
        """What was asked."""
        return self.asked.question


def screen(
    asked: Sequence[Asked], variation: Variation, on_point: Callable[[Question, Measured], None]
) -> list[Screened]:
    """Run the cells of all trajectories, one after the other, and work the effects out."""
    keys = list(variation.keys)
    points = points_of(variation)
    values = [values_at(point, variation) for point in points]
    length, found = len(keys) + 1, []
    for each in asked:
        measured: list[Measured] = []
        for start in range(0, len(values), length):
            measured += each.measure(values[start : start + length], variation.seeds.numbers)
            for one in measured[start:]:
                on_point(each.question, one)
        found.append(Screened(each, _moved(each, keys, points, measured), measured))
    return found


def points_of(variation: Variation) -> list[Point]:
    """Return the points of all trajectories, one after the other."""
    return sample(len(variation.keys), variation.trajectories, variation.levels, variation.sampler_seed)


def values_at(point: Point, variation: Variation) -> dict[str, Scalar]:
    """Return what is written at each key."""
    return {key: each.at(share) for (key, each), share in zip(variation.keys.items(), point, strict=True)}


def _moved(
    asked: Asked, keys: Sequence[str], points: Sequence[Point], measured: Sequence[Measured]
) -> list[Moved]:
    steps = steps_of(points)
    numbers = [each.by_seed for each in measured]
    verdicts = [asked.verdict(each) for each in measured]
    found = []
    for place, key in enumerate(keys):
        own = [step for step in steps if step.key == place]
        turned, judged = _turned(own, verdicts)
        found.append(
            Moved(key, effect_of(place, own, numbers), turned if asked.question.holds else None, judged)
        )
    return sorted(found, key=lambda each: -1.0 if each.effect is None else each.effect.size, reverse=True)


def _turned(steps: Sequence[Step], verdicts: Sequence[bool | None]) -> tuple[int, int]:
    """Return in how many steps the verdicts of both ends differ, and how many steps have two."""
    pairs = [(verdicts[step.before], verdicts[step.after]) for step in steps]
    judged = [pair for pair in pairs if None not in pair]
    return sum(before is not after for before, after in judged), len(judged)
