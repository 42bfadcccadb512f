"""Which measures a table shows, and in which unit: one per column, by the size of what stands in it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rogue.reports.metrics import METRICS
from rogue.reports.metrics.metric import Metric
from rogue.reports.quantities import DIGITS_MAX, MULTIPLES, SLOW_BPS, Scale, Unit
from rogue.reports.results import Results

LEAST_SHOWN: Final = 1e-3
"""A value that would be smaller is written as 0, so that the column keeps a smaller unit."""


@dataclass(frozen=True, slots=True)
class Column:
    """A measure and the unit in which its column is written."""

    metric: Metric
    scale: Scale


def columns_of(results: Results, names: Iterable[str]) -> list[Column]:
    """Return the columns of these measures; those of nothing, or of zeros, are left out."""
    return [
        Column(METRICS[name], column_scale(values, METRICS[name].unit))
        for name in names
        if any(values := _values(results, name))
    ]


def zero_in_every_run(results: Results) -> list[str]:
    """Return what the measures are called that have values, all of them 0."""
    titles = [
        METRICS[name].title for name in METRICS if (values := _values(results, name)) and not any(values)
    ]
    return list(dict.fromkeys(titles))


def column_scale(values: Sequence[float], unit: Unit) -> Scale:
    """Return the unit in which these values of one quantity are read best, all in the same."""
    sizes = [abs(value) for value in values if value and math.isfinite(value)]
    scale = unit.value
    if not sizes:
        return scale
    least, largest = min(sizes), max(sizes)
    if unit is Unit.RATE and (largest < SLOW_BPS or least < LEAST_SHOWN * scale.base_units):
        return MULTIPLES[unit][0]
    for larger in MULTIPLES.get(unit, ())[2:]:
        if largest >= DIGITS_MAX * scale.base_units and least >= LEAST_SHOWN * larger.base_units:
            scale = larger
    return scale


def _values(results: Results, name: str) -> list[float]:
    return [value for values in results.values.values() if (value := values[name]) is not None]
