"""Test whether two groups of runs are equivalent, or differ by more than a margin."""

import math
from collections.abc import Hashable, Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np

MARGIN: Final = 0.05
"""Largest difference that does not matter, as a part of the first group's mean."""
ALPHA: Final = 0.01
"""Largest expected share of false results among rows called different, and among rows called equivalent."""
RUNS_MIN: Final = 2
"""Runs of each group for a test."""
CERTAIN_MIN: Final = 4
"""Runs per group from which a difference between two groups without spread counts as certain.

If each run gave one of two values by chance, four and four would split like this in 2 / 2^8 = 0.8 % of the
cases at most.
"""
_ROUNDING: Final = 1e-12

Runs = Mapping[Hashable, float]
"""One value per run, by its seed and repetition."""


class Verdict(StrEnum):
    """Result of the comparison of two groups of runs."""

    IDENTICAL = "identical"
    EQUIVALENT = "equivalent"
    HIGHER = "higher"
    LOWER = "lower"
    UNDECIDED = "not decided"
    TOO_FEW = "not enough runs"


class Difference(NamedTuple):
    """The mean of the second group minus that of the first, its 95 % interval, and two probabilities.

    The mean is NaN if a value is infinite: then only ranks decide. Without a test the probabilities are None.
    """

    mean: float
    low: float | None = None
    high: float | None = None
    p_apart: float | None = None
    """Probability of such a difference if the groups differ by at most the margin."""
    p_within: float | None = None
    """Probability of such a difference if they differ by the margin or more."""
    is_higher: bool = False
    is_identical: bool = False


def difference(first: Runs, second: Runs, margin: float) -> Difference:
    """Test two groups; `margin` is in the unit of the values. Equal seeds are paired (`matched`).

    Equivalence: two one-sided t-tests. Source: Schuirmann, "A comparison of the two one-sided tests procedure
    and the power approach", J. Pharmacokinetics and Biopharmaceutics 15, 1987.
    Different seeds: the degrees of freedom of Welch, Biometrika 34, 1947.
    """
    first, second = matched(first, second)
    if first == second:
        return Difference(0.0, is_identical=True)
    one, other = list(first.values()), list(second.values())
    if not np.isfinite([*one, *other]).all():
        return _by_ranks(one, other)
    mean = float(np.mean(other) - np.mean(one))
    if min(len(one), len(other)) < RUNS_MIN:
        return Difference(mean)
    if first.keys() == second.keys():
        error, freedom = _error([second[key] - first[key] for key in first]), len(first) - 1.0
    else:
        errors = _error(one), _error(other)
        error = math.hypot(*errors)
        parts = sum(each**4 / (len(group) - 1) for each, group in zip(errors, (one, other), strict=True))
        freedom = error**4 / parts if parts else float(len(one) + len(other) - 2)
    if error <= _ROUNDING * max(map(abs, [*one, *other])):
        if min(len(one), len(other)) < CERTAIN_MIN:
            return Difference(mean)
        error = 0.0
    from scipy.special import stdtrit  # slow to import, and a page about one run needs none of it

    above, below = (_p_above(value, error, freedom) for value in (mean - margin, -mean - margin))
    half = error * float(stdtrit(freedom, 0.975))
    p_within = max(_p_above(value, error, freedom) for value in (mean + margin, margin - mean))
    p_apart = min(1.0, 2 * min(above, below))
    return Difference(mean, mean - half, mean + half, p_apart, p_within, is_higher=mean > 0)


def matched(first: Runs, second: Runs) -> tuple[Runs, Runs]:
    """Return the runs that both groups have if these are at least half of either, else both groups whole."""
    common = [key for key in first if key in second]
    if len(common) < RUNS_MIN or 2 * len(common) < max(len(first), len(second)):
        return first, second
    return {key: first[key] for key in common}, {key: second[key] for key in common}


def _error(values: Sequence[float]) -> float:
    """Return the standard error of a mean."""
    return float(np.std(values, ddof=1)) / math.sqrt(len(values))


def _p_above(value: float, error: float, freedom: float) -> float:
    """Return the probability of a mean this large, or larger, if the true one is 0."""
    if error == 0:
        return 0.0 if value > 0 else 1.0
    from scipy.special import stdtr

    return float(stdtr(freedom, -value / error))


def _by_ranks(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Compare groups with infinite values, which rank last, by the Mann-Whitney test without a margin.

    If one group is all finite and the other all infinite, the difference is certain from CERTAIN_MIN runs on.
    """
    from scipy.stats import mannwhitneyu, rankdata  # slow to import, and few comparisons need it

    ranks = rankdata([*first, *second])
    is_higher = bool(ranks[len(first) :].mean() > ranks[: len(first)].mean())
    if min(len(first), len(second)) < RUNS_MIN:
        return Difference(math.nan, is_higher=is_higher)
    is_apart = np.isfinite(first).all() != np.isfinite(second).all() and (
        np.isinf(first).all() or np.isinf(second).all()
    )
    if is_apart and min(len(first), len(second)) >= CERTAIN_MIN:
        return Difference(math.nan, None, None, 0.0, 1.0, is_higher=is_higher)
    p = float(mannwhitneyu(first, second, alternative="two-sided").pvalue)
    return Difference(math.nan, None, None, p, 1.0, is_higher=is_higher)


class Decision(NamedTuple):
    """A verdict, and the adjusted probability that decides whether the groups differ; None without a test."""

    verdict: Verdict
    p: float | None


def verdicts(rows: Sequence[Difference]) -> list[Decision]:
    """Decide all rows of a comparison together, with the expected rate of false discoveries at most ALPHA.

    Source: Benjamini and Hochberg, J. Royal Statistical Society B 57, 1995.
    """
    apart = _adjusted([row.p_apart for row in rows])
    within = _adjusted([row.p_within for row in rows])
    return [
        Decision(_verdict(row, p, p_within), None if row.p_apart is None else p)
        for row, p, p_within in zip(rows, apart, within, strict=True)
    ]


def _adjusted(ps: Sequence[float | None]) -> list[float]:
    from scipy.stats import false_discovery_control

    known = [place for place, p in enumerate(ps) if p is not None]
    adjusted = np.ones(len(ps))
    if known:
        adjusted[known] = false_discovery_control([p for p in ps if p is not None])
    return [float(p) for p in adjusted]


def _verdict(row: Difference, apart: float, within: float) -> Verdict:
    if row.is_identical:
        return Verdict.IDENTICAL
    if row.p_apart is None:
        return Verdict.TOO_FEW
    if apart <= ALPHA:
        return Verdict.HIGHER if row.is_higher else Verdict.LOWER
    return Verdict.EQUIVALENT if within <= ALPHA else Verdict.UNDECIDED
