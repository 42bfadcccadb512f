"""Verdicts, their evidence, and the file claims.json."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pydantic import JsonValue

from rogue.reports.claims.claim import Claim, claims_sha256, measures_sha256
from rogue.reports.claims.words import claim_content, interval_text, is_headline, mean_text
from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.quantities import joined
from rogue.reports.results import Setting
from rogue.workloads.manifest import Manifest

SEEDS_MIN: Final = 3
"""With fewer seeds nothing is called reproduced."""


class Verdict(StrEnum):
    """Verdicts from the best to the worst, and then those of claims that were not judged."""

    REPRODUCED = "reproduced"
    AGREES = "agrees"
    CLOSE = "close"
    FEW_SEEDS = "few seeds"
    OTHER_CONDITIONS = "other conditions"
    UNDECIDED = "undecided"
    RIGHT_SIGN = "right sign"
    MISSED = "missed"
    NEEDS_HARDWARE = "needs hardware"
    NOT_RUN = "not run"

    @property
    def css_class(self) -> str:
        """Return the verdict as a CSS class."""
        return self.value.replace(" ", "-")

    @property
    def is_judged(self) -> bool:
        """True if anything was measured."""
        return self not in (Verdict.NEEDS_HARDWARE, Verdict.NOT_RUN)


GOOD: Final = (Verdict.REPRODUCED, Verdict.AGREES, Verdict.CLOSE)
"""Verdicts that become FEW_SEEDS with fewer than SEEDS_MIN seeds."""

VERDICT_MEANINGS: Final[dict[Verdict, str]] = {
    Verdict.REPRODUCED: (
        "a published number; the whole 95 % interval of the mean lies within the tolerance (with two or three"
        " seeds: every single value does)"
    ),
    Verdict.AGREES: (
        "published without a number; the whole interval lies on the side that was claimed, and where two"
        " settings are compared their intervals do not overlap"
    ),
    Verdict.CLOSE: ("a published number; the mean lies within the tolerance, but not the whole interval"),
    Verdict.FEW_SEEDS: (
        f"the numbers agree, but with fewer than {SEEDS_MIN} seeds, which is written as “agrees, n = 1”"
    ),
    Verdict.OTHER_CONDITIONS: (
        "the run is the experiment that was written for the claim, but at another scale or with other"
        " settings; the words below the claim say what its numbers alone would mean"
    ),
    Verdict.UNDECIDED: (
        "published without a number; the mean lies on the side that was claimed, but the intervals overlap:"
        " more seeds may decide"
    ),
    Verdict.RIGHT_SIGN: (
        "the published number is missed, but the sign or the order is right, by the rule of “agrees”"
    ),
    Verdict.MISSED: (
        "the mean lies outside the tolerance, or on the wrong side, or there is no finite number where"
        " one was published; with any number of seeds"
    ),
    Verdict.NEEDS_HARDWARE: "only real hardware can tell",
    Verdict.NOT_RUN: (
        "the run did not do what the claim is about; claims.json gives the reason for each claim"
    ),
}

_COUNTED: Final = {
    Verdict.AGREES: ("agrees", "agree"),
    Verdict.FEW_SEEDS: ("agrees with few seeds", "agree with few seeds"),
    Verdict.OTHER_CONDITIONS: ("under other conditions",) * 2,
    Verdict.RIGHT_SIGN: ("with the right sign",) * 2,
    Verdict.NEEDS_HARDWARE: ("needs hardware", "need hardware"),
    Verdict.NOT_RUN: ("was not run", "were not run"),
}


def counts_of(verdicts: Iterable[Verdict]) -> dict[Verdict, int]:
    """Count each verdict that occurs, the best one first."""
    found = Counter(verdicts)
    return {verdict: found[verdict] for verdict in Verdict if found[verdict]}


def counted_verdicts(counts: Mapping[Verdict, int]) -> str:
    """Write the number of claims per verdict: `3 reproduced and 2 agree`; empty for none."""
    return joined([counted_verdict(count, verdict) for verdict, count in counts.items()])


def counted_verdict(count: int, verdict: Verdict) -> str:
    """Write the number of claims with a verdict: `3 reproduced`, `2 agree`, `1 under other conditions`."""
    one, several = _COUNTED.get(verdict, (verdict.value, verdict.value))
    return f"{count} {one if count == 1 else several}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """The measurement behind a verdict: its rival, seeds and conditions."""

    measured: MeanInterval
    rival: MeanInterval | None = None
    """The other side of a comparison of two settings."""
    seeds: tuple[int, ...] = ()
    other_conditions: str | None = None
    """How the run differs from the claim's own experiment; None if it does not."""

    @property
    def n(self) -> int:
        """Return the number of seeds of the smaller side of the comparison."""
        return min(side.n for side in (self.measured, self.rival) if side is not None)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A claim, the verdict of its numbers alone (`found`), and the evidence; `numbers` is their text."""

    claim: Claim
    found: Verdict
    numbers: str
    setting: Setting | None = None
    evidence: Evidence | None = None

    @property
    def point(self) -> str:
        """Return the factor point as text."""
        return self.setting.factor_text if self.setting else ""

    @property
    def measured(self) -> MeanInterval | None:
        """Return the measured mean."""
        return self.evidence.measured if self.evidence else None

    @property
    def n(self) -> int:
        """Return the number of seeds; 0 if nothing was measured."""
        return self.evidence.n if self.evidence else 0

    @property
    def has_own_conditions(self) -> bool:
        """True if the run is the experiment that was written for the claim."""
        return self.evidence is not None and self.evidence.other_conditions is None

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
        """Write the verdict for a page: with the number of seeds if they are few."""
        if self.verdict is Verdict.FEW_SEEDS:
            return f"{Verdict.AGREES.value}, n = {self.n}"
        if self.verdict in (Verdict.UNDECIDED, Verdict.RIGHT_SIGN) and self.n < SEEDS_MIN:
            return f"{self.verdict.value}, n = {self.n}"
        return self.verdict.value

    @property
    def reasons(self) -> str:
        """Write the numbers, and why their verdict is weaker than the numbers alone."""
        if self.evidence is None:
            return self.numbers
        if self.evidence.other_conditions is not None:
            alone = f"By the numbers alone, n = {self.n}: {self.found.value}."
            return f"{self.numbers} Other conditions: {self.evidence.other_conditions}. {alone}"
        if self.verdict is Verdict.FEW_SEEDS:
            alone = f"By the numbers alone: {self.found.value}; it takes {SEEDS_MIN} seeds to say so."
            return f"{self.numbers} {alone}"
        return self.numbers

    @property
    def sentence(self) -> str:
        """Return the reasons of the verdict, and the claim's note if there are numbers."""
        return f"{self.reasons} {self.claim.note}" if self.evidence else self.reasons

    def as_json(self) -> dict[str, JsonValue]:
        """Return the claim's entry in `claims.json`; numbers are in base units, and null if infinite."""
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


