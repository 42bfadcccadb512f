"""Show the claims board as a page with pictures, as JSON and as lines for a terminal."""

import math
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator
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
from rogue.reports.claims import Verdict, claims_sha256
from rogue.reports.claims.claim import judging_sha256
from rogue.reports.claims.rows import CLAIM_GLOBALS, claim_anchor, docs_href
from rogue.reports.claims.words import claim_content, judged_text, kind_text
from rogue.reports.drawing.layers import Layer, draw
from rogue.reports.drawing.panels import figure_look
from rogue.reports.drawing.svg import css_variable, to_svg
from rogue.reports.quantities import Unit, counted, number_text
from rogue.reports.reading.files import REPORT
from rogue.reports.templates.environment import environment, script, script_source, style
from rogue.reports.transport_styles import ALARM, DARK_PARTNERS, INK, MUTED, TransportStyle

SIZE_INCHES: Final = (2.1, 1.1)
TYPE_POINTS: Final = 6.5
MULTIPLE_MAX: Final = 4.0
"""A mark that is farther away is at the edge."""
TICKS: Final = {0.25: "¼", 0.5: "½", 1.0: "1", 2.0: "2", 4.0: "4"}

GROUPS: Final = {
    "reproduced": TransportStyle("reproduced", "#00795a", "#3fcf9f", "o"),
    "missed": TransportStyle("missed", ALARM, "#ff8a80", "X"),
    "other": TransportStyle("close, right sign or undecided", "#8f6a00", "#f0c53c", "s"),
}
"""Looks of verdicts; `other` is that of all verdicts without a look."""
LAYERS: Final = (
    Layer("spans", "tolerance", MUTED, {"alpha": 0.35, "linewidth": 1.6}),
    Layer("points", "measured", look={"markersize": 3.2}),
    Layer("rule", "published", INK),
)


def paper_picture(paper: str, claims: Sequence[BoardClaim]) -> Markup | None:
    """Return the picture of a paper as inline SVG; None if no number of it was measured."""
    rows = _rows(claims)
    if rows.empty:
        return None
    multiples = rows["multiple"]
    rows = rows.assign(multiple=multiples.clip(1 / MULTIPLE_MAX, MULTIPLE_MAX))
    with figure_look():
        return to_svg(_drawn(rows), f"picture-{paper}", f"{paper}: measured / published", _words(multiples))


def _rows(claims: Sequence[BoardClaim]) -> pd.DataFrame:
    """Return a row per number and factor point, the smallest multiple first."""
    found = [
        (multiple, each.claim.tolerance / each.claim.published, verdict if verdict in GROUPS else "other")
        for each in claims
        if each.claim.published
        for multiple, verdict in each.multiples
    ]
    rows = pd.DataFrame(found, columns=["multiple", "tolerance", "series"]).sort_values("multiple")
    return rows.assign(rank=np.arange(len(rows), dtype=float))


def _drawn(rows: pd.DataFrame) -> Figure:
    figure = Figure(figsize=SIZE_INCHES, layout="constrained")
    axis = figure.subplots()
    ends = {"low": (1 - rows["tolerance"]).clip(1 / MULTIPLE_MAX), "high": 1 + rows["tolerance"]}
    spans = rows.assign(mark="tolerance", **ends)
    published = pd.DataFrame({"mark": ["published"], "multiple": [1.0]})
    data = pd.concat([spans, rows.assign(mark="measured"), published], ignore_index=True)
    draw(axis, data, LAYERS, ("multiple", "rank"), GROUPS)
    edge = MULTIPLE_MAX * 1.12
    axis.set(xscale="log", xlim=(1 / edge, edge), ylim=(-1, len(rows)), xlabel="", ylabel="", yticks=[])
    axis.xaxis.set_major_locator(FixedLocator(list(TICKS)))
    axis.xaxis.set_major_formatter(FixedFormatter(list(TICKS.values())))
    axis.tick_params(labelsize=TYPE_POINTS, length=2, pad=1.5)
    axis.minorticks_off()
    axis.spines["left"].set_visible(False)
    return figure


def _words(multiples: pd.Series) -> str:
    """Describe the multiples: how many are near 1, and their range."""
    least, median, most = (f"{value:.2g}" for value in multiples.quantile([0, 0.5, 1]))
    near, far = (
        multiples.between(1 / 1.1, 1.1).sum(),
        (~multiples.between(1 / MULTIPLE_MAX, MULTIPLE_MAX)).sum(),
    )
    return (
        f"{counted(len(multiples), 'number')}, {near} within 10 % of what was published; least {least},"
        f" median {median}, most {most} times. Drawn at the edge: {far}."
    )


HEAD: Final = ["claim", "verdict", "kind and badges", "held against", "measured", "seeds", "commit and day"]


def claim_lines(board: Sequence[BoardClaim]) -> list[list[str]]:
    """Return head and rows: every claim that a run judges, then others that were measured on a real card."""
    judged = [each for each in board if each.run is not None]
    others = [each for each in board if each.run is None and each.claim.measured_by_others]
    return [HEAD, *map(_line, judged + others)]


def _line(each: BoardClaim) -> list[str]:
    first = [each.claim.id, each.verdict_text, kind_text(each.claim)]
    if each.run is None:
        return [*first, each.claim.published_text, "", "", ""]
    return [
        *first,
        judged_text(each.claim),
        each.measured,
        each.seed_list,
        commit_text(each.run),
    ]


@dataclass(frozen=True, slots=True)
class PaperCard:
    """A paper, its number of claims by verdict (the best first), and its picture."""

    paper: str
    title: str
    claims: int
    verdicts: list[tuple[Verdict, int]]
    picture: Markup | None

    @classmethod
    def of(cls, paper: str, title: str, claims: Sequence[BoardClaim]) -> Self:
        """Count and draw the claims of a paper."""
        counts = Counter(each.verdict for each in claims)
        verdicts = [(verdict, counts[verdict]) for verdict in Verdict if counts[verdict]]
        return cls(paper, title, len(claims), verdicts, paper_picture(paper, claims))


def board_page(board: Sequence[BoardClaim], place: Path) -> str:
    """Return the page; `place` is the directory that it is written to."""
    counts, papers = Counts.of(board), papers_of(each.claim for each in board)
    cards = [
        PaperCard.of(paper, title, [each for each in board if each.claim.paper == paper])
        for paper, title in papers.items()
    ]
    pages = environment()
    pages.globals.update(CLAIM_GLOBALS, evidence_text=evidence_text, ratio_text=ratio_text)
    return pages.get_template("board.html.j2").render(
        title="Claims board",
        cards=cards,
        board=[each for paper in papers for each in board if each.claim.paper == paper],
        looks=GROUPS.values(),
        sentences=(headline_sentence(counts), badged_sentence(counts)),
        tables=(tally_table(counts.headline, list(papers)), badge_table(counts)),
        runs=runs_sentence(board),
        style=style(),
        script=script(),
        script_source=script_source(),
        colours=DARK_PARTNERS,
        css_variable=css_variable,
        transports=[],
        report_href=lambda each: report_href(each, place),
        docs_href=lambda each: docs_href(each.claim, place),
    )


def ratio_text(each: BoardClaim) -> str:
    """Write measured / published of the factor point that is farthest from 1; empty if there is none."""
    multiples = [multiple for multiple, _ in each.multiples]
    farthest = max(multiples, key=lambda multiple: abs(math.log(max(multiple, 1e-9))), default=None)
    return "" if farthest is None else number_text(farthest, Unit.RATIO)


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
