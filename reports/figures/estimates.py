"""Figures: rates and round-trip times that agents estimate, beside the truth."""

from typing import ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rogue.reports.cells.view import CellView
from rogue.reports.drawing.marks import Values, draw_cdf, rule
from rogue.reports.drawing.panels import legend_above, panels
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.metrics.statistics import nearest_rank
from rogue.reports.quantities import Unit, counted, quantity_text
from rogue.reports.results import Results, Setting
from rogue.reports.transport_styles import INK, MUTED

LINES = (
    ("goodput_bps", "goodput at the receiver", "-"),
    ("cwnd_over_rtt_bps", "cwnd / RTT", "--"),
    ("limiter_bps", "rate limit", ":"),
)


class RateEstimate(ReportFigure):
    """One panel per setting: distributions of goodput, of cwnd / RTT and of the rate limit."""

    title: ClassVar = "The rate that arrives and the rate that the agent believes in"
    needs: ClassVar = ("flows", "throughput")
    caption: ClassVar = (
        "Over all flows and samples of all repetitions, per flow: payload that arrived, the agent’s own"
        " estimate cwnd / RTT, and the limit set in the NIC (which counts headers too). With a floor under"
        " the base RTT the estimate is the floor over the RTT of the true rate, so it lies left of the"
        " goodput whenever packets queue for longer than the floor; this follows from the rule and is not"
        " an error of the drawing."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether the agent of the cell estimates a rate."""
        rows = view.deliveries
        if rows is None or view.was_over_at_once:
            return False
        return bool(rows["cwnd_over_rtt_bps"].notna().any())

    @property
    def missing(self) -> str:
        """Return the sentence that stands in the figure’s place if no cell can be drawn."""
        return "No finished cell has an agent’s estimate of its rate (throughput.parquet, cwnd_over_rtt_bps)."

    def draw(self, results: Results) -> Figure:
        """Draw the distributions."""
        settings = self.shown(results)
        figure, axes = panels([setting.title for setting in settings], height_inches=2.8)
        for axis, setting in zip(axes, settings, strict=True):
            for (column, label, line), colour in zip(LINES, (setting.style.colour, INK, MUTED), strict=True):
                values = self._values(results, setting, column)
                if len(values):
                    draw_cdf(axis, values / 1e9, label, color=colour, linestyle=line)
            view = self.views(results, setting)[0]
            share_bps = view.ideal_share_bps if view.is_simultaneous else None
            if share_bps:
                rule(axis, share_bps / 1e9, "ideal share", vertical=True)
            axis.set_xlabel("per flow (Gb/s)")
            axis.set_ylabel("fraction of samples")
        axes[0].set_xlim(left=0)
        legend_above(figure, axes)
        return figure

    def describe(self, results: Results) -> str:
        """Say the median of each line."""
        sentences = []
        for setting in self.shown(results):
            values = {label: self._values(results, setting, column) for column, label, _ in LINES}
            medians = [
                f"{label} {quantity_text(nearest_rank(rates, 50), Unit.RATE)}"
                for label, rates in values.items()
                if len(rates)
            ]
            sentences.append(f"{setting.title}, medians: {', '.join(medians)}.")
        return " ".join(sentences)

    def _values(self, results: Results, setting: Setting, column: str) -> Values:
        rows = [view.samples for view in self.views(results, setting)]
        values = [frame[column].dropna().to_numpy(dtype=np.float64) for frame in rows if frame is not None]
        return np.concatenate(values)


class RttEstimate(ReportFigure):
    """Per setting two panels: both distributions, and the distribution of their difference."""

    title: ClassVar = "Round-trip time: what the agent estimates and what is true"
    needs: ClassVar = ("rtt",)
    panels_per_setting: ClassVar = 2
    caption: ClassVar = (
        "Left: cumulative distributions of the agent’s accepted estimates and of the simulator’s truth"
        " for the same batches (completion minus the moment at which the last byte left the NIC), which"
        " the agent never sees. Right: estimate minus truth, batch by batch; a line that rises at zero is"
        " an unbiased estimator. All repetitions together."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether the truth is known for a sample of the cell."""
        return super().usable(view) and len(_known(view)) > 0

    @property
    def missing(self) -> str:
        """Return the sentence that stands in the figure’s place if no cell can be drawn."""
        return "No finished cell has RTT samples of which the truth is known (rtt.parquet, true_rtt_ns)."

    def draw(self, results: Results) -> Figure:
        """Draw both panels of each setting."""
        settings = self.shown(results)
        titles = [
            f"{setting.title}: {part}" for setting in settings for part in ("estimate and truth", "error")
        ]
        figure, axes = panels(titles, share="none", height_inches=2.7, legend=False)
        for row, setting in enumerate(settings):
            pairs = self._pairs(results, setting)
            _draw_pair(axes[2 * row], pairs, setting)
            _draw_difference(axes[2 * row + 1], pairs, setting)
        return figure

    def describe(self, results: Results) -> str:
        """Say the medians and the median difference."""
        sentences = []
        for setting in self.shown(results):
            pairs = self._pairs(results, setting)
            estimate, truth, difference = (
                nearest_rank(values, 50) for values in (pairs[:, 0], pairs[:, 1], pairs[:, 0] - pairs[:, 1])
            )
            sentences.append(
                f"{setting.title}: {counted(len(pairs), 'sample')}, median estimate"
                f" {quantity_text(estimate, Unit.TIME)}, median truth {quantity_text(truth, Unit.TIME)},"
                f" median difference {quantity_text(difference, Unit.TIME)}."
            )
        return " ".join(sentences)

    def _pairs(self, results: Results, setting: Setting) -> Values:
        return np.concatenate([_known(view) for view in self.views(results, setting)])


def _known(view: CellView) -> Values:
    """Return estimate and truth (ns) of the accepted samples of which the truth is known."""
    samples = view.table("rtt")
    if samples is None:
        return np.empty((0, 2))
    known = samples[samples["accepted"] & samples["true_rtt_ns"].notna()]
    return known[["rtt_ns", "true_rtt_ns"]].to_numpy(dtype=np.float64)


def _draw_pair(axis: Axes, pairs: Values, setting: Setting) -> None:
    draw_cdf(axis, pairs[:, 1] / 1e3, "truth", color=MUTED, linestyle="--")
    draw_cdf(axis, pairs[:, 0] / 1e3, "estimate", color=setting.style.colour)
    low, high = np.percentile(pairs / 1e3, [0.2, 99.8])
    axis.set_xlim(low - 0.05 * (high - low) - 1, high + 0.05 * (high - low) + 1)
    axis.set_xlabel("round-trip time (µs)")
    axis.set_ylabel("fraction of samples")
    axis.legend(loc="lower right")


def _draw_difference(axis: Axes, pairs: Values, setting: Setting) -> None:
    difference_us = (pairs[:, 0] - pairs[:, 1]) / 1e3
    draw_cdf(axis, difference_us, None, color=setting.style.colour)
    rule(axis, 0.0, "no error", vertical=True)
    low, high = np.percentile(difference_us, [0.5, 99.5])
    margin = max(1.0, 0.1 * (high - low))
    axis.set_xlim(min(low - margin, -3), max(high + margin, 3))
    axis.set_xlabel("estimate − truth (µs)")
    axis.set_ylabel("fraction of samples")
    axis.legend(loc="lower right")
