"""Rows of claims on the page, their links and a summary."""

import os
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rogue.reports.claims.claim import Claim
from rogue.reports.claims.verdict import SEEDS_MIN, Outcome, Verdict, counted_verdicts, counts_of
from rogue.reports.claims.words import interval_text, is_headline, mean_text
from rogue.reports.figures.captions import figures_showing
from rogue.reports.metrics import TABLES
from rogue.reports.quantities import joined
from rogue.reports.reading.files import repeating_command
from rogue.reports.results import Results
from rogue.workloads.records import CellStatus
from rogue.workloads.shipped import CHECKOUT

# From the best verdict to the worst one; the worst one decides how a row looks.
_ORDER = tuple(verdict for verdict in Verdict if verdict.is_judged)


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim with its outcomes, one per factor point to which it applies."""

    claim: Claim
    outcomes: tuple[Outcome, ...]

    @property
    def is_single(self) -> bool:
        """Return whether there is only one outcome."""
        return len(self.outcomes) == 1

    @property
    def measured(self) -> str:
        """Return the mean, or the least and the largest of the means."""
        known = [outcome for outcome in self.outcomes if outcome.measured is not None]
        known.sort(key=lambda outcome: outcome.measured.mean if outcome.measured else 0.0)
        ends = [mean_text(self.claim, outcome.measured) for outcome in (known[0], known[-1])]
        return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"

    @property
    def interval(self) -> str:
        """Return the 95 % interval of a single outcome; several stand in the words of each."""
        return interval_text(self.claim, self.outcomes[0].measured) if self.is_single else ""

    @property
    def runs(self) -> str:
        """Return over how many runs the means are."""
        counts = sorted({outcome.n for outcome in self.outcomes if outcome.n})
        return joined([str(count) for count in counts])

    @property
    def verdict(self) -> str:
        """Return the verdict, or how many factor points have which, from the best to the worst."""
        return verdict_counts([(outcome.verdict, outcome.verdict_text) for outcome in self.outcomes])

    @property
    def worst(self) -> Verdict:
        """Return the worst of the verdicts."""
        return max((outcome.verdict for outcome in self.outcomes), key=_ORDER.index)


def verdict_counts(verdicts: Sequence[tuple[Verdict, str]]) -> str:
    """Write how many factor points have which verdict, from the best to the worst; a single one alone."""
    if len(verdicts) == 1:
        return verdicts[0][1]
    found = sorted(verdicts, key=lambda each: _ORDER.index(each[0]))
    counts = Counter(text for _, text in found)
    return joined([f"{count} {_agreeing(text, count)}" for text, count in counts.items()])


def _agreeing(verdict: str, count: int) -> str:
    return verdict.replace("agrees", "agree") if count > 1 else verdict


def rows_of(judged: list[Outcome]) -> list[ClaimRow]:
    """Return one row per claim, in the order of the outcomes; each of them has been judged."""
    by_claim: dict[str, list[Outcome]] = {}
    for outcome in judged:
        by_claim.setdefault(outcome.claim.id, []).append(outcome)
    return [ClaimRow(outcomes[0].claim, tuple(outcomes)) for outcomes in by_claim.values()]


_OPEN: Final = (Verdict.OTHER_CONDITIONS, Verdict.FEW_SEEDS)
"""What a claim has instead of a verdict of its numbers."""
_FEW_SEEDS: Final = f"a verdict takes {SEEDS_MIN} seeds"


def verdict_summary(judged: Sequence[Outcome]) -> list[str]:
    """Return the verdicts of the headline, and what the numbers alone say of claims without a verdict."""
    counts = counts_of(
        each.verdict for each in judged if is_headline(each.claim) and each.verdict not in _OPEN
    )
    verdicts = f"Against what was published: {counted_verdicts(counts)}." if counts else None
    return [sentence for sentence in (verdicts, numbers_summary(judged)) if sentence]


def numbers_summary(judged: Sequence[Outcome]) -> str | None:
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


DOCS: Final = "docs"


@dataclass(frozen=True, slots=True)
class ClaimLinks:
    """What stands below a claim. Places are anchors without the section's key; `docs_href` may be missing."""

    place: str
    place_name: str
    docs: str
    docs_href: str | None
    commands: tuple[str, ...]


def claim_anchor(claim: Claim) -> str:
    """Return the anchor of a claim on a page, without the key of its section."""
    return f"claim-{claim.id}"


def table_anchor(title: str) -> str:
    """Return the anchor of a table on a page, without the key of its section."""
    return f"table-{'-'.join(title.lower().split())}"


def figure_anchor(name: str) -> str:
    """Return the anchor of a figure on a page, without the key of its section."""
    return f"{name}-head"


def claim_links(row: ClaimRow, results: Results, anchors: Collection[str], report: Path | None) -> ClaimLinks:
    """Return where a claim leads to, given the anchors of the page's section and the report's directory."""
    place, place_name = _place(row.claim, results, anchors)
    docs = f"{DOCS}/{row.claim.docs}" if row.claim.docs else ""
    return ClaimLinks(place, place_name, docs, docs_href(row.claim, report), _commands(row))


def _place(claim: Claim, results: Results, anchors: Collection[str]) -> tuple[str, str]:
    assert claim.metric is not None, "a claim on the page was measured"
    for figure in figures_showing(claim.metric, results):
        if figure_anchor(figure) in anchors:
            return figure_anchor(figure), "figure"
    for title, names in TABLES:
        if claim.metric in names and table_anchor(title) in anchors:
            return table_anchor(title), "table"
    return "tables", "tables"


def docs_href(claim: Claim, report: Path | None) -> str | None:
    """Return a relative link to a claim's place in the docs, if the report lies in their checkout."""
    if claim.docs is None or report is None:
        return None
    page, _, anchor = claim.docs.partition("#")
    directory, path = report.resolve(), CHECKOUT.resolve() / DOCS / page
    if not path.is_file() or not directory.is_relative_to(CHECKOUT.resolve()):
        return None
    return f"{Path(os.path.relpath(path, directory)).as_posix()}{'#' if anchor else ''}{anchor}"


def _commands(row: ClaimRow) -> tuple[str, ...]:
    """Return the command of each own experiment, and that of a cell on which the verdict rests."""
    own = [f"rogue run {name}" for name in row.claim.experiments]
    setting = row.outcomes[0].setting
    entries = [each for each in setting.entries if each.status is CellStatus.OK] if setting else []
    commands = (repeating_command(each.facts) for each in entries[:1])
    return (*own, *(command for command in commands if command))
