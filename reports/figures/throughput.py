"""Figure: goodput of each flow over time."""

from typing import ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.figures.figure import PANELS_MAX, POINTS_MAX, ReportFigure, legend_above, panels, rule
from reports.quantities import Unit, counted, duration_text, quantity_text
from reports.results import Results
from reports.style import ALARM
from reports.view import CellView
from workloads.records import TransferStatus


class ThroughputOverTime(ReportFigure):
    """Small multiples: one panel per transport and factor point, one line per flow, the first repetition."""

    title: ClassVar = "Throughput of each flow over time"
    needs: ClassVar = ("flows", "throughput")
    caption: ClassVar = (
        "Each line is one flow: payload delivered in order at the receiver. The dashed line is the ideal"
        " share, the bottleneck's payload rate divided by the number of flows. Lines that stay close to it"
        " share the port evenly; a cross marks the moment at which a queue pair failed. The first"
        " repetition of each panel is drawn; the tables are over all repetitions."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether a cell has samples of its flows."""
        return super().usable(view) and view.deliveries is not None

    def draw(self, results: Results) -> Figure:
        """Draw the first repetition of each setting."""
        settings = self.settings(results)[:PANELS_MAX]
        figure, axes = panels([setting.title for setting in settings])
        for axis, setting in zip(axes, settings, strict=True):
            view = self.views(results, setting)[0]
            _draw_flows(axis, view, setting.style.colour)
            if view.ideal_share_bps:
                rule(axis, view.ideal_share_bps / 1e9, "ideal share")
            _mark_failures(axis, view)
            axis.set_ylabel("goodput (Gb/s)")
        highest = max(float(axis.dataLim.ymax) for axis in axes)
        axes[0].set_ylim(0, 1.05 * highest)  # the axis is shared: set it once everything is drawn
        richest = max(axes, key=lambda axis: len(axis.get_legend_handles_labels()[1]))
        legend_above(figure, richest)
        return figure

    def describe(self, results: Results) -> str:
        """Say between which rates the flows of each panel moved."""
        sentences = []
        for setting in self.settings(results)[:PANELS_MAX]:
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


def _draw_flows(axis: Axes, view: CellView, colour: str) -> None:
    """Draw one thin line per flow; neighbouring samples are averaged if there are too many to see."""
    rows = view.deliveries
    if rows is None:
        return
    sample_ns = int(rows["interval_ns"].max())
    steps = -(-int(rows["t_ns"].max()) // sample_ns)
    width_ns = sample_ns * -(-steps // POINTS_MAX)
    count = -(-int(rows["t_ns"].max()) // width_ns)
    for flow_id, flow in rows.groupby("flow_id", observed=True):
        delivered = np.zeros(count)
        np.add.at(delivered, (flow["t_ns"].to_numpy() - 1) // width_ns, flow["delivered_bytes"].to_numpy())
        label = "one flow" if flow_id == view.flow_ids[0] else None
        middles_s = (np.arange(count) + 0.5) * width_ns / 1e9
        goodput = delivered * 8 / width_ns
        axis.plot(middles_s, goodput, color=colour, linewidth=0.9, alpha=0.75, label=label)
    axis.set_xlim(0, count * width_ns / 1e9)
    axis.set_xlabel(f"time (s), averages over {duration_text(width_ns)}")


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
