"""Draw a small picture per paper: every measured number as a multiple of the published one."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator

from rogue.reports.board.evidence import BoardClaim
from rogue.reports.drawing.layers import Layer, draw
from rogue.reports.drawing.panels import figure_look
from rogue.reports.drawing.svg import to_svg
from rogue.reports.quantities import counted
from rogue.reports.transport_styles import ALARM, INK, MUTED, TransportStyle

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
