"""What a figure of the report is, and what all figures share."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter
from numpy.typing import NDArray

from reports.quantities import duration_text, size_text
from reports.results import Results, Setting
from reports.style import INK
from reports.view import CellView

WIDTH_INCHES: Final = 9.6
PANEL_HEIGHT_INCHES: Final = 2.5
PANELS_MAX: Final = 12
# More points than this per line add bytes to the page and nothing to the eye. Statistics use every sample.
POINTS_MAX: Final = 400
LINEAR_BELOW_BYTES: Final = 1000

Values = NDArray[np.float64]


class ReportFigure(ABC):
    """A figure: it says what it needs, draws itself, and describes in words what it shows."""

    title: ClassVar[str]
    needs: ClassVar[tuple[str, ...]]
    caption: ClassVar[str]

    def settings(self, results: Results) -> list[Setting]:
        """Return the settings that have what the figure needs."""
        return [
            setting
            for setting in results.measured_settings
            if any(self.usable(view) for view in results.views_of(setting))
        ]

    def views(self, results: Results, setting: Setting) -> list[CellView]:
        """Return the cells of a setting that have what the figure needs, in order of repetition."""
        return [view for view in results.views_of(setting) if self.usable(view)]

    def usable(self, view: CellView) -> bool:
        """Return whether a cell can be drawn."""
        return view.has(self.needs)

    def skipped_because(self, results: Results) -> str | None:
        """Return why the figure cannot be drawn, or None if it can."""
        if self.settings(results):
            return None
        return f"No finished cell has rows in {' and '.join(f'{name}.parquet' for name in self.needs)}."

    @abstractmethod
    def draw(self, results: Results) -> Figure:
        """Draw the figure; called only if it is not skipped."""

    @abstractmethod
    def describe(self, results: Results) -> str:
        """Return the text alternative: what the figure shows, with numbers."""


def panels(
    titles: Sequence[str], columns: int = 2, *, share: bool = True, height_inches: float = PANEL_HEIGHT_INCHES
) -> tuple[Figure, list[Axes]]:
    """Return a figure with one titled panel per title, in rows; shared axes make panels comparable."""
    columns = min(columns, len(titles))
    rows = -(-len(titles) // columns)
    figure = Figure(figsize=(WIDTH_INCHES, height_inches * rows + 0.4), layout="constrained")
    grid = figure.subplots(rows, columns, sharex=share, sharey=share, squeeze=False)
    axes = list(grid.ravel())
    for axis, title in zip(axes, titles, strict=False):
        axis.set_title(plain(title))
        axis.tick_params(labelbottom=True, labelleft=True)
    for unused in axes[len(titles) :]:
        unused.remove()
    return figure, axes[: len(titles)]


def draw_cdf(axis: Axes, values: Values, colour: str, line: str, label: str | None) -> None:
    """Draw an empirical CDF, thinned to the values of equally spaced ranks."""
    ordered = np.sort(values)
    count = len(ordered)
    ranks = np.unique(np.linspace(1, count, min(count, POINTS_MAX)).astype(int))
    across, up = [ordered[0], *ordered[ranks - 1]], [0.0, *(ranks / count)]
    axis.step(across, up, where="post", color=colour, linestyle=line, label=label)
    axis.set_ylim(0, 1.02)


def legend_above(figure: Figure, axis: Axes) -> None:
    """Put the legend of one panel above all panels, where it hides nothing."""
    handles, labels = axis.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside upper left", ncols=4)


def legends(figure: Figure, axes: Sequence[Axes]) -> None:
    """Give each panel its own legend; a single panel gets it above, where it hides nothing."""
    if len(axes) == 1:
        legend_above(figure, axes[0])
        return
    for axis in axes:
        axis.legend(loc="best")


def format_times(axis: Axes) -> None:
    """Write the ticks of a horizontal axis in ns as `10 µs`, `1 ms`."""
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: duration_text(value)))
    axis.xaxis.set_minor_formatter(FuncFormatter(lambda _value, _: ""))


def size_axis(axis: Axes, low_bytes: float, high_bytes: float, *, vertical: bool) -> None:
    """Make an axis logarithmic in bytes, from the decade below the smallest value to the largest.

    Below 1 KB the axis is linear, so that an empty queue can be drawn.
    """
    high = max(2.0 * LINEAR_BELOW_BYTES, 1.3 * high_bytes)
    low = 10.0 ** math.floor(math.log10(low_bytes)) if low_bytes >= LINEAR_BELOW_BYTES else 0.0
    target = axis.yaxis if vertical else axis.xaxis
    (axis.set_yscale if vertical else axis.set_xscale)("symlog", linthresh=LINEAR_BELOW_BYTES, linscale=0.4)
    (axis.set_ylim if vertical else axis.set_xlim)(low, high)
    decades = [10.0**power for power in range(3, 13)]
    target.set_major_locator(FixedLocator([0.0, *decades]))
    target.set_minor_locator(FixedLocator([step * decade for decade in decades for step in range(2, 10)]))
    target.set_major_formatter(FuncFormatter(lambda value, _: size_text(value)))


def rule(axis: Axes, value: float, label: str, *, vertical: bool = False) -> None:
    """Draw a dashed line that the data are to be held against."""
    draw = axis.axvline if vertical else axis.axhline
    draw(value, color=INK, linewidth=0.9, linestyle=(0, (8, 4)), label=label, zorder=3)


def plain(text: str, length_max: int = 70) -> str:
    """Return text that is safe to draw: printable, on one line, not too long."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return printable if len(printable) <= length_max else printable[: length_max - 1] + "…"


def settings_by_point(settings: Sequence[Setting]) -> dict[str, list[Setting]]:
    """Group settings by factor point, so that a panel can compare the transports at one point."""
    points: dict[str, list[Setting]] = {}
    for setting in settings:
        points.setdefault(setting.factor_text, []).append(setting)
    return points
