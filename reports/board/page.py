"""The claims board as one offline page, and as JSON."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from rogue.reports.board.evidence import BoardClaim, evidence_text
from rogue.reports.board.papers import papers_of
from rogue.reports.board.tally import tally_of, tally_sentence, tally_table
from rogue.reports.claims import VERDICT_MEANINGS, claims_sha256
from rogue.reports.claims.links import claim_anchor, docs_href
from rogue.reports.quantities import counted
from rogue.reports.reading.files import REPORT
from rogue.reports.templates.environment import environment, style

BOARD_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class PaperSection:
    """The claims of one paper."""

    paper: str
    title: str
    claims: tuple[BoardClaim, ...]


def board_page(board: Sequence[BoardClaim], place: Path) -> str:
    """Return the page; `place` is the directory in which it will stand."""
    tally, papers = tally_of(board), papers_of(each.claim for each in board)
    sections = [
        PaperSection(paper, title, tuple(each for each in board if each.claim.paper == paper))
        for paper, title in papers.items()
    ]
    return (
        environment()
        .get_template("board.html.j2")
        .render(
            sections=sections,
            papers=papers,
            sentence=tally_sentence(tally),
            table=tally_table(tally, papers),
            runs=counted(len({each.run.directory for each in board if each.run}), "run"),
            meanings=VERDICT_MEANINGS,
            style=style(),
            claim_anchor=claim_anchor,
            evidence_text=evidence_text,
            report_href=lambda each: report_href(each, place),
            docs_href=lambda each: docs_href(each.claim, place),
        )
    )


def board_content(board: Sequence[BoardClaim]) -> dict[str, JsonValue]:
    """Return what the board's `claims.json` says; it names no place of this machine."""
    return {
        "schema": BOARD_SCHEMA,
        "claims_sha256": claims_sha256(),
        "papers": dict(papers_of(each.claim for each in board)),
        "tally": {paper: dict(counts) for paper, counts in tally_of(board).items()},
        "claims": [_claim(each) for each in board],
    }


def _claim(each: BoardClaim) -> dict[str, JsonValue]:
    run: Mapping[str, JsonValue] | None = None
    if each.run is not None:
        run = {
            "run_id": each.run.run_id,
            "experiment": each.run.experiment,
            "testbed": each.run.testbed,
            "created_utc": each.run.created_utc,
            "commit": each.run.commit,
            "clean": each.run.is_clean,
        }
    return {
        "id": each.claim.id,
        "paper": each.claim.paper,
        "source": each.claim.source,
        "statement": each.claim.statement,
        "published_text": each.claim.published_text,
        "verdict": each.verdict.value,
        "verdict_text": each.verdict_text,
        "n": each.n,
        "run": dict(run) if run else None,
        "outcomes": [outcome.model_dump(mode="json", exclude={"id"}) for outcome in each.outcomes],
    }


def report_href(each: BoardClaim, place: Path) -> str | None:
    """Return a relative link to the claim in the report of its run, if that lies below the board."""
    if each.run is None:
        return None
    report, directory = (each.run.directory / REPORT).resolve(), place.resolve()
    if not report.is_file() or not report.is_relative_to(directory):
        return None
    return f"{Path(os.path.relpath(report, directory)).as_posix()}#run1-{claim_anchor(each.claim)}"
