"""What numbers alone say to a claim: intervals decide, not means."""

import math
from typing import Final

from rogue.reports.claims.claim import Claim
from rogue.reports.claims.verdict import Verdict
from rogue.reports.metrics.intervals import LEVEL_WITHIN, MeanInterval

_ROUNDING: Final = 1e-9
"""Part of a published number that sums of fractions may be off."""


def ends(measured: MeanInterval) -> tuple[float, float]:
    """Return between what the mean lies: its interval, or the least and largest value; itself if single."""
    low = measured.mean if measured.low is None else measured.low
    high = measured.mean if measured.high is None else measured.high
    return low, high


def distance(claim: Claim, value: float) -> float:
    """Return how far a value is from what was published; not above 0 where a bound is kept."""
    assert claim.published is not None, "the claim's own validation demands a number"
    if not math.isfinite(value):
        return math.inf  # what never came back reproduces no number, a bound neither
    beyond = claim.published - value
    return {"equals": abs(beyond), "at_least": beyond, "at_most": -beyond}[claim.bound]


def judge_number(claim: Claim, measured: MeanInterval) -> Verdict:
    """Say whether a published number is reproduced, close or missed."""
    if all(_is_within(claim, value, 1) for value in (*ends(measured), measured.mean)):
        return Verdict.REPRODUCED
    return Verdict.CLOSE if _is_within(claim, measured.mean, 2) else Verdict.MISSED


def _is_within(claim: Claim, value: float, tolerances: int) -> bool:
    """Return whether a value lies within so many tolerances; .92 lies within .90 + .02 in binary, too."""
    assert claim.published is not None, "the claim's own validation demands a number"
    return distance(claim, value) <= tolerances * claim.tolerance + _ROUNDING * abs(claim.published)


def judge_side(sign: str, measured: MeanInterval, reference: MeanInterval) -> Verdict:
    """Say whether a mean is above or below another one: agrees, undecided or missed.

    Means that are level are on no side. Infinite means stand by order; two of them are level.
    """
    if is_level(measured.mean, reference.mean):
        return Verdict.MISSED
    upper, lower = (measured, reference) if sign == "above" else (reference, measured)
    if not upper.mean > lower.mean:
        return Verdict.MISSED
    return Verdict.AGREES if ends(upper)[0] > ends(lower)[1] else Verdict.UNDECIDED


def is_level(one: float, other: float) -> bool:
    """Return whether two means differ by less than LEVEL_WITHIN of the larger one."""
    return abs(one - other) < LEVEL_WITHIN * max(abs(one), abs(other))
