"""Columns of names as small numbers, which are cheap to compare."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Mask = NDArray[np.bool_]


class Coded(NamedTuple):
    """A column of names: each row has a place in `names`, or -1 where it has none."""

    codes: NDArray[np.intp]
    names: tuple[str, ...]

    def are(self, name: str) -> Mask:
        """Return which rows have this name."""
        are: Mask = self.codes == (self.names.index(name) if name in self.names else len(self.names))
        return are

    def rows_of(self, mask: Mask) -> set[str]:
        """Return the names in the rows that a mask selects."""
        return {self.names[code] for code in np.unique(self.codes[mask]) if code >= 0}


def coded(column: "pd.Series[str]") -> Coded:
    """Return a column of names with its codes; those that the file already has are taken."""
    values = column.array
    if isinstance(values, pd.Categorical):
        return Coded(values.codes.astype(np.intp), tuple(map(str, values.categories)))
    codes, names = pd.factorize(column)
    return Coded(codes, tuple(map(str, names)))
