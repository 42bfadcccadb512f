"""Means over runs and how far they can be trusted."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

# Means that differ by less, as a fraction of the larger one, are level, however narrow their intervals.
LEVEL_WITHIN = 0.01


class MeanInterval(NamedTuple):
    """The mean of `n` runs and its 95 % confidence interval; no interval for a single run."""

    mean: float
    low: float | None
    high: float | None
    n: int


def mean_interval(per_run: Sequence[float]) -> MeanInterval | None:
    """Return mean and 95 % interval of one value per run; None without runs.

    mean +- t(.975, n - 1) * s / sqrt(n), s the sample standard deviation. The runs are the independent
    samples; values within a run are not, which is why they are reduced to one number first.
    Source: Student, "The probable error of a mean", Biometrika 6, 1908.
    """
    n = len(per_run)
    if n == 0:
        return None
    values = np.asarray(per_run, dtype=np.float64)
    mean = float(values.mean())
    if n == 1:
        return MeanInterval(mean, None, None, 1)
    half = float(stdtrit(n - 1, 0.975)) * float(values.std(ddof=1)) / math.sqrt(n)
    return MeanInterval(mean, mean - half, mean + half, n)
