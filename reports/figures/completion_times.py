"""Figure: how long transfers take, as a distribution, where there are many of them."""

from typing import ClassVar, Final

import numpy as np
from matplotlib.figure import Figure

from reports.figures.figure import ReportFigure
from reports.figures.marks import Values, draw_cdf, time_axis
from reports.figures.panels import legend_above, panels, plain
from reports.metrics.completion import LONG_FROM_BYTES, transfers
from reports.metrics.percentiles import nearest_rank
from reports.quantities import duration_text
from reports.results import Results, Setting, settings_by_point
from reports.view import CellView
from workloads.records import TransferStatus

# Fewer transfers than this are too few for a distribution; the tables have their percentiles.
TRANSFERS_MIN: Final = 200


class CompletionTimes(ReportFigure):
    """Per factor point a panel for the long and one for the short transfers, one line per transport."""

    title: ClassVar = "Completion times of the transfers"
    needs: ClassVar = ("flows",)
    caption: ClassVar = (
        "Height: fraction of the transfers that completed within the time below; further left is better. Long"
        " transfers have at least 64 KiB, short ones less. A line that ends below 1 shows transfers that did"
        " not complete. The time axis is logarithmic. All repetitions together."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether the cell has enough transfers, which start whether or not others are done."""
        rows = transfers(view)
        if rows is None or len(rows) < TRANSFERS_MIN:
            return False
        has_connection_each = rows["flow_id"].nunique() == len(rows)
        return has_connection_each or not view.is_always_busy

    @property
    def missing(self) -> str:
        """Return the sentence that stands in the figure’s place if no cell can be drawn."""
        return (
            f"No finished cell has {TRANSFERS_MIN} transfers that start at their own times (flows.parquet)."
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
                times_ns, style = self._times(results, setting, is_long=is_long), setting.style
                if np.isfinite(times_ns).any():
                    draw_cdf(axis, times_ns, style.colour, style.line, plain(style.name))
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
                times_ns = self._times(results, setting, is_long=is_long)
                done_ns = times_ns[np.isfinite(times_ns)]
                if len(done_ns):
                    median, tail = (nearest_rank(done_ns, percent) or 0 for percent in (50, 90))
                    sentences.append(
                        f"{setting.title}: {len(done_ns)} of {len(times_ns)} {_class_name(is_long)}"
                        f" completed, half of them within {duration_text(median)}, nine in ten within"
                        f" {duration_text(tail)}."
                    )
        return " ".join(sentences)

    def _has(self, results: Results, is_long: bool) -> bool:
        times = [self._times(results, setting, is_long=is_long) for setting in self.shown(results)]
        return any(np.isfinite(times_ns).any() for times_ns in times)

    def _times(self, results: Results, setting: Setting, *, is_long: bool) -> Values:
        """Return the completion times (ns) of a size class, infinite where a transfer did not complete."""
        parts = [np.empty(0)]
        for view in self.views(results, setting):
            rows = transfers(view)
            if rows is not None:
                rows = rows[(rows["size_bytes"] >= LONG_FROM_BYTES) == is_long]
                done_ns = rows["fct_ns"].where(rows["status"] == TransferStatus.OK)
                parts.append(done_ns.fillna(np.inf).to_numpy(dtype=np.float64))
        return np.concatenate(parts)


def _class_name(is_long: bool) -> str:
    return "long transfers" if is_long else "short transfers"
