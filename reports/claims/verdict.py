"""How a measurement stands to a claim, and how strong its evidence is."""

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

from rogue.reports.quantities import joined

SEEDS_MIN: Final = 3
"""With fewer seeds nothing is called reproduced."""


class Verdict(StrEnum):
    """From the best one to the worst one, and then those of claims that were not judged."""

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
        """Return the verdict as one word."""
        return self.value.replace(" ", "-")

    @property
    def is_judged(self) -> bool:
        """Return whether anything was measured."""
        return self not in (Verdict.NEEDS_HARDWARE, Verdict.NOT_RUN)


GOOD: Final = (Verdict.REPRODUCED, Verdict.AGREES, Verdict.CLOSE)
"""What fewer than SEEDS_MIN seeds turn into FEW_SEEDS."""

VERDICT_MEANINGS: Final[dict[Verdict, str]] = {
    Verdict.REPRODUCED: (
        "a published number; the whole 95 % interval of the mean lies within the tolerance (with two or three"
        " seeds: every single value does)"
    ),
    Verdict.AGREES: (
        "published without a number; the whole interval lies on the side that was claimed, and where two"
        " settings are compared their intervals do not overlap"
    ),
    Verdict.CLOSE: (
        "a published number; the mean lies within twice the tolerance, but not the whole interval in it"
    ),
    Verdict.FEW_SEEDS: (
        f"the numbers agree, but with fewer than {SEEDS_MIN} seeds, which is written as “agrees, n = 1”"
    ),
    Verdict.OTHER_CONDITIONS: (
        "the run is not the experiment that was written for the claim, or not at its full scale; the words"
        " below the claim say what its numbers alone would mean"
    ),
    Verdict.UNDECIDED: (
        "published without a number; the mean lies on the side that was claimed, but the intervals overlap:"
        " more seeds may decide"
    ),
    Verdict.RIGHT_SIGN: (
        "the published number is missed, but the sign or the order is right, by the rule of “agrees”"
    ),
    Verdict.MISSED: (
        "the mean lies outside twice the tolerance, or on the wrong side, or there is no finite number where"
        " one was published; with any number of seeds"
    ),
    Verdict.NEEDS_HARDWARE: "only real hardware can tell",
    Verdict.NOT_RUN: "the run did not do what the claim is about; claims.json says for each claim why",
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
    """Return how many there are of each that occurs, the best one first."""
    found = Counter(verdicts)
    return {verdict: found[verdict] for verdict in Verdict if found[verdict]}


def counted_verdicts(counts: Mapping[Verdict, int]) -> str:
    """Write how many claims have which verdict: `3 reproduced and 2 agree`; nothing of none."""
    return joined([counted_verdict(count, verdict) for verdict, count in counts.items()])


def counted_verdict(count: int, verdict: Verdict) -> str:
    """Write how many claims have a verdict: `3 reproduced`, `2 agree`, `1 under other conditions`."""
    one, several = _COUNTED.get(verdict, (verdict.value, verdict.value))
    return f"{count} {one if count == 1 else several}"