CLAIMS_SCHEMA: Final = 1


def claims_text(manifest: Manifest, outcomes: Sequence[Outcome]) -> str:
    """Return the content of `claims.json`: every claim, also those that do not apply to the run."""
    content = {
        "schema": CLAIMS_SCHEMA,
        "claims_sha256": claims_sha256(),
        "measures_sha256": measures_sha256(),
        "run_id": manifest.run_id,
        "commit": manifest.git.commit,
        "outcomes": [outcome.as_json() for outcome in outcomes],
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)


_OPEN: Final = (Verdict.OTHER_CONDITIONS, Verdict.FEW_SEEDS)
"""Verdicts that replace that of the numbers."""


def verdict_summary(judged: Sequence[Outcome]) -> list[str]:
    """Return the verdicts of the headline, and those of the numbers alone for claims without a verdict."""
    counts = counts_of(
        each.verdict for each in judged if is_headline(each.claim) and each.verdict not in _OPEN
    )
    verdicts = f"Against what was published: {counted_verdicts(counts)}." if counts else None
    return [sentence for sentence in (verdicts, numbers_summary(judged)) if sentence]


def numbers_summary(judged: Sequence[Outcome]) -> str | None:
    """Count the results of the numbers alone for headline claims without a verdict; None if all have one."""
    without = [each for each in judged if is_headline(each.claim) and each.verdict in _OPEN]
    if not without:
        return None
    by_reason: dict[str, list[Verdict]] = {}
    for each in without:
        reason = each.evidence.other_conditions if each.evidence else None
        by_reason.setdefault(reason or f"a verdict takes {SEEDS_MIN} seeds", []).append(each.found)
    parts = [f"{counted_verdicts(counts_of(found))} ({reason})" for reason, found in by_reason.items()]
    return f"By the numbers alone, without a verdict: {'; '.join(parts)}."
