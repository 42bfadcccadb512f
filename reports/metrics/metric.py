"""The type of a metric: one number per cell, with a name, a unit and a meaning."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from rogue.reports.cells.view import CellView
from rogue.reports.quantities import Unit

SAMPLED = ("flows", "throughput")
"""Tables of metrics that need samples of the traffic."""

Better = Literal["higher", "lower", "near"]
Measure = Callable[[CellView, int], float | None]


@dataclass(frozen=True, slots=True)
class Lost:
    """The metric with the lost share of the samples, and the word for it.

    `counts` returns the lost and all samples of a cell, where their numbers say more than the share.
    """

    metric: str
    word: str
    counts: Callable[[CellView], tuple[int, int]] | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """One number per cell.

    `measure` gets the cell and the interval (ns) over which goodput is read. It returns base units (bit/s,
    ns, bytes, fractions), or None if the cell has no such number. A lost sample counts as infinite: a median
    is infinite if half of the samples were lost, and `lost` names the metric with their share. `bound`
    returns the least value that an infinite one can have, or None if it is unknown.
    """

    name: str
    title: str
    unit: Unit
    meaning: str
    needs: tuple[str, ...]
    measure: Measure
    better: Better = "lower"
    lost: Lost | None = None
    bound: Measure | None = None

    def of(self, view: CellView, interval_ns: int) -> float | None:
        """Measure one cell; None if a needed table has no rows, or gives no number."""
        value = self.measure(view, interval_ns) if view.has(self.needs) else None
        return None if value is None or math.isnan(value) else value


def metric(  # noqa: PLR0913 - the fields of a Metric
    family: list[Metric],
    name: str,
    title: str,
    unit: Unit,
    *,
    needs: tuple[str, ...] = ("flows",),
    better: Better = "lower",
    lost: Lost | None = None,
) -> Callable[[Measure], Measure]:
    """Add the decorated function to a family of metrics; its docstring is the meaning that reports show."""

    def add(measure: Measure) -> Measure:
        meaning = " ".join((measure.__doc__ or "").split())
        family.append(Metric(name, title, unit, meaning, needs, measure, better, lost))
        return measure

    return add
