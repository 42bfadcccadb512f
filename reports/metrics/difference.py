"""Whether two groups of runs differ, as far as so many runs can tell."""

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np

from rogue.reports.metrics.intervals import interval_of, resampled_means

ALPHA: Final = 0.05
"""How often runs that do not differ may be called different."""
_SPLITS_MAX: Final = 20_000
"""Up to this many ways to split the runs, all are looked at; beyond, the normal approximation is good."""


class Verdict(StrEnum):
    """What can be said about two groups of runs."""

    IDENTICAL = "identical"
    HIGHER = "higher"
    LOWER = "lower"
    NOT_FOUND = "no difference found"
    TOO_FEW = "not enough runs"


class Difference(NamedTuple):
    """The mean of the second group minus that of the first, its 95 % interval, and what follows.

    The mean is no number where a value is infinite: then ranks alone decide.
    """

    mean: float
    low: float | None
    high: float | None
    p: float | None
    """Probability of ranks at least so far apart if the groups do not differ."""
    verdict: Verdict


def difference(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Compare two groups of runs by one value per run; neither is empty.

    They differ if the two-sided Mann-Whitney test says so at ALPHA and the interval of the difference leaves
    zero out. Values within a run are no samples: runs differ by more than what is in one of them.
    Source: Mann and Whitney, Annals of Mathematical Statistics 18, 1947.
    """
    if list(first) == list(second):
        return Difference(0.0, None, None, None, Verdict.IDENTICAL)
    if not np.isfinite([*first, *second]).all():
        return _by_ranks(first, second)
    mean = float(np.mean(second) - np.mean(first))
    if smallest_p(len(first), len(second)) > ALPHA:
        return Difference(mean, None, None, None, Verdict.TOO_FEW)
    low, high = _interval(first, second)
    p = _mann_whitney(first, second)
    verdict = Verdict.NOT_FOUND
    if p <= ALPHA and (low > 0 or high < 0):
        verdict = Verdict.HIGHER if low > 0 else Verdict.LOWER
    return Difference(mean, low, high, p, verdict)


def _by_ranks(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Compare groups in which something never came: such a value ranks last, and has no mean to differ by."""
    if smallest_p(len(first), len(second)) > ALPHA:
        return Difference(math.nan, None, None, None, Verdict.TOO_FEW)
    from scipy.stats import rankdata

    p, ranks = _mann_whitney(first, second), rankdata([*first, *second])
    verdict = Verdict.NOT_FOUND
    if p <= ALPHA:
        is_higher = ranks[len(first) :].mean() > ranks[: len(first)].mean()
        verdict = Verdict.HIGHER if is_higher else Verdict.LOWER
    return Difference(math.nan, None, None, p, verdict)


def smallest_p(first: int, second: int) -> float:
    """The least that the test can give for so many runs: both groups apart, 2 of all the ways to split."""
    return min(1.0, 2 / math.comb(first + second, first))


def runs_needed() -> int:
    """Of how many runs each group must be at least."""
    return next(n for n in range(1, 100) if smallest_p(n, n) <= ALPHA)


def _mann_whitney(first: Sequence[float], second: Sequence[float]) -> float:
    """Two-sided probability; exact, ties included, unless there are too many ways to split the runs."""
    from scipy.stats import PermutationMethod, mannwhitneyu  # it loads a second, and few reports ask

    if math.comb(len(first) + len(second), len(first)) <= _SPLITS_MAX:
        every_split = PermutationMethod(n_resamples=_SPLITS_MAX)
        return float(mannwhitneyu(first, second, alternative="two-sided", method=every_split).pvalue)
    return float(mannwhitneyu(first, second, alternative="two-sided", method="asymptotic").pvalue)


def _interval(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """95 % interval of the difference of the means, by resampling the runs of each group on their own.

    Which group draws from which stream depends on their values alone, so that exchanging the groups turns the
    interval around and changes nothing else.
    """
    if (len(second), *second) < (len(first), *first):
        low, high = _interval(second, first)
        return -high, -low
    means = [
        resampled_means(np.asarray(group, np.float64), stream) for stream, group in enumerate((first, second))
    ]
    return interval_of(means[1] - means[0], min(len(first), len(second)))
