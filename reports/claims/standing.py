"""How a run stands to what was published, in a sentence or two."""

from collections.abc import Sequence
from typing import Final

from rogue.reports.claims.badges import is_headline
from rogue.reports.claims.outcome import Outcome
from rogue.reports.claims.verdict import SEEDS_MIN, Verdict, counted_verdicts, counts_of

_OPEN: Final = (Verdict.OTHER_CONDITIONS, Verdict.FEW_SEEDS)
"""What a claim has instead of a verdict of its numbers."""
_FEW_SEEDS: Final = f"a verdict takes {SEEDS_MIN} seeds"


def standing(judged: Sequence[Outcome]) -> list[str]:
    """Return the verdicts of the headline, and what the numbers alone say of claims without a verdict."""
    counts = counts_of(
        each.verdict for each in judged if is_headline(each.claim) and each.verdict not in _OPEN
    )
    verdicts = f"Against what was published: {counted_verdicts(counts)}." if counts else None
    return [sentence for sentence in (verdicts, by_the_numbers(judged)) if sentence]


def by_the_numbers(judged: Sequence[Outcome]) -> str | None:
    """Return what the numbers alone say of the headline's claims without a verdict, and why they have none.

    None where each has a verdict.
    """
    without = [each for each in judged if is_headline(each.claim) and each.verdict in _OPEN]
    if not without:
        return None
    by_reason: dict[str, list[Verdict]] = {}
    for each in without:
        by_reason.setdefault(_reason(each), []).append(each.found)
    parts = [f"{counted_verdicts(counts_of(found))} ({reason})" for reason, found in by_reason.items()]
    return f"By the numbers alone, which is no verdict: {'; '.join(parts)}."


def _reason(outcome: Outcome) -> str:
    not_own = outcome.evidence.not_own if outcome.evidence else None
    return not_own.of_run if not_own else _FEW_SEEDS
