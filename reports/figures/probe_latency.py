"""Figure: how long a probe takes through the busy port."""

from typing import ClassVar

import numpy as np
from matplotlib.figure import Figure

from rogue.reports.cells.view import CellView
from rogue.reports.drawing.marks import Values, draw_cdf, line_look, time_axis
from rogue.reports.drawing.panels import legend_above, panels, plain
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.metrics.delay import own_probes, probe_rtts_ns
from rogue.reports.quantities import counted
from rogue.reports.results import Results, Setting, settings_by_point
from rogue.reports.results.wording import lost_text, spoken_text, value_text


class ProbeLatency(ReportFigure):
    """One panel per factor point, one cumulative line per transport, all repetitions together."""

    title: ClassVar = "Latency of a probe beside the traffic"
    needs: ClassVar = ("latency",)
    panels_per_setting: ClassVar = 0
    caption: ClassVar = (
        "A host that sends no bulk traffic posts a WRITE of 0 bytes to the receiver at regular instants, also"
        " while earlier ones are on their way. So it feels the queue that the traffic builds, and the"
        " timeouts of probes that were dropped. Height: fraction of probes that took at most the time below;"
        " further left is better. A line that ends below 1 shows probes that did not complete. The time axis"
        " is logarithmic. All repetitions together."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether the cell has probes of its own."""
        return super().usable(view) and own_probes(view) is not None

    def draw(self, results: Results) -> Figure:
        """Draw the cumulative distributions."""
        points = settings_by_point(self.shown(results))
        figure, axes = panels(list(points), height_inches=2.8)
        for axis, settings in zip(axes, points.values(), strict=True):
            for setting in settings:
                values = self._values(results, setting)
                label = plain(f"{setting.style.name}{_median(results, setting) if len(axes) == 1 else ''}")
                draw_cdf(axis, values, label, **line_look(setting.style, len(settings)))
            time_axis(axis)
            axis.set_xlabel("probe: posted to completion")
            axis.set_ylabel("fraction of probes")
        legend_above(figure, axes)
        return figure

    def describe(self, results: Results) -> str:
        """Say median and 99th percentile of each line."""
        sentences = []
        for setting in self.shown(results):
            values = self._values(results, setting)
            median, tail = (spoken_text(results, setting, f"probe_p{percent}_ns") for percent in (50, 99))
            sentences.append(
                f"{setting.title}: {counted(len(values), 'probe')}, median {median}; 99th percentile {tail}."
            )
        return " ".join(sentences)

    def _values(self, results: Results, setting: Setting) -> Values:
        return np.concatenate([probe_rtts_ns(view) for view in self.views(results, setting)])


def _median(results: Results, setting: Setting) -> str:
    """Return ` (median 71 µs)`; what was lost where a run has none, for the line of all runs may have one."""
    mean, lost = results.mean(setting, "probe_p50_ns"), lost_text(results, setting, "probe_p50_ns")
    if lost and mean is not None and not mean.exists:
        return f" ({lost})"
    return f" (median {value_text(results, setting, 'probe_p50_ns')})"
