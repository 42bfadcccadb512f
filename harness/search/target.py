"""Define what a search looks for: a measure, the end that is worse, and the bound of a finding."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rogue.harness.errors import UsageError
from rogue.harness.search.space import Aim, Direction, SecondAim
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.metric import Metric
from rogue.reports.quantities import NARROW_SPACE, readable
from rogue.workloads.printable import did_you_mean


@dataclass(frozen=True, slots=True)
class Target:
    """A measure, the end that is looked for, and the bound of a finding in the measure's base unit."""

    metric: Metric
    direction: Direction
    bound: float | None
    is_ratio: bool
    """True if the measure is divided by another one."""

    @property
    def sign(self) -> int:
        """Return 1 if small values are looked for, else -1; it sorts the worst value first."""
        return 1 if self.direction == "least" else -1

    def is_finding(self, value: float | None) -> bool:
        """True if a value is no better than the bound."""
        return value is not None and self.bound is not None and self.sign * value <= self.sign * self.bound

    def mildest(self, values: Sequence[float | None]) -> float | None:
        """Return the value that looks least like a finding; None if one seed has no value."""
        numbers = [value for value in values if value is not None]
        if not numbers or len(numbers) < len(values):
            return None
        return max(numbers, key=lambda value: self.sign * value)

    @property
    def bound_text(self) -> str:
        """Return the bound in words."""
        if self.bound is None:
            return "the aim has no bound, so nothing is a finding"
        end = "at most" if self.direction == "least" else "at least"
        return f"a finding is {end} {self.text(self.bound)}"

    def text(self, value: float | None) -> str:
        """Return a value with its unit; a ratio is a number of times."""
        if value is None:
            return "no number"
        if self.is_ratio:
            return "infinitely many times" if math.isinf(value) else f"{value:.3g} times"
        return (
            "infinite" if math.isinf(value) else readable(value, self.metric.unit).replace(NARROW_SPACE, " ")
        )

    def range_text(self, values: Sequence[float | None]) -> str:
        """Return the least and the greatest of the known values."""
        known = [value for value in values if value is not None]
        return (
            " to ".join(dict.fromkeys(self.text(end(known)) for end in (min, max))) if known else "no number"
        )


def make_target(aim: Aim | SecondAim, *, is_ratio: bool = False) -> Target:
    """Return the target of an aim; UsageError if the measure or its worse end is unknown."""
    if aim.metric not in METRICS:
        advice = did_you_mean(aim.metric, METRICS, "`rogue list measures` has them")
        raise UsageError(f"search: got the measure {aim.metric!r}, expected one of the report's; {advice}.")
    metric, direction = METRICS[aim.metric], aim.direction
    if direction is None and metric.better == "near":
        got = f"search: got no direction, and {metric.name} is neither better high nor low"
        raise UsageError(f"{got}, expected least or most; add direction to the aim.")
    worst: Direction = "least" if metric.better == "higher" else "most"
    return Target(metric, direction or worst, aim.bound, is_ratio)


def ratio(value: float | None, other: float | None) -> float | None:
    """Return value / other; infinite if only the other is zero, None if the ratio is undefined."""
    if value is None or other is None or (math.isinf(value) and math.isinf(other)):
        return None
    if other == 0:
        return math.inf if value > 0 else None
    return value / other
