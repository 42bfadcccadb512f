"""Claims as rows of a page: their outcomes, anchors, links and commands."""

import os
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rogue.reports.claims.claim import Claim
from rogue.reports.claims.verdict import VERDICT_MEANINGS, Outcome, Verdict
from rogue.reports.claims.words import BADGE_MEANINGS, badges_of, interval_text, judged_text, mean_text
from rogue.reports.metrics import TABLES
from rogue.reports.quantities import joined
from rogue.reports.reading.files import repeating_command
from rogue.workloads.records import CellStatus
from rogue.workloads.shipped import CHECKOUT

# From the best verdict to the worst one, which is the colour of a row.
_ORDER = tuple(verdict for verdict in Verdict if verdict.is_judged)


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim with its outcomes, one per factor point to which it applies."""

    claim: Claim
    outcomes: tuple[Outcome, ...]

    @property
    def is_single(self) -> bool:
        """True if there is only one outcome."""
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
        """Return the 95 % interval of a single outcome; each of several has its own below."""
        return interval_text(self.claim, self.outcomes[0].measured) if self.is_single else ""

    @property
    def runs(self) -> str:
        """Return the number of runs of the means."""
        counts = sorted({outcome.n for outcome in self.outcomes if outcome.n})
        return joined([str(count) for count in counts])

    @property
    def verdict(self) -> str:
        """Return the verdict, or the number of factor points per verdict, from the best to the worst."""
        return verdict_counts([(outcome.verdict, outcome.verdict_text) for outcome in self.outcomes])

    @property
    def worst(self) -> Verdict:
        """Return the worst of the verdicts."""
        return max((outcome.verdict for outcome in self.outcomes), key=_ORDER.index)


def verdict_counts(verdicts: Sequence[tuple[Verdict, str]]) -> str:
    """Write the number of factor points per verdict, from the best to the worst; a single one alone."""
    if len(verdicts) == 1:
        return verdicts[0][1]
    found = sorted(verdicts, key=lambda each: _ORDER.index(each[0]))
    counts = Counter(text for _, text in found)
    return joined([f"{count} {_agreeing(text, count)}" for text, count in counts.items()])


def _agreeing(verdict: str, count: int) -> str:
    return verdict.replace("agrees", "agree") if count > 1 else verdict


def rows_of(judged: list[Outcome]) -> list[ClaimRow]:
    """Return one row per claim, in the order of the judged outcomes."""
    by_claim: dict[str, list[Outcome]] = {}
    for outcome in judged:
        by_claim.setdefault(outcome.claim.id, []).append(outcome)
    return [ClaimRow(outcomes[0].claim, tuple(outcomes)) for outcomes in by_claim.values()]


DOCS: Final = "docs"


@dataclass(frozen=True, slots=True)
class ClaimLinks:
    """Links below a claim. `table` is an anchor without the section's key; `docs_href` may be missing."""

    table: str
    docs: str
    docs_href: str | None
    commands: tuple[str, ...]


def claim_anchor(claim: Claim) -> str:
    """Return the anchor of a claim on a page, without the key of its section."""
    return f"claim-{claim.id}"


def table_anchor(title: str) -> str:
    """Return the anchor of a table on a page, without the key of its section."""
    return f"table-{'-'.join(title.lower().split())}"


CLAIM_GLOBALS: Final[dict[str, object]] = {
    "verdict_meanings": VERDICT_MEANINGS,
    "badge_meanings": BADGE_MEANINGS,
    "badges_of": badges_of,
    "judged_text": judged_text,
    "claim_anchor": claim_anchor,
}
"""What the templates of claims use."""


def claim_links(row: ClaimRow, anchors: Collection[str], report: Path | None) -> ClaimLinks:
    """Return the links of a claim, given the anchors of the page's section and the report's directory."""
    tables = (table_anchor(title) for title, names in TABLES if row.claim.metric in names)
    table = next((anchor for anchor in tables if anchor in anchors), "tables")
    docs = f"{DOCS}/{row.claim.docs}" if row.claim.docs else ""
    return ClaimLinks(table, docs, docs_href(row.claim, report), _commands(row))


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
    own = [f"rogue run {name}" for name in row.claim.experiments]
    setting = row.outcomes[0].setting
    entries = [each for each in setting.entries if each.status is CellStatus.OK] if setting else []
    commands = (repeating_command(each.facts) for each in entries[:1])
    return (*own, *(command for command in commands if command))
