"""What a figure of the report is."""

from abc import ABC, abstractmethod
from typing import ClassVar, Final

from matplotlib.figure import Figure

from reports.results import Results, Setting, settings_by_point
from reports.view import CellView

PANELS_MAX: Final = 12
# Of more factor points than this only some are drawn: the first, one in the middle and the last.
POINTS_MAX: Final = 4


class ReportFigure(ABC):
    """A figure: it says what it needs, draws itself, and describes in words what it shows."""

    title: ClassVar[str]
    needs: ClassVar[tuple[str, ...]]
    caption: ClassVar[str]
    settings_max: ClassVar[int] = PANELS_MAX

    def settings(self, results: Results) -> list[Setting]:
        """Return the settings that have what the figure needs."""
        return [setting for setting in results.measured_settings if self.views(results, setting)]

    def shown(self, results: Results) -> list[Setting]:
        """Return the settings that are drawn: those of some factor points, if there are too many."""
        points = settings_by_point(self.settings(results))
        names = list(points)
        if len(names) > POINTS_MAX:
            names = [names[0], names[len(names) // 2], names[-1]]
        return [setting for name in names for setting in points[name]][: self.settings_max]

    def omission(self, results: Results) -> str:
        """Return what the caption must add where settings are left out, empty where none is."""
        hidden = len(self.settings(results)) - len(self.shown(results))
        if hidden <= 0:
            return ""
        return f" Only some factor points are drawn; the tables have the other {hidden} settings as well."

    def views(self, results: Results, setting: Setting) -> list[CellView]:
        """Return the cells of a setting that have what the figure needs, in order of repetition."""
        return [view for view in results.views_of(setting) if self.usable(view)]

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
