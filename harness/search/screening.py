"""Screen keys by Morris's method and Sobol indices."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from statistics import fmean, stdev

import numpy as np

from rogue.harness.errors import UsageError
from rogue.harness.experiment.choices import Scalar
from rogue.harness.search.asked import Asked
from rogue.harness.search.bench import Measured
from rogue.harness.search.question import Question
from rogue.harness.search.space import Variation

Point = tuple[float, ...]
"""A share of the way from one end to the other for each key."""


@dataclass(frozen=True, slots=True)
class Step:
    """One key moved, all others as they were."""

    key: int
    """Its place."""
    before: int
    """Place of the point from which it was moved."""
    after: int
    length: float
    """By how much, as a share of the range; negative towards its beginning."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What moving one key does, scaled to the whole of its range."""

    mean: float
    """Mu, with its sign."""
    size: float
    """Mu*, the mean of the absolute values, by which keys are ranked."""
    spread: float
    """Sigma: large where the effect depends on the other keys, or on the seed; 0 for one step."""
    steps: int
    """Steps and seeds from which it was worked out."""


def sample(keys: int, trajectories: int, levels: int, seed: int) -> list[Point]:
    """Return the points of all trajectories, one after the other; the same seed gives the same ones."""
    try:
        from SALib.sample import morris
    except ImportError as error:
        got = "sensitivity: got no SALib, expected the package that draws trajectories"
        raise UsageError(f"{got}; install it with `pip install 'rogue-testbed[search]'`.") from error
    names = [str(place) for place in range(keys)]
    problem = {"num_vars": keys, "names": names, "bounds": [[0.0, 1.0]] * keys}
    drawn = morris.sample(problem, trajectories, num_levels=levels, seed=seed)
    return [tuple(float(share) for share in point) for point in drawn]


def steps_of(points: Sequence[Point]) -> list[Step]:
    """Return the steps of the trajectories, each of which has one point more than there are keys."""
    keys = len(points[0])
    steps = []
    for before, after in pairwise(range(len(points))):
        if after % (keys + 1):
            moves = [end - begin for begin, end in zip(points[before], points[after], strict=True)]
            (key,) = [place for place, move in enumerate(moves) if move]
            steps.append(Step(key, before, after, moves[key]))
    return steps


def effect_of(key: int, steps: Sequence[Step], numbers: Sequence[Sequence[float | None]]) -> Effect | None:
    """Return the effect of a key; `numbers` has of each point one per seed. None if no step has both ends.

    Seeds are paired: a step compares the same seed at both of its ends.
    """
    slopes = [
        (end - begin) / step.length
        for step in steps
        if step.key == key
        for begin, end in zip(numbers[step.before], numbers[step.after], strict=False)
        if begin is not None and end is not None and isfinite(end - begin)
    ]
    if not slopes:
        return None
    spread = stdev(slopes) if len(slopes) > 1 else 0.0
    return Effect(fmean(slopes), fmean(map(abs, slopes)), spread, len(slopes))


_BLOCKS_MIN = 4
"""From fewer blocks of points indices say nothing."""


@dataclass(frozen=True, slots=True)
class Index:
    """The part of the variance that one key has."""

    first: float
    """Alone; with few samples it may lie below 0 or above 1."""
    first_within: float
    """Half of the interval that holds it with 95 %, from resampling."""
    total: float
    """With all that it does together with other keys."""
    total_within: float


def sample_blocks(keys: int, samples: int, seed: int) -> list[Point]:
    """Return a block of points for each sample, of two more than keys; the same seed gives the same ones."""
    try:
        from SALib.sample import sobol
    except ImportError as error:
        got = "sensitivity: got no SALib, expected the package that draws points"
        raise UsageError(f"{got}; install it with `pip install 'rogue-testbed[search]'`.") from error
    drawn = sobol.sample(_problem(keys), samples, calc_second_order=False, seed=seed)
    return [tuple(float(share) for share in point) for point in drawn]


def indices_of(keys: int, numbers: Sequence[Sequence[float | None]], seed: int) -> list[Index] | None:
    """Return an index per key; `numbers` has of each point one per seed, of which the mean counts.

    Seeds are paired, as all points have the same. A block without a number at one of its points is left out.
    None if too few are left, or if the number never changes.
    """
    from SALib.analyze import sobol

    values = whole_blocks(keys, numbers)
    if len(values) < _BLOCKS_MIN * (keys + 2) or np.ptp(values) == 0:
        return None
    found = sobol.analyze(_problem(keys), np.array(values), calc_second_order=False, seed=seed)
    columns = [found[name] for name in ("S1", "S1_conf", "ST", "ST_conf")]
    return [Index(*(float(column[key]) for column in columns)) for key in range(keys)]


def whole_blocks(keys: int, numbers: Sequence[Sequence[float | None]]) -> list[float]:
    """Return the mean over the seeds at each point of those blocks that have all of them."""
    size, kept = keys + 2, []
    for start in range(0, len(numbers), size):
        block = numbers[start : start + size]
        known = [[value for value in seeds if value is not None and isfinite(value)] for seeds in block]
        if all(seeds and len(seeds) == len(own) for seeds, own in zip(block, known, strict=True)):
            kept += [fmean(own) for own in known]
    return kept


def _problem(keys: int) -> dict[str, object]:
    names = [str(place) for place in range(keys)]
    return {"num_vars": keys, "names": names, "bounds": [[0.0, 1.0]] * keys}


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
