"""The numbers that claims hold a run against, for its figures."""

from collections.abc import Iterable

from rogue.reports.claims.claim import JudgedBy
from rogue.reports.claims.outcome import Outcome
from rogue.reports.results.published import PublishedNumber


def published_numbers(outcomes: Iterable[Outcome]) -> list[PublishedNumber]:
    """Return a number per outcome that is held against one, in their order; bounds are no such number."""
    return [
        PublishedNumber(
            outcome.claim.id,
            outcome.setting,
            outcome.claim.metric,
            outcome.claim.published,
            outcome.claim.tolerance,
            outcome.measured,
            is_ratio=outcome.claim.relative_to is not None,
        )
        for outcome in outcomes
        if outcome.claim.judged_by is JudgedBy.NUMBER
        and outcome.claim.bound == "equals"
        and outcome.claim.published is not None
        and outcome.claim.metric
        and outcome.setting
        and outcome.measured
    ]
