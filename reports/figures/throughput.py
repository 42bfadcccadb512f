"""Figure: goodput of each flow over time."""

from typing import ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.figures.figure import ReportFigure
from reports.figures.marks import POINTS_MAX, rule
from reports.figures.panels import compared_panels, legend_above, panels
from reports.quantities import Unit, counted, duration_text, quantity_text
from reports.results import Results
from reports.style import ALARM, INK
from reports.view import CellView
from workloads.records import TransferStatus

# More lines than this are a carpet.
FLOWS_MAX = 64


class ThroughputOverTime(ReportFigure):
    """Small multiples: one panel per transport and factor point, one line per flow, the first repetition."""

    title: ClassVar = "Throughput of each flow over time"
    needs: ClassVar = ("flows", "throughput")
    caption: ClassVar = (
        "Each line is one flow: payload delivered in order at the receiver. The dashed line is the ideal"
        " share, the bottleneck’s payload rate divided by the number of flows; where flows come and go it"
        " steps with the number of those that have work. Lines that stay close to it"
        " share the port evenly; a cross marks the moment at which a queue pair failed. The first"
        " repetition of each panel is drawn; the tables are over all repetitions."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether a cell has samples of its flows, and not too many flows to draw one by one."""
        return super().usable(view) and view.deliveries is not None and len(view.flow_ids) <= FLOWS_MAX

    def omission(self, results: Results) -> str:
        """Return how many settings have too many flows to draw, beside what others leave out."""
        crowded = [
            setting
            for setting in results.measured_settings
            if any(len(view.flow_ids) > FLOWS_MAX for view in results.views_of(setting))
        ]
        note = f" Not drawn, with more than {FLOWS_MAX} flows: {counted(len(crowded), 'setting')}."
        return super().omission(results) + (note if crowded else "")

    @property
    def missing(self) -> str:
        """Return the sentence that stands in the figure’s place if no cell can be drawn."""
        return (
            f"No finished cell has samples of at most {FLOWS_MAX} flows (flows.parquet, throughput.parquet)."
        )

    def draw(self, results: Results) -> Figure:
        """Draw the first repetition of each setting."""
        settings, columns, share = compared_panels(self.shown(results))
        height_inches = 3.4 if len(settings) == 1 else 2.5
        titles = [setting.title for setting in settings]
        figure, axes = panels(titles, columns, share=share, height_inches=height_inches)
        for axis, setting in zip(axes, settings, strict=True):
            view = self.views(results, setting)[0]
            draw_flows(axis, view, setting.style.colour)
            _draw_share(axis, view)
            _mark_failures(axis, view)
            axis.set_ylabel("goodput (Gb/s)")
        for axis in axes:  # scales are shared: a limit is known once every panel that shares it is drawn
            together = [axis, *axis.get_shared_y_axes().get_siblings(axis)]
            axis.set_ylim(0, 1.06 * max(float(one.dataLim.ymax) for one in together))
        legend_above(figure, axes)
        return figure

    def describe(self, results: Results) -> str:
        """Say between which rates the flows of each panel moved."""
        sentences = []
        for setting in self.shown(results):
            view = self.views(results, setting)[0]
            rows = view.deliveries
            if rows is None:
                continue
            low, high = (float(rows["goodput_bps"].quantile(quantile)) for quantile in (0.1, 0.9))
            sentences.append(
                f"{setting.title}: {counted(len(view.flow_ids), 'flow')}, eight in ten samples between"
                f" {quantity_text(low, Unit.RATE)} and {quantity_text(high, Unit.RATE)};"
                f" {counted(len(view.failed_flow_ids), 'queue pair')} failed."
            )
        return " ".join(sentences)


def draw_flows(axis: Axes, view: CellView, colour: str) -> None:
    """Draw one thin line per flow; neighbouring samples are averaged if there are too many to see."""
    rows = view.deliveries
    if rows is None:
        return
    end_ns = int(rows["t_ns"].max())
    width_ns = drawn_width_ns(int(rows["interval_ns"].max()), end_ns)
    edges_ns = np.append(np.arange(0, end_ns, width_ns), end_ns)
    for flow_id, flow in rows.groupby("flow_id", observed=True):
        delivered = np.zeros(len(edges_ns) - 1)
        np.add.at(delivered, (flow["t_ns"].to_numpy() - 1) // width_ns, flow["delivered_bytes"].to_numpy())
        goodput = delivered * 8 / np.diff(edges_ns)  # bits per ns are Gb/s
        label = "one flow" if flow_id == view.flow_ids[0] else None
        middles_ns = (edges_ns[:-1] + edges_ns[1:]) / 2
        start_ns, done_ns = view.spans[str(flow_id)]
        goodput[(middles_ns < start_ns - width_ns) | (middles_ns > done_ns + width_ns)] = np.nan
        axis.plot(middles_ns / 1e9, goodput, color=colour, linewidth=0.9, alpha=0.75, label=label)
    axis.set_xlim(0, end_ns / 1e9)
    axis.set_xlabel(f"time (s), averages over {duration_text(width_ns)}")


def _draw_share(axis: Axes, view: CellView) -> None:
    """Draw the ideal share: one line, or one that steps with the number of flows that have work."""
    ideal_bps = view.entry.number("ideal_goodput_bps")
    if not ideal_bps or not view.levels:
        return
    if view.is_simultaneous:
        rule(axis, ideal_bps / len(view.flow_ids) / 1e9, "ideal share")
        return
    shares = [ideal_bps / len(level.flow_ids) / 1e9 for level in view.levels]
    edges_s = [level.start_ns / 1e9 for level in view.levels] + [view.levels[-1].end_ns / 1e9]
    axis.step(
        edges_s,
        [*shares, shares[-1]],
        where="post",
        color=INK,
        linewidth=0.9,
        linestyle=(0, (8, 4)),
        label="ideal share",
        zorder=3,
    )


def drawn_width_ns(sample_ns: int, end_ns: int) -> int:
    """Return over how long goodput is averaged for drawing: 1, 2, 5, 10 ... samples."""
    decade = 1
    while True:
        for step in (1, 2, 5):
            if end_ns <= step * decade * sample_ns * POINTS_MAX:
                return step * decade * sample_ns
        decade *= 10


def _mark_failures(axis: Axes, view: CellView) -> None:
    flows = view.table("flows")
    if flows is None:
        return
    failed = flows[(flows["status"] == TransferStatus.ERROR) & flows["end_ns"].notna()]
    moments = failed.groupby("flow_id", observed=True)["end_ns"].min().to_numpy() / 1e9
    if len(moments):
        axis.plot(
            moments,
            np.zeros(len(moments)),
            linestyle="none",
            marker="x",
            markersize=7,
            markeredgewidth=1.8,
            color=ALARM,
            clip_on=False,
            zorder=4,
            label="queue pair failed",
        )
