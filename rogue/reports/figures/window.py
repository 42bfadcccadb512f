"""Figure: the agents' congestion windows and rate limits over time."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rogue.reports.figures.figure import ReportFigure
from rogue.reports.figures.marks import POINTS_MAX, draw_spread
from rogue.reports.figures.panels import panels
from rogue.reports.quantities import counted
from rogue.reports.results import Results
from rogue.reports.view import CellView


class WindowOverTime(ReportFigure):
    """Per setting two panels, window and rate limit: flows of the first repetition, spread of all."""

    title: ClassVar = "Congestion window and rate limit over time"
    needs: ClassVar = ("rtt",)
    panels_per_setting: ClassVar = 2
    caption: ClassVar = (
        "The congestion window in packets, and the rate that the NIC’s limiter enforces, after rounding up to"
        " the limiter’s step; both after each RTT sample that the agent accepted. Each thin line is one flow"
        " of the first repetition. The thick line is the median of all flows of all repetitions around that"
        " time, the band reaches from the least to the largest of them."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether the cell has an accepted sample."""
        samples = view.table("rtt")
        return samples is not None and bool(samples["accepted"].any())

    def draw(self, results: Results) -> Figure:
        """Draw both panels of each setting."""
        settings = self.shown(results)
        titles = [f"{setting.title}: {part}" for setting in settings for part in ("window", "rate limit")]
        figure, axes = panels(titles, share="none", legend=False)
        for row, setting in enumerate(settings):
            views = self.views(results, setting)
            _draw_samples(axes[2 * row], views, "cwnd_packets", 1.0, setting.style.colour)
            _draw_samples(axes[2 * row + 1], views, "limiter_bps", 1e9, setting.style.colour)
            axes[2 * row].set_ylabel("window (packets)")
            axes[2 * row + 1].set_ylabel("limit (Gb/s)")
        return figure

    def describe(self, results: Results) -> str:
        """Say between which windows eight in ten samples lie."""
        sentences = []
        for setting in self.shown(results):
            views = self.views(results, setting)
            windows = np.concatenate([_accepted(view, "cwnd_packets")["cwnd_packets"] for view in views])
            low, high = np.quantile(windows, (0.1, 0.9))
            sentences.append(
                f"{setting.title}: {counted(len(windows), 'sample')} in {counted(len(views), 'repetition')},"
                f" eight in ten windows between {low:.1f} and {high:.1f} packets."
            )
        return " ".join(sentences)


def _draw_samples(axis: Axes, views: Sequence[CellView], column: str, unit: float, colour: str) -> None:
    """Draw one thin line per flow of the first repetition, and the spread over all flows and repetitions."""
    samples = [_accepted(view, column) for view in views]
    together = pd.concat(samples)
    if together.groupby(together["flow_id"].astype(str)).ngroups * len(views) > 1:
        times_s = together["t_ns"].to_numpy(dtype=np.float64) / 1e9
        draw_spread(axis, times_s, together[column].to_numpy(dtype=np.float64) / unit, colour)
    for _, flow in samples[0].groupby("flow_id", observed=True):
        kept = np.unique(np.linspace(0, len(flow) - 1, min(POINTS_MAX, len(flow))).astype(int))
        axis.plot(
            flow["t_ns"].to_numpy()[kept] / 1e9,
            flow[column].to_numpy()[kept] / unit,
            color=colour,
            linewidth=0.7,
            alpha=0.6,
            drawstyle="steps-post",
        )
    axis.set_ylim(bottom=0)
    axis.set_xlim(left=0)
    axis.set_xlabel("time (s)")


def _accepted(view: CellView, column: str) -> pd.DataFrame:
    """Return the samples that the agent accepted and for which it had a value."""
    samples = view.table("rtt")
    assert samples is not None, "only cells with samples are drawn"
    return samples.loc[samples["accepted"] & samples[column].notna(), ["flow_id", "t_ns", column]]
