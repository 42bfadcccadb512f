"""What a figure of the report is."""

from abc import ABC, abstractmethod
from typing import ClassVar

from matplotlib.figure import Figure

from rogue.reports.cells.view import CellView, once_per_cell
from rogue.reports.drawing.factor_axis import chosen_points, points_text, quoted_points
from rogue.reports.results import Results, Setting, settings_by_point


class ReportFigure(ABC):
    """A figure: it says what it needs, draws itself, and describes in words what it shows."""

    title: ClassVar[str]
    needs: ClassVar[tuple[str, ...]]
    caption: ClassVar[str]
    panels_per_setting: ClassVar[int] = 1
    """How many panels a transport takes at each factor point; 0 where the transports share one."""

    def settings(self, results: Results) -> list[Setting]:
        """Return the settings that have what the figure needs."""
        return [setting for setting in results.measured_settings if self.views(results, setting)]

    def shown(self, results: Results) -> list[Setting]:
        """Return the settings that are drawn: all transports of every factor point, or of some of many."""
        points = settings_by_point(self.settings(results))
        chosen = chosen_points(points, quoted_points(results.measured_settings), self.panels_per_setting)
        return [setting for name in chosen for setting in points[name]]

    def omission(self, results: Results) -> str:
        """Return what the caption must add where factor points are left out, empty where none is."""
        drawn = {setting.title for setting in self.shown(results)}
        hidden = [setting for setting in self.settings(results) if setting.title not in drawn]
        return f" Not drawn: {points_text(hidden)}; the tables have all points." if hidden else ""

    def views(self, results: Results, setting: Setting) -> list[CellView]:
        """Return the cells of a setting that have what the figure needs, in order of repetition."""
        return [view for view in results.views_of(setting) if _is_usable(view, self)]

    def usable(self, view: CellView) -> bool:
        """Return whether a cell can be drawn."""
        return view.has(self.needs)

    def skipped_because(self, results: Results) -> str | None:
        """Return why the figure cannot be drawn, or None if it can."""
        return None if self.settings(results) else self.missing

    @property
    def missing(self) -> str:
        """Return the sentence that stands in the figure's place if no cell can be drawn."""
        return f"No finished cell has rows in {' and '.join(f'{name}.parquet' for name in self.needs)}."

    @abstractmethod
    def draw(self, results: Results) -> Figure:
        """Draw the figure; called only if it is not skipped."""

    @abstractmethod
    def describe(self, results: Results) -> str:
        """Return the text alternative: what the figure shows, with numbers."""


@once_per_cell
def _is_usable(view: CellView, figure: ReportFigure) -> bool:
    """Return whether a figure can draw a cell; it asks often, and the answer may take a large table."""
    return figure.usable(view)
