"""Sobol indices: which share of a number's variance a key has, alone and with all that it does to others.

Source: Saltelli et al., Variance based sensitivity analysis of model output, Computer Physics Communications
181 (2010); the points are those of Sobol's sequence, scrambled by a seed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import fmean

import numpy as np

from rogue.harness.errors import UsageError
from rogue.harness.search.morris import Point

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
