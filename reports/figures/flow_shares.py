"""Figures: the goodput of each flow, as shares and as a distribution."""

from typing import ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rogue.reports.cells.view import CellView
from rogue.reports.drawing.marks import Values, rule
from rogue.reports.drawing.panels import (
    compared_panels,
    legend_above,
    panels,
    plain,
    scales_from_zero,
    widen_left,
)
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.quantities import Unit, counted, quantity_text
from rogue.reports.results import Results, Setting, settings_by_point

# More flows than this cannot be named along an axis; `flow_spread` has them.
NAMES_MAX = 16


class FlowShares(ReportFigure):
    """One panel per setting: a mark per flow and repetition, in units of the ideal share."""

    title: ClassVar = "What each flow got"
    needs: ClassVar = ("flows", "throughput")
    caption: ClassVar = (
        "Each mark is one flow in one repetition: its goodput over the whole traffic as a percentage of"
        " the ideal share, by sending host. Marks of one host that lie apart are chance; hosts that lie"
        " apart in the same order in every repetition are favoured, by the control or by the testbed."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether there are flows to compare, and few enough to name their hosts."""
        return super().usable(view) and have_shares(view) and len(view.flow_ids) <= NAMES_MAX

    @property
    def missing(self) -> str:
        """Return the sentence that stands in the figure’s place if no cell can be drawn."""
        return (
            f"No finished cell has at most {NAMES_MAX} flows that share a port from the start"
            " (flows.parquet, throughput.parquet)."
        )

    def draw(self, results: Results) -> Figure:
        """Draw the marks."""
        settings, columns, _ = compared_panels(self.shown(results))
        figure, axes = panels([setting.title for setting in settings], columns, share="row")  # own hosts each
        for axis, setting in zip(axes, settings, strict=True):
            views = self.views(results, setting)
            style = setting.style
            for view in views:
                label = "one repetition" if view is views[0] else None
                places = np.arange(len(view.flow_ids))
                axis.scatter(
                    places,
                    100 * shares(view),
                    s=24,
                    color=style.colour,
                    marker=style.marker,
                    alpha=0.75,
                    label=label,
                )
            rule(axis, 100.0, "ideal share")
            _name_hosts(axis, views[0])
            axis.set_xlabel("sending host")
            axis.set_ylabel("% of ideal share")
        scales_from_zero(axes)
        legend_above(figure, axes)
        return figure

    def describe(self, results: Results) -> str:
        """Say the least and the largest mean share among the hosts of each panel."""
        sentences = []
        for setting in self.shown(results):
            means = self._means(results, setting)
            least, most = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
            sentences.append(
                f"{setting.title}: mean over the repetitions from {quantity_text(means[least], Unit.PERCENT)}"
                f" ({least}) to {quantity_text(means[most], Unit.PERCENT)} ({most}) of the ideal share."
            )
        return " ".join(sentences)

    def _means(self, results: Results, setting: Setting) -> dict[str, float]:
        found: dict[str, list[float]] = {}
        for view in self.views(results, setting):
            for flow_id, share in zip(view.flow_ids, shares(view), strict=True):
                found.setdefault(flow_id, []).append(float(share))
        return {flow_id: sum(values) / len(values) for flow_id, values in found.items()}


def have_shares(view: CellView) -> bool:
    """Return whether a cell has several flows, their goodput, and one ideal share for all of them."""
    return (
        len(view.flow_ids) > 1
        and view.ideal_share_bps is not None
        and view.is_simultaneous
        and bool(view.window)
    )


def shares(view: CellView) -> Values:
    """Return the goodput of each flow over the window as a fraction of the ideal share."""
    assert view.window is not None, "only cells with a window are drawn"
    assert view.ideal_share_bps is not None, "only cells with an ideal share are drawn"
    goodput = view.goodput(view.window.duration_ns)
    assert goodput is not None, "a window is at least one sample long"
    fractions: Values = goodput.to_numpy(dtype=np.float64)[0] / view.ideal_share_bps
    return fractions


def _name_hosts(axis: Axes, view: CellView) -> None:
    """Write the source host under each mark; the flow's name if it does not tell the host."""
    flows = view.table("flows")
    if flows is None:
        return
    sources = dict(zip(flows["flow_id"].astype(str), flows["src"].astype(str), strict=True))
    names = [plain(sources.get(flow_id) or flow_id, 12) for flow_id in view.flow_ids]
    axis.set_xticks(range(len(names)), names)


ROW_INCHES = 0.34
NAME_CHARACTERS_MAX = 34
NAME_CHARACTER_INCHES = 0.066
BESIDE_NAMES_INCHES = 0.5


class FlowSpread(ReportFigure):
    """One panel per factor point, one row per transport: boxes that halve towards the ends."""

    title: ClassVar = "What each of many flows got"
    needs: ClassVar = ("flows", "throughput")
    panels_per_setting: ClassVar = 0
    caption: ClassVar = (
        "Goodput of each flow over the whole traffic as a percentage of the ideal share, the flows of all"
        " repetitions together. The line in the middle is the median, the widest box holds half of the flows;"
        " each narrower box holds half of what is still outside, and points are the few flows at the ends."
        " The closer all of it stands to the dashed line, the more evenly the flows shared the port."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether flows share a port from the start, and are too many to be named."""
        return super().usable(view) and have_shares(view) and len(view.flow_ids) > NAMES_MAX

    @property
    def missing(self) -> str:
        """Return the sentence that stands in the figure’s place if no cell can be drawn."""
        return (
            f"No finished cell has more than {NAMES_MAX} flows that share a port from the start"
            " (flows.parquet, throughput.parquet)."
        )

    def draw(self, results: Results) -> Figure:
        """Draw a row per transport; names stand beside the panels."""
        points = settings_by_point(self.shown(results))
        rows = max(len(settings) for settings in points.values())
        figure, axes = panels(list(points), 1, share="all", height_inches=ROW_INCHES * max(rows, 2) + 1.1)
        for axis, settings in zip(axes, points.values(), strict=True):
            self._draw_point(axis, results, settings)
            axis.set_ylim(rows - 0.5, -0.5)
        axes[0].set_xlim(left=0)
        longest = max(len(_name(setting)) for settings in points.values() for setting in settings)
        widen_left(figure, BESIDE_NAMES_INCHES + NAME_CHARACTER_INCHES * longest)
        legend_above(figure, axes)
        return figure

    def describe(self, results: Results) -> str:
        """Say how many flows each row has, the median and between what nine in ten lie."""
        sentences = []
        for setting in self.shown(results):
            values = self._values(results, setting)
            low, median, high = (
                quantity_text(float(value), Unit.PERCENT) for value in np.percentile(values, (5, 50, 95))
            )
            sentences.append(
                f"{setting.title}: {counted(len(values), 'flow')} of all repetitions, median {median} of the"
                f" ideal share, nine in ten between {low} and {high}."
            )
        return " ".join(sentences)

    def _draw_point(self, axis: Axes, results: Results, settings: list[Setting]) -> None:
        import seaborn as sns  # it takes as long to load as a small report to draw

        for place, setting in enumerate(settings):
            values = 100 * self._values(results, setting)
            sns.boxenplot(
                x=values,
                y=np.full(len(values), place),
                orient="h",
                native_scale=True,
                color=setting.style.colour,
                saturation=1.0,
                width=0.7,
                linewidth=0.5,
                flier_kws={"s": 6, "linewidth": 0.6},
                ax=axis,
            )
        rule(axis, 100.0, "ideal share", vertical=True)
        axis.set_yticks(range(len(settings)), [_name(setting) for setting in settings])
        axis.set_xlabel("% of ideal share")
        axis.set_ylabel("transport")
        axis.grid(visible=False, axis="y")

    def _values(self, results: Results, setting: Setting) -> Values:
        return np.concatenate([shares(view) for view in self.views(results, setting)])


def _name(setting: Setting) -> str:
    return plain(setting.style.name, NAME_CHARACTERS_MAX)
