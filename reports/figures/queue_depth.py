"""Figures: how many bytes wait at the bottleneck, over time and as a distribution."""

import math
from typing import ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.figures.figure import ReportFigure
from reports.figures.marks import POINTS_MAX, Values, draw_cdf, size_axis
from reports.figures.panels import compared_panels, legend_above, panels, plain
from reports.metrics.percentiles import nearest_rank
from reports.quantities import size_text
from reports.results import Results, Setting, settings_by_point
from reports.view import CellView


class QueueOverTime(ReportFigure):
    """Small multiples: one panel per transport and factor point, the first repetition."""

    title: ClassVar = "Queue at the bottleneck over time"
    needs: ClassVar = ("queues",)
    caption: ClassVar = (
        "Bytes waiting at the switch port with the longest average queue. Line: median of neighbouring"
        " samples; band: the shortest sample to the longest queue between samples. The axis is logarithmic"
        " above 1 KB and the same in all panels. The first repetition of each panel is drawn."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether the bottleneck was sampled while there was traffic."""
        return super().usable(view) and view.bottleneck_queue is not None

    def draw(self, results: Results) -> Figure:
        """Draw the first repetition of each setting."""
        settings, columns, _ = compared_panels(self.shown(results))
        figure, axes = panels([setting.title for setting in settings], columns, legend=False)
        for axis, setting in zip(axes, settings, strict=True):
            _draw_queue(axis, self.views(results, setting)[0], setting.style.colour)
            axis.set_xlabel("time (s)")
            axis.set_ylabel("bytes queued")
        queues = [self.views(results, setting)[0].bottleneck_queue for setting in settings]
        lowest = min(float(queue["bytes"].min()) for queue in queues if queue is not None)
        highest = max(float(queue["max_bytes"].max()) for queue in queues if queue is not None)
        for axis in axes:  # the axes are shared: the limits are those of all panels together
            size_axis(axis, lowest, highest, vertical=True)
        return figure

    def describe(self, results: Results) -> str:
        """Say median and maximum of each panel."""
        sentences = []
        for setting in self.shown(results):
            view = self.views(results, setting)[0]
            if view.bottleneck_queue is not None and view.bottleneck_port is not None:
                median = nearest_rank(view.bottleneck_queue["bytes"].to_numpy(), 50) or 0
                longest = float(view.bottleneck_queue["max_bytes"].max())
                sentences.append(
                    f"{setting.title}: port {view.bottleneck_port[0]}, median {size_text(median)},"
                    f" longest {size_text(longest)}."
                )
        return " ".join(sentences)


class QueueDistribution(ReportFigure):
    """One panel per factor point, one cumulative line per transport, all repetitions together."""

    title: ClassVar = "Queue at the bottleneck, distribution"
    needs: ClassVar = ("queues",)
    caption: ClassVar = (
        "Height: fraction of samples with at most so many bytes waiting; further left is better. Samples"
        " are taken at fixed instants while all flows have work, all repetitions together. The axis is"
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
                median = f" (median {size_text(nearest_rank(values, 50) or 0)})" if len(axes) == 1 else ""
                label = plain(f"{setting.style.name}{median}")
                draw_cdf(axis, values, setting.style.colour, setting.style.line, label)
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
            median, tail = nearest_rank(values, 50) or 0, nearest_rank(values, 99) or 0
            sentences.append(
                f"{setting.title}: median {size_text(median)}, 99 % of samples at most {size_text(tail)}."
            )
        return " ".join(sentences)

    def _values(self, results: Results, setting: Setting) -> Values:
        queues = [view.bottleneck_queue for view in self.views(results, setting)]
        return np.concatenate(
            [queue["bytes"].to_numpy(dtype=np.float64) for queue in queues if queue is not None]
        )


def _draw_queue(axis: Axes, view: CellView, colour: str) -> None:
    """Draw median and band of at most POINTS_MAX groups of neighbouring samples."""
    queue = view.bottleneck_queue
    if queue is None:
        return
    parts = np.array_split(np.arange(len(queue)), min(POINTS_MAX, len(queue)))
    times, sizes, longest = (queue[name].to_numpy() for name in ("t_ns", "bytes", "max_bytes"))
    middles_s = [float(times[part].mean()) / 1e9 for part in parts]
    low, high = [sizes[part].min() for part in parts], [longest[part].max() for part in parts]
    axis.fill_between(middles_s, low, high, color=colour, alpha=0.25, linewidth=0)
    axis.plot(middles_s, [float(np.median(sizes[part])) for part in parts], color=colour)
    axis.set_xlim(0, float(times.max()) / 1e9)
