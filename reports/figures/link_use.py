"""Figure: how busy the links between switches were."""

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar, Final

import numpy as np
from matplotlib.figure import Figure
from pydantic import ValidationError

from rogue.reports.cells.transfers import natural
from rogue.reports.cells.view import CellView, once_per_cell
from rogue.reports.drawing.marks import SHADES, Values
from rogue.reports.drawing.panels import (
    BELOW_INCHES,
    COLUMNS_MAX,
    RIGHT_INCHES,
    make_room,
    panels,
    plain,
    scaled_inches,
)
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.quantities import Unit, quantity_text
from rogue.reports.results import Results, Setting, settings_by_point
from rogue.workloads.topologies import TOPOLOGIES, Topology

LINKS_MAX: Final = 24
ROW_INCHES: Final = 0.22
NAME_CHARACTERS_MAX: Final = 34
CHARACTER_INCHES: Final = 0.061
BESIDE_LINKS_INCHES: Final = 0.36
SENT: Final = "tx_bytes"
PART: Final = "topology."
"""Factors that change the network begin so."""


class LinkUse(ReportFigure):
    """One panel per factor point: a row for each link, a column for each transport."""

    title: ClassVar = "Use of the links between switches"
    needs: ClassVar = ("counters", "flows")
    panels_per_setting: ClassVar = 0
    caption: ClassVar = (
        "A row is a link in one direction, a column a transport, and the number how much of the link’s rate"
        " was sent on average, in % with all headers, from the start of the first transfer to the end of the"
        " last; darker is busier. Neighbouring rows of one switch are the ways that it could choose from."
        f" At most {LINKS_MAX} links, the busiest; mean over repetitions."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether the network has links between switches whose rates are known."""
        return super().usable(view) and len(uses(view)) > 1

    @property
    def missing(self) -> str:
        """Return the sentence that stands in the figure’s place if no cell can be drawn."""
        return "No finished cell has links between switches whose bytes were counted (counters.parquet)."

    def draw(self, results: Results) -> Figure:
        """Draw a map for each factor point; all have one scale of shades."""
        import seaborn as sns  # it takes as long to load as a small report to draw

        points, links = settings_by_point(self.shown(results)), self._links(results)
        widest = max(len(settings) for settings in points.values())
        figure, axes = panels(
            list(points),
            COLUMNS_MAX if widest <= 3 else 1,
            share="none",
            height_inches=1.0 + ROW_INCHES * len(links),
            legend=False,
        )
        for axis, settings in zip(axes, points.values(), strict=True):
            grid = 100 * np.array([self._uses(results, setting, links) for setting in settings]).T
            sns.heatmap(
                grid, vmin=0, vmax=100, cmap=SHADES, annot=True, fmt=".0f", linewidths=0.8, cbar=False,
                annot_kws={"fontsize": "small"}, ax=axis,
            )  # fmt: skip
            names = [plain(setting.style.name, NAME_CHARACTERS_MAX) for setting in settings]
            axis.set_xticks(np.arange(len(names)) + 0.5, names, rotation=0)
            axis.set_yticks(np.arange(len(links)) + 0.5, [plain(link, 18) for link in links], rotation=0)
            axis.tick_params(length=0)
            axis.set_xlabel("transport")
            axis.set_ylabel("link")
            axis.grid(visible=False)
        _let_names_fit(figure)
        return figure

    def describe(self, results: Results) -> str:
        """Say the most and the least used link of each setting."""
        links, sentences = self._links(results), []
        for setting in self.shown(results):
            shares = self._uses(results, setting, links)
            if np.isnan(shares).all():
                sentences.append(f"{setting.title}: none of these links.")
                continue
            ends = [
                f"{links[place]} {quantity_text(float(shares[place]), Unit.PERCENT)}"
                for place in (int(np.nanargmax(shares)), int(np.nanargmin(shares)))
            ]
            sentences.append(f"{setting.title}: most used {ends[0]}, least used of these {ends[1]}.")
        return " ".join(sentences)

    def _links(self, results: Results) -> list[str]:
        """Return the busiest in all settings together, by name."""
        busiest: dict[str, float] = {}
        for setting in self.shown(results):
            for view in self.views(results, setting):
                for link, share in uses(view).items():
                    busiest[link] = max(share, busiest.get(link, 0.0))
        return sorted(sorted(busiest, key=lambda link: -busiest[link])[:LINKS_MAX], key=natural)

    def _uses(self, results: Results, setting: Setting, links: list[str]) -> Values:
        """Return the mean over repetitions of each link; not a number where the network has no such link."""
        views = self.views(results, setting)
        shares: Values = np.array([[uses(view).get(link, np.nan) for link in links] for view in views])
        return np.asarray(shares.mean(axis=0))


def _let_names_fit(figure: Figure) -> None:
    """Make room for the names of links, and let those of transports stand upright where they are too wide."""
    links = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    names = [[label.get_text() for label in axis.get_xticklabels()] for axis in figure.axes]
    beside = BESIDE_LINKS_INCHES + CHARACTER_INCHES * max(map(len, links))
    make_room(figure, left_inches=beside, below_inches=0.0)
    panel_inches = figure.axes[0].get_position().width * figure.get_figwidth()
    if all(_fit_beside_each_other(each, panel_inches / len(each)) for each in names):
        return
    longest = max(len(name) for each in names for name in each)
    make_room(figure, left_inches=beside, below_inches=BELOW_INCHES + CHARACTER_INCHES * longest)
    for axis in figure.axes:
        axis.tick_params(axis="x", labelrotation=90)


def _fit_beside_each_other(names: Sequence[str], column_inches: float) -> bool:
    """Return whether names below columns of this width touch neither each other nor the figure's end."""
    widths = [scaled_inches(CHARACTER_INCHES * (len(name) + 1)) for name in names]
    return widths[-1] / 2 <= column_inches / 2 + scaled_inches(RIGHT_INCHES) and all(
        (left + right) / 2 <= column_inches for left, right in pairwise(widths)
    )


@once_per_cell
def uses(view: CellView) -> dict[str, float]:
    """Return of each link between switches what share of its rate was sent while there was traffic."""
    counters, spans, topology = view.table("counters"), view.spans.values(), topology_of(view)
    if counters is None or not spans or topology is None:
        return {}
    traffic_ns = max(end for _, end in spans) - min(start for start, _ in spans)
    switches = {*topology.switch_names()}
    rates_bps = {
        f"{a}->{b}": link.rate_bps
        for link in topology.links()
        for a, b in ((link.a, link.b), (link.b, link.a))
        if {a, b} <= switches
    }
    sent = counters[(counters["name"] == SENT) & counters["port"].isin(rates_bps)]
    bits = 8 * (sent["after"] - sent["before"])
    return {
        str(port): float(each) * 1e9 / (rates_bps[str(port)] * max(traffic_ns, 1))
        for port, each in zip(sent["port"], bits, strict=True)
    }


def topology_of(view: CellView) -> Topology | None:
    """Return the cell's network as its experiment has it; None if that is from a file or a plug-in."""
    written = view.run.manifest.source.data.get("topology")
    topology = TOPOLOGIES.get(str(written.get("kind"))) if isinstance(written, dict) else None
    if topology is None or not isinstance(written, dict):
        return None
    factors = view.entry.factors.items()
    changes = {key.removeprefix(PART): value for key, value in factors if key.startswith(PART)}
    try:
        return topology.model_validate({**written, **changes})
    except ValidationError:
        return None
