"""Figure: the rate that arrives beside the rates that the agent derives."""

from typing import ClassVar

import numpy as np
from matplotlib.figure import Figure

from rogue.reports.cells.view import CellView
from rogue.reports.drawing.marks import Values, draw_cdf, rule
from rogue.reports.drawing.panels import legend_above, panels
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.metrics.percentiles import nearest_rank
from rogue.reports.quantities import Unit, quantity_text
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
