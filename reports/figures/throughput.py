"""Figure: goodput of each flow over time."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rogue.reports.cells.view import CellView
from rogue.reports.drawing.factor_axis import points_text
from rogue.reports.drawing.marks import POINTS_MAX, Values, draw_spread, seconds_axis
from rogue.reports.drawing.panels import compared_panels, legend_above, panels, scales_from_zero
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.quantities import Unit, counted, duration_text, joined, quantity_text
from rogue.reports.results import Results
from rogue.reports.transport_styles import ALARM, INK
from rogue.workloads.records import TransferStatus

# More lines than this are a carpet.
FLOWS_MAX = 64


class ThroughputOverTime(ReportFigure):
    """Small multiples: one panel per transport and factor point; flows of one repetition, spread of all."""

    title: ClassVar = "Throughput of each flow over time"
    needs: ClassVar = ("flows", "throughput")
    caption: ClassVar = (
        "Payload delivered in order at the receiver. Each thin line is one flow of the first repetition. The"
        " thick line is the median of all flows of all repetitions, the band reaches from the least to the"
        " largest of them. The dashed line is the ideal share, the bottleneck’s payload rate divided by the"
        " number of flows; where flows come and go it steps with the number of those that have work. Lines"
        " that stay close to it share the port evenly; a cross marks the moment at which a queue pair of the"
        " first repetition failed."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether a cell has samples of its flows, and not too many flows to draw one by one."""
        has_samples = view.deliveries is not None and not view.was_over_at_once
        return super().usable(view) and has_samples and len(view.flow_ids) <= FLOWS_MAX

    def omission(self, results: Results) -> str:
        """Return what has too many flows to draw one by one, beside what others leave out."""
        crowded = [
            setting
            for setting in results.measured_settings
            if any(len(view.flow_ids) > FLOWS_MAX for view in results.views_of(setting))
        ]
        if not crowded:
            return super().omission(results)
        named = points_text(crowded) if crowded[0].factors else joined([each.title for each in crowded])
        return f"{super().omission(results)} Not drawn, with more than {FLOWS_MAX} flows: {named}."

    @property
    def missing(self) -> str:
        """Return the sentence that stands in the figure’s place if no cell can be drawn."""
        return (
            f"No finished cell has samples of at most {FLOWS_MAX} flows (flows.parquet, throughput.parquet)"
            " that were not over before the first one."
        )

    def draw(self, results: Results) -> Figure:
        """Draw the flows of the first repetition of each setting, and the spread over all of them."""
        settings, columns, share = compared_panels(self.shown(results))
        if len({setting.transport for setting in settings}) == 1:
            share = "none"  # one transport over a factor: a share of many flows is seen on its own scale
        height_inches = 3.4 if len(settings) == 1 else 2.5
        titles = [setting.title for setting in settings]
        figure, axes = panels(titles, columns, share=share, height_inches=height_inches)
        for axis, setting in zip(axes, settings, strict=True):
            views = self.views(results, setting)
            view = views[0]
            _draw_spread(axis, views, setting.style.colour)
            draw_flows(axis, view, setting.style.colour)
            _draw_share(axis, view)
            _mark_failures(axis, view)
            axis.set_ylabel("goodput (Gb/s)")
        scales_from_zero(axes)
        legend_above(figure, axes)
        return figure

    def describe(self, results: Results) -> str:
        """Say between which rates the flows of each panel moved."""
        sentences = []
        for setting in self.shown(results):
            views = self.views(results, setting)
            samples = pd.concat([view.samples for view in views if view.samples is not None])
            low, high = (
                quantity_text(float(samples["goodput_bps"].quantile(share)), Unit.RATE)
                for share in (0.1, 0.9)
            )
            failed = sum(len(view.failed_flow_ids) for view in views)
            total = sum(len(view.flow_ids) for view in views)
            sentences.append(
                f"{setting.title}: {counted(len(views[0].flow_ids), 'flow')}"
                f" in {counted(len(views), 'repetition')}, eight in ten samples between {low} and {high};"
                f" {failed} of {counted(total, 'queue pair')} failed."
            )
        return " ".join(sentences)


def draw_flows(axis: Axes, view: CellView, colour: str) -> None:
    """Draw one thin line per flow; neighbouring samples are averaged if there are too many to see."""
    if view.deliveries is None:
        return
    end_ns, width_ns = _extent_ns(view.deliveries)
    middles_s, goodput = _goodput_gbps(view)
    for number, flow in enumerate(goodput):
        label = None if number else "one flow"
        axis.plot(middles_s, flow, color=colour, linewidth=0.8, alpha=0.6, label=label)
    axis.set_xlim(0, end_ns / 1e9)
    seconds_axis(axis, f", averages over {duration_text(width_ns)}")


def _extent_ns(rows: pd.DataFrame) -> tuple[int, int]:
    """Return the end of the samples and over how long they are averaged."""
    end_ns = int(rows["t_ns"].max())
    return end_ns, drawn_width_ns(int(rows["interval_ns"].max()), end_ns)


def _goodput_gbps(view: CellView) -> tuple[Values, Values]:
    """Return the middles (s) of the averages, and by flow the goodput; not a number where it had no work."""
    rows = view.deliveries
    assert rows is not None, "only cells with samples are drawn"
    end_ns, width_ns = _extent_ns(rows)
    edges_ns = np.append(np.arange(0, end_ns, width_ns), end_ns)
    goodput = view.delivered_between(edges_ns) * 8 / np.diff(edges_ns)  # bits per ns are Gb/s
    middles_ns = (edges_ns[:-1] + edges_ns[1:]) / 2
    for flow, (start_ns, done_ns) in zip(goodput, view.spans.values(), strict=True):
        flow[(middles_ns < start_ns - width_ns) | (middles_ns > done_ns + width_ns)] = np.nan
    return middles_ns / 1e9, goodput


def _draw_spread(axis: Axes, views: Sequence[CellView], colour: str) -> None:
    """Draw median and extent over all flows of all repetitions; a single line is its own spread."""
    drawn = [_goodput_gbps(view) for view in views]
    if sum(len(goodput) for _, goodput in drawn) < 2:
        return
    times_s = np.concatenate([np.tile(middles_s, len(goodput)) for middles_s, goodput in drawn])
    heights = np.concatenate([goodput.ravel() for _, goodput in drawn])
    known = ~np.isnan(heights)
    draw_spread(axis, times_s[known], heights[known], colour, "median of all")


def _draw_share(axis: Axes, view: CellView) -> None:
    """Draw the ideal share: one line, or one that steps with the number of flows that have work."""
    ideal_bps = view.entry.number("ideal_goodput_bps")
    if not ideal_bps or not view.levels:
        return
    counts = [len(level.flow_ids) for level in view.levels]
    edges_s = [level.start_ns / 1e9 for level in view.levels] + [view.levels[-1].end_ns / 1e9]
    if view.is_simultaneous:
        counts, edges_s = [len(view.flow_ids)], [edges_s[0], edges_s[-1]]
    shares = [ideal_bps / count / 1e9 for count in counts]
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
            label="connection failed",
        )
