"""The numbers of a claim as words."""

import math
from typing import Final

from rogue.reports.claims.claim import Claim, JudgedBy
from rogue.reports.claims.reference import reference_text
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.intervals import MeanInterval
from rogue.reports.quantities import (
    NEVER,
    NO_VALUE,
    Unit,
    counted,
    joined,
    number_text,
    quantity_text,
    usual_scale,
)

NEVER_MEANS: Final = "something never came back, which counts as infinite and makes the mean so"
_BOUNDS = {"at_least": "at least ", "at_most": "at most ", "equals": ""}


def published_text(claim: Claim) -> str:
    """Write the number of a claim as a sentence, with where it comes from and its tolerance."""
    unit = unit_of(claim)
    tolerance = f", tolerance {quantity_text(claim.tolerance, unit)}" if claim.tolerance else ""
    kind = claim.kind.value.capitalize()
    return f"{kind}: {_BOUNDS[claim.bound]}{quantity_text(claim.published, unit)}{tolerance}."


def judged_text(claim: Claim) -> str:
    """Write what a measurement is held against: a number and its tolerance, or a side; a dash if nothing."""
    if claim.judged_by is JudgedBy.SIDE:
        assert claim.direction is not None, "the claim's own validation demands a direction"
        than = claim.direction.than
        value = quantity_text(claim.direction.value, unit_of(claim))
        return f"{claim.direction.sign} {reference_text(than) if than else value}"
    if claim.metric is None or claim.published is None:
        return NO_VALUE
    unit = unit_of(claim)
    tolerance = f"tolerance {quantity_text(claim.tolerance, unit)}" if claim.tolerance else "no tolerance"
    return f"{_BOUNDS[claim.bound]}{quantity_text(claim.published, unit)}, {tolerance}{_share(claim)}"


def _share(claim: Claim) -> str:
    """Write the tolerance as a part of the number, where it has one that is not itself a share."""
    if not claim.tolerance or not claim.published or unit_of(claim) is Unit.PERCENT:
        return ""
    return f" ({quantity_text(claim.tolerance / abs(claim.published), Unit.PERCENT)})"


def expected_text(claim: Claim, reference: MeanInterval) -> str:
    """Write which side of the reference a measurement should lie on."""
    assert claim.direction is not None, "the claim's own validation demands a direction"
    than = claim.direction.than
    rival = f" ({reference_text(than)}{_spread(claim, reference)})" if than else ""
    return f"Expected: {claim.direction.sign} {quantity_text(reference.mean, unit_of(claim))}{rival}."


def measured_text(claim: Claim, measured: MeanInterval) -> str:
    """Write what was measured: the mean, the number of runs, the interval."""
    mean = quantity_text(measured.mean, unit_of(claim))
    spread = _spread(claim, measured) or (", which gives no interval" if measured.n == 1 else "")
    return f"{mean}, mean of {counted(measured.n, 'run')}{spread}{_never_text(measured)}"


def _never_text(measured: MeanInterval) -> str:
    """Say what `none` means: what never came back is infinite, and so is a mean with it."""
    if measured.exists:
        return ""
    never = sum(not math.isfinite(value) for value in measured.values)
    return f" ({NEVER}: in {never} of {counted(measured.n, 'run')} {NEVER_MEANS})"


def _spread(claim: Claim, measured: MeanInterval) -> str:
    text = interval_text(claim, measured)
    if text == NO_VALUE:
        return ""
    return f", 95 % interval {text}" if measured.has_interval else f", single values {text}"


def interval_text(claim: Claim, measured: MeanInterval | None) -> str:
    """Write the 95 % interval, the single values of up to three runs, or a dash."""
    if measured is None or measured.low is None or measured.high is None:
        return NO_VALUE
    unit = unit_of(claim)
    scale = usual_scale(measured.mean, unit)
    if measured.values and not measured.has_interval:
        *smaller, largest = sorted(measured.values)
        texts = [number_text(value, unit, scale) for value in smaller]
        return joined([*texts, quantity_text(largest, unit, scale)])
    return f"{number_text(measured.low, unit, scale)} to {quantity_text(measured.high, unit, scale)}"


def mean_text(claim: Claim, measured: MeanInterval | None) -> str:
    """Write the mean alone; a dash where there is none."""
    return quantity_text(measured.mean if measured else None, unit_of(claim))


def unit_of(claim: Claim) -> Unit:
    """Return the unit of a claim's numbers; ratios, and what no metric holds, have none."""
    return Unit.RATIO if claim.relative_to or claim.metric is None else METRICS[claim.metric].unit
