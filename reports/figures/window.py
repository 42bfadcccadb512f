"""Figure: the agents' congestion windows and rate limits over time."""

from typing import ClassVar

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from rogue.reports.cells.view import CellView
from rogue.reports.drawing.flow_lines import draw_flow_lines
from rogue.reports.drawing.panels import panels
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.metrics.estimates import overruled_share
from rogue.reports.quantities import Unit, counted, quantity_text
from rogue.reports.results import Results


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

    def omission(self, results: Results) -> str:
        """Return the sentence about windows that the floor of two batches overruled, too."""
        told = []
        for setting in self.shown(results):
            shares = [overruled_share(view) for view in self.views(results, setting)]
            known = [share for share in shares if share is not None]
            if any(known):
                told.append(f"{setting.title} {quantity_text(float(np.mean(known)), Unit.PERCENT)}")
        overruled = " Two batches are posted whatever the window says. It was smaller after so many samples:"
        end = "; there the limiter alone controls."
        return (f"{overruled} {', '.join(told)}{end}" if told else "") + super().omission(results)

    def draw(self, results: Results) -> Figure:
        """Draw both panels of each setting."""
        settings = self.shown(results)
        titles = [f"{setting.title}: {part}" for setting in settings for part in ("window", "rate limit")]
        figure, axes = panels(titles, share="none", legend=False)
        for row, setting in enumerate(settings):
            views = self.views(results, setting)
            columns = (("cwnd_packets", 1.0, "window (packets)"), ("limiter_bps", 1e9, "limit (Gb/s)"))
            for axis, (column, unit, label) in zip(axes[2 * row :], columns, strict=False):
                samples = [_accepted(view, column) for view in views]
                draw_flow_lines(axis, samples, (column, unit), setting.style.colour)
                axis.set_ylim(bottom=0)
                axis.set_ylabel(label)
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


def _accepted(view: CellView, column: str) -> pd.DataFrame:
    """Return the samples that the agent accepted and for which it had a value."""
    samples = view.table("rtt")
    assert samples is not None, "only cells with samples are drawn"
    return samples.loc[samples["accepted"] & samples[column].notna(), ["flow_id", "t_ns", column]]
