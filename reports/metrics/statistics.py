"""Percentiles, fairness and confidence intervals."""

import math
from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray


def nearest_rank(values: Sequence[float] | NDArray[np.float64], percent: float) -> float | None:
    """Return the smallest value v such that at least `percent` % of the values are <= v; None without values.

    rank = ceil(percent / 100 * n), counted from 1 in ascending order.
    Source: Hyndman and Fan, "Sample quantiles in statistical packages", 1996, definition 1.
    """
    if not 0 < percent <= 100:
        raise ValueError(f"percent must be in (0, 100], got {percent}")
    if len(values) == 0:
        return None
    return float(np.quantile(np.asarray(values, dtype=np.float64), percent / 100, method="inverted_cdf"))


def jain_index(shares: Sequence[float] | NDArray[np.float64]) -> float | None:
    """Return Jain's index, (sum x)^2 / (n * sum x^2): 1 if all are equal, 1/n if one has everything.

    None if all shares are 0.
    Source: Jain, Chiu and Hawe, DEC-TR-301, 1984.
    """
    values = np.asarray(shares, dtype=np.float64)
    squares = float(np.sum(values**2))
    if squares == 0.0:
        return None
    return float(np.sum(values)) ** 2 / (len(values) * squares)


LEVEL_WITHIN: Final = 0.01
"""Means that differ by less than this share of the larger one are level, however narrow the intervals."""
SINGLE_VALUES_MAX: Final = 3
"""Up to this many runs have no interval: the report shows their single values instead."""
RESAMPLES: Final = 10_000
_SEED: Final = 1

Values = NDArray[np.float64]


class MeanInterval(NamedTuple):
    """The mean of `n` runs, with its interval.

    `low` and `high` are the ends of the 95 % interval of the mean. For up to SINGLE_VALUES_MAX runs they are
    the least and the largest of the `values`, for a single run None. A value is infinite if the quantity does
    not exist, such as the median of mostly lost probes. Then the mean is also infinite, and there is no
    interval.
    """

    mean: float
    low: float | None
    high: float | None
    n: int
    values: tuple[float, ...] = ()

    @property
    def exists(self) -> bool:
        """Return whether every run has a number."""
        return math.isfinite(self.mean)

    @property
    def has_interval(self) -> bool:
        """Return whether `low` and `high` are the 95 % interval, not two of the single values."""
        return self.exists and self.n > SINGLE_VALUES_MAX and self.low is not None


def mean_interval(per_run: Sequence[float]) -> MeanInterval | None:
    """Return mean and 95 % interval of one value per run; None without runs.

    mean = (x_1 + ... + x_n) / n, where x_i is the measure of the cell with repetition i: percentiles are
    taken within a cell and then averaged, never over the samples of several cells. The runs are the
    independent samples; values within a run are not, so they are reduced to one number first.
    """
    n = len(per_run)
    if n == 0:
        return None
    values = np.asarray(per_run, dtype=np.float64)
    mean, ends = float(values.mean()), (float(values.min()), float(values.max()))
    if n == 1:
        return MeanInterval(mean, None, None, 1, (mean,))
    if n > SINGLE_VALUES_MAX and math.isfinite(mean):
        ends = interval_of(resampled_means(values), n)
    return MeanInterval(mean, min(ends[0], mean), max(ends[1], mean), n, tuple(map(float, values)))


def resampled_means(values: Values, stream: int = 0) -> Values:
    """Return the means of RESAMPLES groups, each as large as this one and drawn from it with replacement.

    The draws are the same at each call; groups that are independent of each other take different streams.
    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.
    """
    means: Values = values[_draws(len(values), stream)].mean(axis=1)
    return means


def interval_of(means: Values, n: int) -> tuple[float, float]:
    """Return the 95 % interval in the means of resampled groups of `n`.

    Its ends are the quantiles a and 1 - a:
    a = Phi(-sqrt(n / (n - 1)) * t(0.975, n - 1)).
    Wider than 2.5 % and 97.5 %, which are too narrow for few runs; as wide as Student's interval where values
    are normal.
    Source: Hesterberg, "What teachers should know about the bootstrap", The American Statistician 69, 2015,
    section 5.1, the expanded percentile interval.
    """
    from scipy.special import ndtr, stdtrit  # slow to import, and single runs have no interval

    below = float(ndtr(-math.sqrt(n / (n - 1)) * float(stdtrit(n - 1, 0.975))))
    low, high = np.quantile(means, [below, 1 - below])
    return float(low), float(high)


@cache
def _draws(n: int, stream: int) -> NDArray[np.int64]:
    return np.random.default_rng((_SEED, stream)).integers(n, size=(RESAMPLES, n))
