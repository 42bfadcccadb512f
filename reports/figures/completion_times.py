"""Figure: how long transfers take, as a distribution, where there are many of them."""

from typing import ClassVar, Final

import numpy as np
from matplotlib.figure import Figure

from rogue.reports.cells.view import CellView
from rogue.reports.drawing.marks import Values, draw_cdf, line_look, time_axis
from rogue.reports.drawing.panels import legend_above, panels, plain
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.metrics.completion import counted, transfer_times_ns
from rogue.reports.results import Results, Setting, settings_by_point
from rogue.reports.results.wording import spoken_text, value_text

# Fewer transfers than this are too few for a distribution; the tables have their percentiles.
TRANSFERS_MIN: Final = 200


class CompletionTimes(ReportFigure):
    """Per factor point a panel for the long and one for the short transfers, one line per transport."""

    title: ClassVar = "Completion times of the transfers"
    needs: ClassVar = ("flows",)
    panels_per_setting: ClassVar = 0
    caption: ClassVar = (
        "Height: fraction of the transfers that completed within the time below; further left is better. Long"
        " transfers have at least 64 KiB, short ones less. A line that ends below 1 shows transfers that did"
        " not complete. The time axis is logarithmic. All repetitions together."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether the cell has enough transfers, which start whether or not others are done.

        Some of them must complete: otherwise there is no line.
        """
        taken_ns, wanted = transfer_times_ns(view, None), counted(view)
        if view.transfers is None or taken_ns is None or len(taken_ns) < TRANSFERS_MIN:
            return False
        if not np.isfinite(taken_ns).any():
            return False
        has_connection_each = len(np.unique(view.transfers.flow[wanted])) == len(taken_ns)
        return has_connection_each or not view.is_always_busy

    @property
    def missing(self) -> str:
        """Return the sentence that stands in the figure’s place if no cell can be drawn."""
        return (
            f"No finished cell has {TRANSFERS_MIN} transfers that start at their own times and complete"
            " (flows.parquet)."
        )

    def draw(self, results: Results) -> Figure:
        """Draw the cumulative distributions."""
        points = settings_by_point(self.shown(results))
        classes = [is_long for is_long in (True, False) if self._has(results, is_long)]
        kinds = [(point, is_long) for point in points for is_long in classes]
        titles = [": ".join(filter(None, (point, _class_name(is_long)))) for point, is_long in kinds]
        figure, axes = panels(titles, len(classes), share="none")
        for axis, (point, is_long) in zip(axes, kinds, strict=True):
            for setting in points[point]:
                values, style = self._times(results, setting, is_long=is_long), setting.style
                if len(values):
                    median = value_text(results, setting, _metric(is_long, 50))
                    label = f"{style.name} (median {median})" if len(axes) == 1 else style.name
                    draw_cdf(axis, values, plain(label), **line_look(style, len(points[point])))
            time_axis(axis)
            axis.set_xlabel("completion time")
            axis.set_ylabel("fraction of transfers")
        legend_above(figure, axes)
        return figure

    def describe(self, results: Results) -> str:
        """Say count, median and 90th percentile of each line."""
        sentences = []
        for setting in self.shown(results):
            for is_long in (True, False):
                values = self._times(results, setting, is_long=is_long)
                if not len(values):
                    continue
                median, tail = (
                    spoken_text(results, setting, _metric(is_long, percent)) for percent in (50, 90)
                )
                sentences.append(
                    f"{setting.title}: {np.isfinite(values).sum()} of {len(values)} {_class_name(is_long)}"
                    f" completed; median {median}; 90th percentile {tail}."
                )
        return " ".join(sentences)

    def _has(self, results: Results, is_long: bool) -> bool:
        times = [self._times(results, setting, is_long=is_long) for setting in self.shown(results)]
        return any(np.isfinite(values).any() for values in times)

    def _times(self, results: Results, setting: Setting, *, is_long: bool) -> Values:
        """Return the completion times (ns) of a size class, infinite where a transfer did not complete."""
        of_views = [transfer_times_ns(view, is_long) for view in self.views(results, setting)]
        return np.concatenate([np.empty(0), *(taken_ns for taken_ns in of_views if taken_ns is not None)])


def _class_name(is_long: bool) -> str:
    return "long transfers" if is_long else "short transfers"


def _metric(is_long: bool, percent: int) -> str:
    """Return the name of the metric of the tables and cards that a line's words quote."""
    return f"{'long' if is_long else 'short'}_fct_p{percent}_ns"
