"""Percentiles by nearest rank: always a value that was measured, never one in between."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def nearest_rank(values: Sequence[float] | NDArray[np.float64], percent: float) -> float | None:
    """Return the smallest value that at least `percent` of all values do not exceed; None without values.

    rank = ceil(percent / 100 * n), counted from 1 in ascending order.
    Source: Hyndman and Fan, "Sample quantiles in statistical packages", 1996, definition 1.
    """
    if not 0 < percent <= 100:
        raise ValueError(f"percent must be in (0, 100], got {percent}")
    if len(values) == 0:
        return None
    return float(np.quantile(np.asarray(values, dtype=np.float64), percent / 100, method="inverted_cdf"))
