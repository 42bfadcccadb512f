"""Figures: how many bytes wait at the bottleneck, over time and as a distribution."""

import math
from typing import ClassVar, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rogue.reports.cells.view import CellView
from rogue.reports.drawing.marks import POINTS_MAX, Values, draw_cdf, line_look, seconds_axis, size_axis
from rogue.reports.drawing.panels import compared_panels, legend_above, panels, plain
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.metrics.statistics import nearest_rank
from rogue.reports.quantities import joined, size_text
from rogue.reports.results import Results, Setting, settings_by_point
from rogue.reports.results.wording import value_text

# The metric of tables and cards that the words of both figures quote.
MEDIAN: Final = "queue_p50_bytes"


class QueueOverTime(ReportFigure):
    """Small multiples: one panel per transport and factor point, all repetitions together.

    Band and line are of two columns, the longest queue between samples and the samples, so that
    `draw_spread`, which knows one, does not draw them.
    """

    title: ClassVar = "Queue at the bottleneck over time"
    needs: ClassVar = ("queues",)
    caption: ClassVar = (
        "Bytes waiting at the switch port with the longest average queue, all repetitions together. Line:"
        " median of neighbouring samples; band: the shortest sample to the longest queue between samples."
        " The axis is logarithmic above 1 KB and the same in all panels."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether the bottleneck was sampled while there was traffic."""
        return super().usable(view) and view.whole_bottleneck_queue is not None

    def draw(self, results: Results) -> Figure:
        """Draw the queue of each setting."""
        settings, columns, _ = compared_panels(self.shown(results))
        figure, axes = panels([setting.title for setting in settings], columns, legend=False)
        for axis, setting in zip(axes, settings, strict=True):
            _draw_queue(axis, self._queue(results, setting), setting.style.colour)
            seconds_axis(axis)
            axis.set_ylabel("bytes queued")
        queues = [self._queue(results, setting) for setting in settings]
        lowest = min(float(queue["bytes"].min()) for queue in queues)
        highest = max(float(queue["max_bytes"].max()) for queue in queues)
        for axis in axes:  # the axes are shared: the limits are those of all panels together
            size_axis(axis, lowest, highest, vertical=True)
        return figure

    def describe(self, results: Results) -> str:
        """Say median and maximum of each panel."""
        sentences = []
        for setting in self.shown(results):
            queue = self._queue(results, setting)
            ports = dict.fromkeys(
                view.bottleneck_port[0] for view in self.views(results, setting) if view.bottleneck_port
            )
            longest = float(queue["max_bytes"].max())
            sentences.append(
                f"{setting.title}: port {joined(list(ports))}, median {value_text(results, setting, MEDIAN)},"
                f" longest of all repetitions {size_text(longest)}."
            )
        return " ".join(sentences)

    def _queue(self, results: Results, setting: Setting) -> pd.DataFrame:
        queues = [view.whole_bottleneck_queue for view in self.views(results, setting)]
        return pd.concat([queue for queue in queues if queue is not None])


class QueueDistribution(ReportFigure):
    """One panel per factor point, one cumulative line per transport, all repetitions together."""

    title: ClassVar = "Queue at the bottleneck, distribution"
    needs: ClassVar = ("queues",)
    panels_per_setting: ClassVar = 0
    caption: ClassVar = (
        "Height: fraction of samples with at most so many bytes waiting; further left is better. Samples"
        " are taken at fixed instants while all flows have work, or while transfers arrive; all repetitions"
        " together. The axis is"
        " logarithmic above 1 KB."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether the bottleneck was sampled while there was traffic."""
        return super().usable(view) and view.bottleneck_queue is not None

    def draw(self, results: Results) -> Figure:
        """Draw the cumulative distributions."""
        points = settings_by_point(self.shown(results))
        figure, axes = panels(list(points), height_inches=2.8)
        low, high = math.inf, 0.0
        for axis, settings in zip(axes, points.values(), strict=True):
            for setting in settings:
                values = self._values(results, setting)
                low, high = min(low, float(values.min())), max(high, float(values.max()))
                median = f" (median {value_text(results, setting, MEDIAN)})" if len(axes) == 1 else ""
                label = plain(f"{setting.style.name}{median}")
                draw_cdf(axis, values, label, **line_look(setting.style, len(settings)))
            axis.set_xlabel("bytes queued")
            axis.set_ylabel("fraction of samples")
        for axis in axes:
            size_axis(axis, low, high, vertical=False)
        legend_above(figure, axes)
        return figure

    def describe(self, results: Results) -> str:
        """Say median and 99th percentile of each line."""
        sentences = []
        for setting in self.shown(results):
            values = self._values(results, setting)
            median, tail = value_text(results, setting, MEDIAN), nearest_rank(values, 99) or 0
            sentences.append(f"{setting.title}: median {median}, 99 % of samples at most {size_text(tail)}.")
        return " ".join(sentences)

    def _values(self, results: Results, setting: Setting) -> Values:
        queues = [view.bottleneck_queue for view in self.views(results, setting)]
        return np.concatenate(
            [queue["bytes"].to_numpy(dtype=np.float64) for queue in queues if queue is not None]
        )


def _draw_queue(axis: Axes, queue: pd.DataFrame, colour: str) -> None:
    """Draw median and band of at most POINTS_MAX groups of samples at neighbouring instants."""
    start_ns, end_ns = float(queue["t_ns"].min()), float(queue["t_ns"].max())
    count = min(POINTS_MAX, queue["t_ns"].nunique())
    width_ns = (end_ns - start_ns) / count or 1.0
    number = np.minimum((queue["t_ns"] - start_ns) // width_ns, count - 1)
    groups = queue.groupby(number)
    middles_s = groups["t_ns"].mean() / 1e9
    low, high = groups["bytes"].min(), groups["max_bytes"].max()
    axis.fill_between(middles_s, low, high, color=colour, alpha=0.25, linewidth=0)
    axis.plot(middles_s, groups["bytes"].median(), color=colour)
    axis.set_xlim(0, end_ns / 1e9)
