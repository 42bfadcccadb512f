"""Morris's screening: which keys move a number at all, for a few cells per key.

A trajectory goes from a random point of a grid through all keys, one step of one key after the other.

Source: Morris, Factorial sampling plans for preliminary computational experiments, Technometrics 33 (1991);
mu* is that of Campolongo, Cariboni and Saltelli, Environmental Modelling & Software 22 (2007).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from statistics import fmean, stdev

from rogue.harness.errors import UsageError

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
