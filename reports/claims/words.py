"""The text of a claim's numbers, and the badges that keep it out of the headline."""

import math
from enum import StrEnum
from typing import Final

from pydantic import JsonValue

from rogue.reports.claims.claim import Claim, ClaimKind, JudgedBy
from rogue.reports.claims.conditions import reference_text
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.statistics import MeanInterval
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

NEVER_MEANS: Final = "something never came back and counts as infinite, so the mean is infinite"
_BOUNDS = {"at_least": "at least ", "at_most": "at most ", "equals": ""}


def published_text(claim: Claim) -> str:
    """Write the number of a claim as a sentence, with where it comes from and its tolerance."""
    unit = unit_of(claim)
    tolerance = f", tolerance {quantity_text(claim.tolerance, unit)}" if claim.tolerance else ""
    kind = claim.kind.value.capitalize()
    return f"{kind}: {_BOUNDS[claim.bound]}{quantity_text(claim.published, unit)}{tolerance}."


def judged_text(claim: Claim) -> str:
    """Write the criterion of a claim, and the one that it replaces."""
    pooled = ", mean over all factor points" if claim.pooled else ""
    before = f"; before: {claim.judged_before}" if claim.judged_before else ""
    return f"{_criterion(claim)}{pooled}{before}"


def _criterion(claim: Claim) -> str:
    """Write a number and its tolerance, or a side; a dash if there is none."""
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
    """Write the tolerance as a part of the number, unless it is itself a share."""
    if not claim.tolerance or not claim.published or unit_of(claim) is Unit.PERCENT:
        return ""
    return f" ({quantity_text(claim.tolerance / abs(claim.published), Unit.PERCENT)})"


def expected_text(claim: Claim, reference: MeanInterval) -> str:
    """Write the expected side of the reference."""
    assert claim.direction is not None, "the claim's own validation demands a direction"
    than = claim.direction.than
    rival = f" ({reference_text(than)}{_spread(claim, reference)})" if than else ""
    return f"Expected: {claim.direction.sign} {quantity_text(reference.mean, unit_of(claim))}{rival}."


def measured_text(claim: Claim, measured: MeanInterval) -> str:
    """Write mean, number of runs and interval of a measurement."""
    mean = quantity_text(measured.mean, unit_of(claim))
    spread = _spread(claim, measured) or (", which gives no interval" if measured.n == 1 else "")
    return f"{mean}, mean of {counted(measured.n, 'run')}{spread}{_never_text(measured)}"


def _never_text(measured: MeanInterval) -> str:
    """Explain `none`: a lost sample is infinite, and so is a mean with it."""
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
    """Return the unit of a claim's numbers; ratios, and claims without a metric, have none."""
    return Unit.RATIO if claim.relative_to or claim.metric is None else METRICS[claim.metric].unit


class Badge(StrEnum):
    """A restriction that a reader must know with a verdict."""

    DERIVED = "derived"
    MODEL = "model"
    FITTED = "fitted"
    ORDER_OF_MAGNITUDE = "order of magnitude"
    VACUOUS_ALONE = "vacuous alone"
    CONTRADICTED = "contradicted"
    MEASURED_BY_OTHERS = "hardware, measured by others"

    @property
    def css_class(self) -> str:
        """Return the badge as a CSS class."""
        return self.value.replace(",", "").replace(" ", "-")


BADGE_MEANINGS: Final[dict[Badge, str]] = {
    Badge.DERIVED: "not published: we computed it from a number or formula of the source",
    Badge.MODEL: "not measured on packets: the result of a model (the source’s or ours)",
    Badge.FITTED: "something that the source leaves open was chosen knowing the number",
    Badge.ORDER_OF_MAGNITUDE: "the tolerance leaves no more than the order of magnitude",
    Badge.VACUOUS_ALONE: "any scheme passes that keeps the port busy and loses nothing",
    Badge.CONTRADICTED: "a rule or the workload of the source itself excludes it",
    Badge.MEASURED_BY_OTHERS: "the number of a real card, which our NIC profiles are not fitted to",
}


def badges_of(claim: Claim) -> dict[Badge, str]:
    """Return the badges of a claim, each with its reason; none for a claim of the headline."""
    reasons = {
        Badge.DERIVED: claim.kind_reason if claim.kind is ClaimKind.DERIVED else None,
        Badge.MODEL: claim.kind_reason if claim.kind is ClaimKind.MODEL else None,
        Badge.FITTED: claim.fitted_to,
        Badge.ORDER_OF_MAGNITUDE: claim.order_of_magnitude,
        Badge.VACUOUS_ALONE: claim.vacuous_alone,
        Badge.CONTRADICTED: claim.contradicted_by,
        Badge.MEASURED_BY_OTHERS: str(claim.measured_by_others or ""),
    }
    return {badge: reason for badge, reason in reasons.items() if reason}


def is_headline(claim: Claim) -> bool:
    """True if a claim has no badge: published, unfitted, consistent, no order of magnitude."""
    return not badges_of(claim)


def claim_content(claim: Claim) -> dict[str, JsonValue]:
    """Return a claim's own entry in every `claims.json`; numbers are in the metric's base unit."""
    return {
        "id": claim.id,
        "paper": claim.paper,
        "source": claim.source,
        "statement": claim.statement,
        "kind": claim.kind.value,
        "kind_reason": claim.kind_reason,
        "badges": {badge.value: reason for badge, reason in badges_of(claim).items()},
        "is_headline": is_headline(claim),
        "published": claim.published,
        "published_text": claim.published_text,
        "tolerance": claim.tolerance,
        "judged_text": judged_text(claim),
    }


def kind_text(claim: Claim) -> str:
    """Write the kind and all badges of a claim in a line: `published`, `published, fitted`."""
    return ", ".join(dict.fromkeys((claim.kind.value, *(badge.value for badge in badges_of(claim)))))
