"""What keeps a claim out of the headline, each as a badge with its reason."""

from enum import StrEnum
from typing import Final

from pydantic import JsonValue

from rogue.reports.claims.claim import Claim, ClaimKind
from rogue.reports.claims.words import judged_text


class Badge(StrEnum):
    """Something that a reader has to know before a verdict counts."""

    DERIVED = "derived"
    MODEL = "model"
    FITTED = "fitted"
    ORDER_OF_MAGNITUDE = "order of magnitude"
    VACUOUS_ALONE = "vacuous alone"

    @property
    def css_class(self) -> str:
        """Return the badge as one word."""
        return self.value.replace(" ", "-")


BADGE_MEANINGS: Final[dict[Badge, str]] = {
    Badge.DERIVED: "nobody published it: we computed it from a number or formula of the source",
    Badge.MODEL: "nobody published it of packets: it is what a model says, the source’s or ours",
    Badge.FITTED: "something that the source leaves open was chosen knowing the number",
    Badge.ORDER_OF_MAGNITUDE: "the tolerance leaves no more than the order of magnitude",
    Badge.VACUOUS_ALONE: "any scheme passes that keeps the port busy and loses nothing",
}


def badges_of(claim: Claim) -> dict[Badge, str]:
    """Return the badges that a claim wears, each with its reason; none for what counts in the headline."""
    reasons = {
        Badge.DERIVED: claim.kind_reason if claim.kind is ClaimKind.DERIVED else None,
        Badge.MODEL: claim.kind_reason if claim.kind is ClaimKind.MODEL else None,
        Badge.FITTED: claim.fitted_to,
        Badge.ORDER_OF_MAGNITUDE: claim.order_of_magnitude,
        Badge.VACUOUS_ALONE: claim.vacuous_alone,
    }
    return {badge: reason for badge, reason in reasons.items() if reason}


def is_headline(claim: Claim) -> bool:
    """Return whether a claim is published, unfitted, no order of magnitude and not vacuous alone."""
    return not badges_of(claim)


def claim_content(claim: Claim) -> dict[str, JsonValue]:
    """Return what every `claims.json` says of a claim itself; numbers in the metric's base unit."""
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
