"""Figure: what each flow got over the whole traffic, so that a favoured host cannot hide in an average."""

from typing import ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rogue.reports.cells.view import CellView
from rogue.reports.drawing.marks import Values, rule
from rogue.reports.drawing.panels import compared_panels, legend_above, panels, plain, scales_from_zero
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.quantities import Unit, quantity_text
from rogue.reports.results import Results, Setting

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
