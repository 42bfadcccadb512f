"""Show the claims board as a page, as JSON and as lines for a terminal."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from rogue.reports.board.evidence import BOARD_SCHEMA, BoardClaim, commit_text, evidence_text
from rogue.reports.board.tally import (
    Counts,
    badge_table,
    badged_sentence,
    headline_sentence,
    papers_of,
    runs_sentence,
    tally_table,
)
from rogue.reports.claims import claims_sha256
from rogue.reports.claims.claim import judging_sha256
from rogue.reports.claims.rows import CLAIM_GLOBALS, claim_anchor, docs_href
from rogue.reports.claims.words import claim_content, judged_text, kind_text
from rogue.reports.reading.files import REPORT
from rogue.reports.templates.environment import environment, style

HEAD: Final = ["claim", "verdict", "kind and badges", "held against", "measured", "seeds", "commit and day"]


def claim_lines(board: Sequence[BoardClaim]) -> list[list[str]]:
    """Return head and rows: every claim that a run judges."""
    return [HEAD, *(_line(each) for each in board if each.run is not None)]


def _line(each: BoardClaim) -> list[str]:
    assert each.run is not None, "only claims with a run have a line"
    return [
        each.claim.id,
        each.verdict_text,
        kind_text(each.claim),
        judged_text(each.claim),
        each.measured,
        each.seed_list,
        commit_text(each.run),
    ]


@dataclass(frozen=True, slots=True)
class PaperSection:
    """The claims of one paper."""

    paper: str
    title: str
    claims: tuple[BoardClaim, ...]


def board_page(board: Sequence[BoardClaim], place: Path) -> str:
    """Return the page; `place` is the directory that it is written to."""
    counts, papers = Counts.of(board), papers_of(each.claim for each in board)
    sections = [
        PaperSection(paper, title, tuple(each for each in board if each.claim.paper == paper))
        for paper, title in papers.items()
    ]
    pages = environment()
    pages.globals.update(CLAIM_GLOBALS, evidence_text=evidence_text)
    return pages.get_template("board.html.j2").render(
        title="Claims board",
        sections=sections,
        papers=papers,
        sentences=(headline_sentence(counts), badged_sentence(counts)),
        tables=(tally_table(counts.headline, list(papers)), badge_table(counts)),
        runs=runs_sentence(board),
        style=style(),
        report_href=lambda each: report_href(each, place),
        docs_href=lambda each: docs_href(each.claim, place),
    )


def board_content(board: Sequence[BoardClaim]) -> dict[str, JsonValue]:
    """Return the content of the board's `claims.json`; it names no path of this computer."""
    counts = Counts.of(board)
    return {
        "schema": BOARD_SCHEMA,
        "claims_sha256": claims_sha256(),
        "papers": dict(papers_of(each.claim for each in board)),
        "headline": {paper: dict(found) for paper, found in counts.headline.items()},
        "badged": {paper: dict(found) for paper, found in counts.badged.items()},
        "badges": {badge: dict(found) for badge, found in counts.badges.items()},
        "claims": [_claim(each) for each in board],
    }


def _claim(each: BoardClaim) -> dict[str, JsonValue]:
    return {
        **claim_content(each.claim),
        "judging_sha256": judging_sha256(each.claim),
        "verdict": each.verdict.value,
        "verdict_text": each.verdict_text,
        "n": each.n,
        "run": each.run.model_dump(mode="json") | {"seeds": each.seeds} if each.run else None,
        "outcomes": [outcome.model_dump(mode="json", exclude={"id"}) for outcome in each.outcomes],
    }


def report_href(each: BoardClaim, place: Path) -> str | None:
    """Return a relative link to the claim in the report of its run, if that lies below the board."""
    if each.run is None or each.run.directory is None:
        return None
    report, directory = (each.run.directory / REPORT).resolve(), place.resolve()
    if not report.is_file() or not report.is_relative_to(directory):
        return None
    return f"{Path(os.path.relpath(report, directory)).as_posix()}#run1-{claim_anchor(each.claim)}"
