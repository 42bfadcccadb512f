"""A claim held against one run: what was measured, the verdict, and what it rests on."""

import math
from dataclasses import dataclass

from pydantic import JsonValue

from rogue.reports.claims.badges import claim_content
from rogue.reports.claims.claim import Claim
from rogue.reports.claims.shipped import NotOwn
from rogue.reports.claims.verdict import GOOD, SEEDS_MIN, Verdict
from rogue.reports.claims.words import interval_text, mean_text
from rogue.reports.metrics.intervals import MeanInterval
from rogue.reports.results import Setting


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was measured, and what says how much that is worth."""

    measured: MeanInterval
    rival: MeanInterval | None = None
    """The other side of a comparison of two settings."""
    seeds: tuple[int, ...] = ()
    not_own: NotOwn | None = None
    """Why the run has other conditions than the claim's own; None if it has them."""

    @property
    def n(self) -> int:
        """Return over how many seeds the smaller side of the comparison is."""
        return min(side.n for side in (self.measured, self.rival) if side is not None)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A claim, what its numbers say (`found`), and the evidence; `numbers` has them as words, or why none."""

    claim: Claim
    found: Verdict
    numbers: str
    setting: Setting | None = None
    evidence: Evidence | None = None

    @property
    def measured(self) -> MeanInterval | None:
        """Return what was measured."""
        return self.evidence.measured if self.evidence else None

    @property
    def n(self) -> int:
        """Return over how many seeds; 0 if nothing was measured."""
        return self.evidence.n if self.evidence else 0

    @property
    def has_own_conditions(self) -> bool:
        """Return whether the run is the experiment that was written for the claim."""
        return self.evidence is not None and self.evidence.not_own is None

    @property
    def verdict(self) -> Verdict:
        """Return the verdict: never better than conditions and number of seeds allow."""
        if not self.found.is_judged:
            return self.found
        if not self.has_own_conditions:
            return Verdict.OTHER_CONDITIONS
        return Verdict.FEW_SEEDS if self.n < SEEDS_MIN and self.found in GOOD else self.found

    @property
    def verdict_text(self) -> str:
        """Write the verdict as it reads on a page: with few seeds it says how many."""
        if self.verdict is Verdict.FEW_SEEDS:
            return f"{Verdict.AGREES.value}, n = {self.n}"
        if self.verdict in (Verdict.UNDECIDED, Verdict.RIGHT_SIGN) and self.n < SEEDS_MIN:
            return f"{self.verdict.value}, n = {self.n}"
        return self.verdict.value

    @property
    def reasons(self) -> str:
        """Write the numbers, and why their verdict is weaker than they are."""
        if self.evidence is None:
            return self.numbers
        if self.evidence.not_own is not None:
            alone = f"By the numbers alone, n = {self.n}: {self.found.value}."
            return f"{self.numbers} Other conditions: {self.evidence.not_own}. {alone}"
        if self.verdict is Verdict.FEW_SEEDS:
            alone = f"By the numbers alone: {self.found.value}; it takes {SEEDS_MIN} seeds to say so."
            return f"{self.numbers} {alone}"
        return self.numbers

    @property
    def sentence(self) -> str:
        """Return why the verdict is what it is, and the claim's note where there are numbers."""
        return f"{self.reasons} {self.claim.note}" if self.evidence else self.reasons

    def as_json(self) -> dict[str, JsonValue]:
        """Return what `claims.json` says about the claim; numbers in the metric's base unit.

        A number that does not exist, because what it measures never came back, is null.
        """
        measured = self.measured
        interval = [measured.low, measured.high] if measured and measured.low is not None else None
        return {
            **claim_content(self.claim),
            "metric": self.claim.metric,
            "transport": self.claim.transport,
            "factors": dict(self.setting.factors) if self.setting else {},
            "measured": _finite(measured.mean) if measured else None,
            "interval": [_finite(end) for end in interval] if interval else None,
            "values": [_finite(value) for value in measured.values] if measured else [],
            "measured_text": mean_text(self.claim, measured) if measured else "",
            "interval_text": interval_text(self.claim, measured) if measured else "",
            "n": self.n,
            "seeds": list(self.evidence.seeds) if self.evidence else [],
            "own_conditions": self.has_own_conditions,
            "found": self.found.value,
            "verdict": self.verdict.value,
            "verdict_text": self.verdict_text,
            "reasons": self.reasons,
            "sentence": self.sentence,
        }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
