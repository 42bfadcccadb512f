"""Figure: the agents' congestion windows and rate limits over time."""

from typing import ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.figures.figure import PANELS_MAX, ReportFigure
from reports.figures.marks import POINTS_MAX
from reports.figures.panels import panels
from reports.quantities import counted
from reports.results import Results
from reports.view import CellView


class WindowOverTime(ReportFigure):
    """Per setting two panels, the first repetition: window of each flow, rate limit of each flow."""

    title: ClassVar = "Congestion window and rate limit over time"
    needs: ClassVar = ("rtt",)
    settings_max: ClassVar = PANELS_MAX // 2
    caption: ClassVar = (
        "Each line is one flow of the first repetition, after each RTT sample that the agent accepted."
        " Left: the congestion window in packets. Right: the rate that the NIC’s limiter enforces, after"
        " rounding up to the limiter’s step."
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
            view = self.views(results, setting)[0]
            _draw_samples(axes[2 * row], view, "cwnd_packets", 1.0, setting.style.colour)
            _draw_samples(axes[2 * row + 1], view, "limiter_bps", 1e9, setting.style.colour)
            axes[2 * row].set_ylabel("window (packets)")
            axes[2 * row + 1].set_ylabel("limit (Gb/s)")
        return figure

    def describe(self, results: Results) -> str:
        """Say between which windows eight in ten samples lie."""
        sentences = []
        for setting in self.shown(results):
            view = self.views(results, setting)[0]
            samples = view.table("rtt")
            if samples is None:
                continue
            windows = samples.loc[samples["accepted"], "cwnd_packets"]
            low, high = float(windows.quantile(0.1)), float(windows.quantile(0.9))
            sentences.append(
                f"{setting.title}: {counted(len(windows), 'sample')}, eight in ten windows between"
                f" {low:.1f} and {high:.1f} packets."
            )
        return " ".join(sentences)


def _draw_samples(axis: Axes, view: CellView, column: str, unit: float, colour: str) -> None:
    """Draw one thin line per flow; of too many samples equally spaced ones are drawn."""
    samples = view.table("rtt")
    if samples is None:
        return
    accepted = samples[samples["accepted"] & samples[column].notna()]
    for _, flow in accepted.groupby("flow_id", observed=True):
        kept = np.unique(np.linspace(0, len(flow) - 1, min(POINTS_MAX, len(flow))).astype(int))
        axis.plot(
            flow["t_ns"].to_numpy()[kept] / 1e9,
            flow[column].to_numpy()[kept] / unit,
            color=colour,
            linewidth=0.8,
            alpha=0.7,
            drawstyle="steps-post",
        )
    axis.set_ylim(bottom=0)
    axis.set_xlim(left=0)
    axis.set_xlabel("time (s)")
