"""Figure: how long a probe takes through the busy port."""

from typing import ClassVar

import numpy as np
from matplotlib.figure import Figure

from reports.figures.figure import ReportFigure
from reports.figures.marks import Values, draw_cdf, time_axis
from reports.figures.panels import legend_above, panels, plain
from reports.metrics.delay import own_probes
from reports.metrics.percentiles import nearest_rank
from reports.quantities import counted, duration_text
from reports.results import Results, Setting, settings_by_point
from reports.view import CellView
from workloads.records import TransferStatus


class ProbeLatency(ReportFigure):
    """One panel per factor point, one cumulative line per transport, all repetitions together."""

    title: ClassVar = "Latency of a probe beside the traffic"
    needs: ClassVar = ("latency",)
    caption: ClassVar = (
        "A host that sends no bulk traffic posts a WRITE of 0 bytes to the receiver at regular instants, also"
        " while earlier ones are on their way. So it feels the queue that the traffic builds, and the"
        " timeouts of probes that were dropped. Height: fraction of probes that took at most the time below;"
        " further left is better. The time axis is logarithmic. All repetitions together; probes that did"
        " not complete are not part of the line."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether a probe of the cell completed."""
        return super().usable(view) and len(_probe_ns(view)) > 0

    def draw(self, results: Results) -> Figure:
        """Draw the cumulative distributions."""
        points = settings_by_point(self.shown(results))
        figure, axes = panels(list(points), height_inches=2.8)
        for axis, settings in zip(axes, points.values(), strict=True):
            for setting in settings:
                values = self._values(results, setting)
                median = f" (median {duration_text(nearest_rank(values, 50) or 0)})" if len(axes) == 1 else ""
                label = plain(f"{setting.style.name}{median}")
                draw_cdf(axis, values, setting.style.colour, setting.style.line, label)
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
            median, tail = nearest_rank(values, 50) or 0, nearest_rank(values, 99) or 0
            sentences.append(
                f"{setting.title}: {counted(len(values), 'probe')}, median {duration_text(median)},"
                f" 99 % within {duration_text(tail)}."
            )
        return " ".join(sentences)

    def _values(self, results: Results, setting: Setting) -> Values:
        return np.concatenate([_probe_ns(view) for view in self.views(results, setting)])


def _probe_ns(view: CellView) -> Values:
    probes = own_probes(view)
    if probes is None:
        return np.empty(0)
    done = probes.loc[probes["status"] == TransferStatus.OK, "rtt_ns"].dropna()
    return done.to_numpy(dtype=np.float64)
