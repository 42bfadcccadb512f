"""What a metric is: one number per run, with a name, a unit and a meaning."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from rogue.reports.cells.view import CellView
from rogue.reports.quantities import Unit


@dataclass(frozen=True, slots=True)
class Lost:
    """The metric that says which share of something never came back, and the word for that."""

    metric: str
    word: str


@dataclass(frozen=True, slots=True)
class Metric:
    """One number per cell.

    `measure` gets the cell and the interval (ns) over which goodput is read. It returns base units (bit/s,
    ns, bytes, fractions), or None where the cell has no such number. What never came back counts as infinite:
    a median is infinite where half of all that was asked for was lost, and `lost` says how much was.
    """

    name: str
    title: str
    unit: Unit
    meaning: str
    needs: tuple[str, ...]
    measure: Callable[[CellView, int], float | None]
    better: Literal["higher", "lower", "near"] = "lower"
    lost: Lost | None = None

    def of(self, view: CellView, interval_ns: int) -> float | None:
        """Measure one cell; None if a table that the metric needs has no rows, or holds no number for it."""
        value = self.measure(view, interval_ns) if view.has(self.needs) else None
        return None if value is None or math.isnan(value) else value
