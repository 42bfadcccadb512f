"""The bases of figures: one that draws itself, and one that describes what seaborn draws."""

from abc import ABC, abstractmethod
from typing import ClassVar

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rogue.reports.cells.view import CellView, once_per_cell
from rogue.reports.drawing.layers import Layer, Looks, draw, legend_entries
from rogue.reports.drawing.panels import Share, compared_panels, legend_above, panels, turn_crowded_names
from rogue.reports.drawing.scales import Axis
from rogue.reports.errors import ReportError
from rogue.reports.results import Results, Setting, settings_by_point, spoken_text
from rogue.reports.results.points import chosen_points, points_text, quoted_points


class ReportFigure(ABC):
    """A figure: its text, the settings that it shows, its data, its drawing and its alternative in words."""

    title: ClassVar[str]
    needs: ClassVar[tuple[str, ...]]
    caption: ClassVar[str]
    missing: ClassVar[str] = ""
    """Reason why it is not drawn; by default that no cell has rows in the tables that it needs."""
    panels_per_setting: ClassVar[int] = 1
    """Panels of a transport at each factor point; 0 where the transports share one."""
    shows_all: ClassVar[bool] = False
    """True if a factor point takes no panel, so that none is left out."""
    x: ClassVar[Axis] = Axis("x", "")
    y: ClassVar[Axis] = Axis("y", "")
    panel: str = ""
    """The only panel that is drawn: its title or a part of it, such as `p99`; empty for all."""
    _known: tuple[Results, pd.DataFrame] | None = None

    def settings(self, results: Results) -> list[Setting]:
        """Return the settings that have what the figure needs."""
        return [setting for setting in results.measured_settings if self.views(results, setting)]

    def shown(self, results: Results) -> list[Setting]:
        """Return the settings that are drawn: all transports of every factor point, or of some of many."""
        if self.shows_all:
            return self.settings(results)
        points = settings_by_point(self.settings(results))
        chosen = chosen_points(points, quoted_points(results.measured_settings), self.panels_per_setting)
        return [setting for name in chosen for setting in points[name]]

    def omission(self, results: Results) -> str:
        """Return the sentence that the caption adds where factor points are left out, empty where none is."""
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
        if self.settings(results):
            return None
        tables = " and ".join(f"{name}.parquet" for name in self.needs)
        return self.missing or f"No finished cell has rows in {tables}."

    def data(self, results: Results) -> pd.DataFrame:
        """Return the drawn data, a row per mark, which is also the CSV. Empty without `rows`."""
        if self._known is None or self._known[0] is not results:
            self._known = results, self._chosen(self.rows(results))
        return self._known[1]

    def _chosen(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of the chosen panel; ReportError if there is none of that title."""
        if not self.panel:
            return rows
        titles = list(dict.fromkeys(map(str, rows["panel"]))) if "panel" in rows else []
        chosen = [title for title in titles if self.panel in (title, *title.split(": "))]
        if not chosen:
            expected = f"one of {'; '.join(filter(None, titles))}" if any(titles) else "no panel"
            raise ReportError(f"--panel: {self.title}: got {self.panel!r}, expected {expected}.")
        return rows[rows["panel"].isin(chosen)].reset_index(drop=True)

    def rows(self, results: Results) -> pd.DataFrame:
        """Compute the drawn data: columns `panel` and `series`, and those of `x` and `y`."""
        return pd.DataFrame()

    @abstractmethod
    def draw(self, results: Results) -> Figure:
        """Draw the figure; called only if it is not skipped."""

    @abstractmethod
    def describe(self, results: Results) -> str:
        """Return the text alternative of the figure, with numbers."""


@once_per_cell
def _is_usable(view: CellView, figure: ReportFigure) -> bool:
    """True if a figure can draw a cell; cached, because it may take a large table."""
    return figure.usable(view)


class Plot(ReportFigure):
    """A figure that is declared: its data, its axes, and the layers of marks that draw them.

    By default it has a panel per factor point where `panels_per_setting` is 0, else a panel per setting, and
    a series per transport. `rogue.reports.drawing.layers` has the columns of the data.
    """

    layers: ClassVar[tuple[Layer, ...]] = (Layer("line"),)
    columns: ClassVar[int] = 2
    share: ClassVar[Share] = "all"
    height_inches: ClassVar[float] = 2.5
    row_inches: ClassVar[float] = 0.0
    """Height of each name on the vertical axis, beyond `height_inches`."""
    has_legend: ClassVar[bool] = True
    quoted: ClassVar[dict[str, str]] = {}
    """Metrics that the text alternative quotes, by their names in a sentence; else it gives ranges."""

    def lines(self, results: Results, setting: Setting) -> pd.DataFrame:
        """Return the rows of one setting; those with different `part`s have their own panels."""
        raise NotImplementedError

    def rows(self, results: Results) -> pd.DataFrame:
        """Return the rows of all settings that are shown, with their panels and series."""
        found = []
        for setting in self.shown(results):
            rows = self.lines(results, setting)
            place = setting.title if self.panels_per_setting else setting.factor_text
            parts = rows.pop("part") if "part" in rows else [""] * len(rows)
            panel = [": ".join(filter(None, (place, part))) for part in parts]
            found.append(rows.assign(panel=panel, series=setting.style.name))
        return pd.concat(found, ignore_index=True)

    def arrangement(self, results: Results) -> tuple[int, Share]:
        """Return the number of columns, and which panels share their scale."""
        return (compared_panels(self.shown(results))[0] if self.share == "row" else self.columns), self.share

    def looks(self, results: Results) -> Looks:
        """Return the look of each series."""
        return {setting.style.name: setting.style for setting in results.settings}

    def draw(self, results: Results) -> Figure:
        """Draw the data."""
        data, looks, (x, y) = self.data(results), self.looks(results), (self.x, self.y)
        titles = list(dict.fromkeys(data["panel"]))
        columns, share = self.arrangement(results)
        height = self.height_inches + (self.row_inches and self.row_inches * data[y.column].nunique())
        figure, axes = panels(titles, columns, share=share, height_inches=height)
        for axis, title in zip(axes, titles, strict=True):
            draw(axis, data[data["panel"] == title], self.layers, (x.column, y.column), looks)
        x.apply(axes, "x")
        y.apply(axes, "y")
        self.finish(axes, results)
        if self.has_legend:
            entries = legend_entries(data, self.layers, looks)
            names = self.legend_names(results) if len(titles) == 1 else {}
            legend_above(figure, {names.get(name, name): artist for name, artist in entries.items()})
        if not pd.api.types.is_numeric_dtype(data[x.column]):
            turn_crowded_names(figure)
        return figure

    def finish(self, axes: list[Axes], results: Results) -> None:
        """Adjust the panels; by default does nothing."""

    def legend_names(self, results: Results) -> dict[str, str]:
        """Return other names of series for the legend of a single panel."""
        return {}

    def describe(self, results: Results) -> str:
        return " ".join(f"{each.title}: {self.words(results, each)}." for each in self.shown(results))

    def words(self, results: Results, setting: Setting) -> str:
        """Describe one setting, without a full stop: the quoted metrics, or the ranges of its marks."""
        quoted = [
            f"{name} {spoken_text(results, setting, metric)}"
            for name, metric in self.quoted.items()
            if results.mean(setting, metric)
        ]
        return ", ".join(quoted) or "; ".join(self._ranges(results, setting))

    def _ranges(self, results: Results, setting: Setting) -> list[str]:
        """Return least, largest and median of each part and mark of a setting, and where the extremes are."""
        is_distribution = self.y.column == "fraction"
        axis = self.x if is_distribution else self.y
        rows = self.lines(results, setting).dropna(subset=[axis.column])
        found = []
        for names, own in rows.groupby([key for key in ("part", "mark") if key in rows], sort=False):
            unit = f" {own['unit'].iloc[0]}" if "unit" in own else ""
            low, middle, high = (f"{axis.text(end)}{unit}" for end in own[axis.column].quantile([0, 0.5, 1]))
            name = " ".join(filter(None, map(str, names))) or axis.label
            places = own.sort_values(axis.column, kind="stable")[self.x.column].iloc[[0, -1]]
            at_low, at_high = ("" if is_distribution else f" at {self.x.text(place)}" for place in places)
            span = f"{low}{at_low} to {high}{at_high}, median {middle}"
            found.append(f"{name} {low if low == high else span}")
        return found
