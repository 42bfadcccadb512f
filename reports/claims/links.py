"""Where a claim on the page leads to: a figure or a table, the docs, and commands that repeat it."""

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rogue.reports.claims.claim import Claim
from rogue.reports.claims.rows import ClaimRow
from rogue.reports.figures.captions import figures_showing
from rogue.reports.metrics import TABLES
from rogue.reports.reading.files import repeating_command
from rogue.reports.results import Results
from rogue.workloads.records import CellStatus
from rogue.workloads.shipped import CHECKOUT

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
