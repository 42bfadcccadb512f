"""How evenly a quantity is shared."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def jain_index(shares: Sequence[float] | NDArray[np.float64]) -> float | None:
    """Return Jain's index, (sum x)^2 / (n * sum x^2): 1 if all are equal, 1/n if one has everything.

    None when nobody has anything: there is nothing to share.
    Source: Jain, Chiu and Hawe, DEC-TR-301, 1984.
    """
    values = np.asarray(shares, dtype=np.float64)
    squares = float(np.sum(values**2))
    if squares == 0.0:
        return None
    return float(np.sum(values)) ** 2 / (len(values) * squares)
