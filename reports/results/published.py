"""A published number beside what a run measured, as figures know it: without verdicts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rogue.reports.metrics.intervals import MeanInterval

if TYPE_CHECKING:  # results hold such numbers
    from rogue.reports.results.results import Setting


@dataclass(frozen=True, slots=True)
class PublishedNumber:
    """What a claim says of one setting. `value` and `tolerance` are in the metric's base units."""

    claim: str
    """Its id."""
    setting: "Setting"
    metric: str
    value: float
    tolerance: float
    measured: MeanInterval
    is_ratio: bool = False
    """Value and measurement are ratios to another setting."""

    @property
    def has_place(self) -> bool:
        """Return whether the measurement can be drawn as a multiple of the number."""
        return self.value > 0 and self.measured.exists
