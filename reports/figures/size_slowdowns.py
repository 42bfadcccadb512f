"""Figure: how much longer transfers take than alone, by their size."""

from typing import ClassVar, Final

import numpy as np
from matplotlib.figure import Figure

from rogue.reports.cells.view import CellView, once_per_cell
from rogue.reports.drawing.marks import Values, line_look, ratio_axis, size_ticks
from rogue.reports.drawing.panels import legend_above, panels, plain
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.metrics.completion import counted
from rogue.reports.metrics.statistics import nearest_rank
from rogue.reports.quantities import Unit, quantity_text, size_text
from rogue.reports.results import Results, Setting, settings_by_point

CLASSES_MAX: Final = 10
CLASSES_MIN: Final = 3
"""Fewer sizes are the long and the short transfers of the completion times."""
TRANSFERS_MIN: Final = 50
"""Of each transport in each class, on average."""
PERCENTS: Final = (50, 95, 99)


class SizeSlowdowns(ReportFigure):
    """Per factor point a panel for each percentile, one line per transport, a point per class of sizes."""

    title: ClassVar = "Slowdown by size of the transfers"
    needs: ClassVar = ("flows",)
    panels_per_setting: ClassVar = 0
    caption: ClassVar = (
        "Height: how many times as long as alone in the empty network transfers took, at the percentile in"
        f" the title; lower is better. Transfers are sorted by size into at most {CLASSES_MAX} classes with"
        " about as many transfers each, the same for all lines of a panel; a point stands at the median size"
        " of its class. It is missing where so many transfers of the class did not complete; of fewer than"
        " 100 the 99th percentile is the largest. Both axes are logarithmic. All repetitions together."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether transfers of many sizes completed."""
        sizes_bytes, slowdowns = of_transfers(view)
        return np.isfinite(slowdowns).any() and len(_starts(sizes_bytes, 1)) >= CLASSES_MIN

    @property
    def missing(self) -> str:
        """Return the sentence that stands in the figure’s place if no cell can be drawn."""
        return (
            f"No finished cell has {CLASSES_MIN} classes of sizes with {TRANSFERS_MIN} transfers each"
            " (flows.parquet)."
        )

    def draw(self, results: Results) -> Figure:
        """Draw the lines."""
        points = settings_by_point(self.shown(results))
        kinds = [(point, percent) for point in points for percent in PERCENTS]
        titles = [": ".join(filter(None, (point, f"p{percent}"))) for point, percent in kinds]
        figure, axes = panels(titles, len(PERCENTS), share="row")
        for axis, (point, percent) in zip(axes, kinds, strict=True):
            for setting in points[point]:
                sizes_bytes, slowdowns = self._line(results, setting, points[point], percent)
                look = line_look(setting.style, len(points[point]))
                look |= {"marker": setting.style.marker, "markersize": 4.5, "markevery": 1}
                label = plain(setting.style.name)
                axis.plot(sizes_bytes, slowdowns, label=label, **look)  # type: ignore[arg-type]
            size_ticks(axis)
            axis.set_xlabel("size of the transfer")
            axis.set_ylabel("slowdown")
        for axis in axes:  # those of a row share their heights
            ratio_axis(axis, vertical=True)
        legend_above(figure, axes)
        return figure

    def describe(self, results: Results) -> str:
        """Say the percentiles of the smallest and the largest class of each line."""
        sentences = []
        for settings in settings_by_point(self.shown(results)).values():
            for setting in settings:
                lines = [self._line(results, setting, settings, percent) for percent in PERCENTS]
                ends = [
                    f"{size_text(lines[0][0][place])} "
                    + ", ".join(quantity_text(heights[place], Unit.RATIO) for _, heights in lines)
                    for place in (0, -1)
                ]
                said = " and ".join(f"p{percent}" for percent in PERCENTS)
                sentences.append(f"{setting.title}, {said} of transfers around {'; around '.join(ends)}.")
        return " ".join(sentences)

    def _line(
        self, results: Results, setting: Setting, beside: list[Setting], percent: int
    ) -> tuple[Values, Values]:
        """Return the median size of each class and the percentile of its slowdowns; no number if infinite."""
        together = [self._transfers(results, each)[0] for each in beside]
        starts = _starts(np.concatenate(together), len(together))
        sizes_bytes, slowdowns = self._transfers(results, setting)
        classes = np.digitize(sizes_bytes, starts)
        places = [classes == number for number in range(1, len(starts) + 1)]
        medians = [np.median(sizes_bytes[place]) if place.any() else np.nan for place in places]
        heights = [nearest_rank(slowdowns[place], percent) for place in places]
        return np.array(medians), np.array(
            [np.nan if height is None or np.isinf(height) else height for height in heights]
        )

    def _transfers(self, results: Results, setting: Setting) -> tuple[Values, Values]:
        """Return the sizes and slowdowns of all repetitions."""
        found = [of_transfers(view) for view in self.views(results, setting)]
        sizes_bytes, slowdowns = (np.concatenate(values) for values in zip(*found, strict=True))
        return sizes_bytes, slowdowns


@once_per_cell
def of_transfers(view: CellView) -> tuple[Values, Values]:
    """Return size and slowdown of each counted transfer, infinite where one did not complete."""
    transfers, wanted = view.transfers, counted(view)
    if transfers is None or wanted is None:
        return np.empty(0), np.empty(0)
    known = transfers.is_ok & ~np.isnan(transfers.slowdown)
    slowdowns = np.where(known, transfers.slowdown, np.inf)
    return transfers.size_bytes[wanted].astype(np.float64), slowdowns[wanted]


def _starts(sizes_bytes: Values, transports: int) -> Values:
    """Return the smallest size of each class; classes have about as many transfers each."""
    classes = min(CLASSES_MAX, len(sizes_bytes) // (TRANSFERS_MIN * transports))
    if not classes:
        return np.empty(0)
    return np.unique(np.quantile(sizes_bytes, np.arange(classes) / classes, method="nearest"))
