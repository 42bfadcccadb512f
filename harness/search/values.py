"""What a search looks at: one number of the cells at the same values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rogue.harness.errors import UsageError
from rogue.harness.search.space import Aim, Direction
from rogue.reports.cells.view import CellView, common_interval_ns
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.metric import Metric
from rogue.reports.reading.load import Run as ReadRun
from rogue.workloads.manifest import CellRecord
from rogue.workloads.records import CellStatus
from rogue.workloads.spelling import meant


@dataclass(frozen=True, slots=True)
class Target:
    """A measure, the end of it that is looked for, and what counts as a find."""

    metric: Metric
    direction: Direction
    bound: float | None
    is_ratio: bool
    """Whether it is divided by the measure of another transport."""

    def is_find(self, value: float | None) -> bool:
        """Return whether a value is no better than the bound."""
        return value is not None and self.bound is not None and not self.is_worse(self.bound, value)

    def is_worse(self, value: float, than: float) -> bool:
        """Return whether a value lies further in the direction that is looked for."""
        return value < than if self.direction == "least" else value > than

    def mildest(self, values: Sequence[float | None]) -> float | None:
        """Return the value that looks least like a find; None if one seed gave none."""
        numbers = [value for value in values if value is not None]
        if not numbers or len(numbers) < len(values):
            return None
        return max(numbers) if self.direction == "least" else min(numbers)


def make_target(aim: Aim) -> Target:
    """Find the measure of an aim; UsageError if there is none of that name, or its direction is not known."""
    if aim.metric not in METRICS:
        advice = meant(aim.metric, METRICS, "`rogue list measures` has them")
        raise UsageError(f"search: got the measure {aim.metric!r}, expected one of the report's; {advice}.")
    metric = METRICS[aim.metric]
    direction = aim.direction
    if direction is None and metric.better == "near":
        got = f"search: got no direction, and {metric.name} is neither better high nor low"
        raise UsageError(f"{got}, expected least or most; add direction to the aim.")
    worst: Direction = "least" if metric.better == "higher" else "most"
    return Target(metric, direction or worst, aim.bound, aim.against is not None)


def value_by_seed(
    run: ReadRun, target: Target, subject: Sequence[CellRecord], against: Sequence[CellRecord]
) -> list[float | None]:
    """Return the number of each seed, in their order; None where a cell has none.

    Goodput is read over an interval that the cells at these values have in common: no other values matter.
    """
    views = {cell.id: CellView(run, cell) for cell in (*subject, *against) if cell.status is CellStatus.OK}
    interval_ns = common_interval_ns(list(views.values()))

    def measured(cell: CellRecord) -> float | None:
        return target.metric.of(views[cell.id], interval_ns) if cell.id in views else None

    own = [measured(cell) for cell in subject]
    if not target.is_ratio:
        return own
    return [ratio(value, measured(other)) for value, other in zip(own, against, strict=True)]


def ratio(value: float | None, other: float | None) -> float | None:
    """Return how many times the other a value is; infinite beside zero, None if that means nothing."""
    if value is None or other is None or (math.isinf(value) and math.isinf(other)):
        return None
    if other == 0:
        return math.inf if value > 0 else None
    return value / other
