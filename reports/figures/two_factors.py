"""Figure: the measure that matters most over two factors at once."""

from typing import ClassVar, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from rogue.reports.drawing.factor_axis import factor_axis, factor_values
from rogue.reports.drawing.marks import SHADES, Values
from rogue.reports.drawing.panels import COLUMNS_MAX, panels, plain
from rogue.reports.figures.factor_sweep import LOG_FROM_RATIO
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.metric import Metric
from rogue.reports.quantities import NEVER, readable
from rogue.reports.results import Results, Setting, factor_name
from rogue.reports.results.headlines import headlines_of
from rogue.reports.results.wording import spoken_text
from rogue.reports.transport_styles import INK, PAPER

ROW_INCHES: Final = 0.3
# Where few transports leave room, more measures than the first are drawn, up to so many panels.
PANELS_MIN: Final = 4


class TwoFactors(ReportFigure):
    """One panel per transport: a factor below, the other at the left, the mean in each field."""

    title: ClassVar = "Two factors at once"
    needs: ClassVar = ("flows",)
    panels_per_setting: ClassVar = 0
    caption: ClassVar = (
        "Each field is the mean over the repetitions of the measure in the title, darker where it is larger;"
        " panels of one measure share their shades. Read a row to see the effect of the factor below, a"
        " column for the one at the left. A field without a number was not measured."
    )

    def settings(self, results: Results) -> list[Setting]:
        """Return the settings of a run that varies two factors and has the measure."""
        settings = super().settings(results)
        return settings if len(_varied(settings)) == 2 and self._metrics(results, settings) else []

    def shown(self, results: Results) -> list[Setting]:
        """Return all of them: a point takes a field and no panel of its own."""
        return self.settings(results)

    @property
    def missing(self) -> str:
        """Return the sentence that stands in the figure’s place."""
        return "The run does not vary exactly two factors of which two values finished with flows.parquet."

    def draw(self, results: Results) -> Figure:
        """Draw a panel per transport."""
        settings = self.shown(results)
        below, beside = _ordered(settings)
        titles, grids = [], []
        for metric in self._metrics(results, settings):
            for transport, name in {setting.transport: setting.style.name for setting in settings}.items():
                titles.append(f"{name}: {metric.title}")
                own = [setting for setting in settings if setting.transport == transport]
                grids.append((metric, _means(results, own, metric, below, beside)))
        height_inches = ROW_INCHES * len(beside[1]) + 1.0
        columns = COLUMNS_MAX if len(below[1]) < 4 else 2
        figure, axes = panels(titles, columns, share="none", height_inches=height_inches, legend=False)
        for axis, (metric, grid) in zip(axes, grids, strict=True):
            together = np.concatenate([other.ravel() for of, other in grids if of is metric])
            _draw_grid(axis, grid, _norm(together), metric)
            _name_fields(axis, below, beside)
        return figure

    def describe(self, results: Results) -> str:
        """Say every field."""
        settings = self.shown(results)
        sentences = []
        for metric in self._metrics(results, settings):
            fields = [
                f"{setting.title} {spoken_text(results, setting, metric.name)}"
                for setting in settings
                if results.mean(setting, metric.name)
            ]
            sentences.append(f"{metric.title}: {'; '.join(fields)}.")
        return " ".join(sentences)

    def _metrics(self, results: Results, settings: list[Setting]) -> list[Metric]:
        """Return the first measure of this kind of traffic that the run has, or more of few transports."""
        names = [
            name
            for name in headlines_of(results.run.manifest).swept
            if any(results.mean(setting, name) for setting in settings)
        ]
        transports = len({setting.transport for setting in settings})
        return [METRICS[name] for name in names[: max(1, PANELS_MIN // max(1, transports))]]


Factor = tuple[str, list[str]]


def _varied(settings: list[Setting]) -> list[Factor]:
    return [(key, values) for key, values in factor_values(settings).items() if len(values) > 1]


def _ordered(settings: list[Setting]) -> tuple[Factor, Factor]:
    """Return the factor with more values, which stands below, and the other one, each in ascending order."""
    below, beside = sorted(_varied(settings), key=lambda factor: -len(factor[1]))
    return (below[0], list(factor_axis(*below).places)), (beside[0], list(factor_axis(*beside).places))


def _means(
    results: Results, settings: list[Setting], metric: Metric, below: Factor, beside: Factor
) -> Values:
    """Return the means of one transport's settings, not a number where there is none."""
    grid = np.full((len(beside[1]), len(below[1])), np.nan)
    for setting in settings:
        mean = results.mean(setting, metric.name)
        if mean is not None:
            point = dict(setting.factors)
            grid[beside[1].index(point[beside[0]]), below[1].index(point[below[0]])] = mean.mean
    return grid


def _norm(values: Values) -> Normalize:
    """Return one scale of shades for all panels: logarithmic where values are far apart."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    if low > 0 and high / low >= LOG_FROM_RATIO:
        return LogNorm(low, high)
    return Normalize(min(0.0, low), high or 1.0)


def _draw_grid(axis: Axes, grid: Values, norm: Normalize, metric: Metric) -> None:
    """Draw the fields; one that never came is darker than all others."""
    import seaborn as sns  # it takes as long to load as a small report to draw

    words = [[readable(value, metric.unit) for value in row] for row in grid]
    sns.heatmap(
        np.where(np.isfinite(grid), grid, np.nan),
        norm=norm,
        cmap=SHADES,
        annot=np.array(words),
        fmt="",
        annot_kws={"fontsize": "small"},
        linewidths=0.8,
        cbar=False,
        ax=axis,
    )
    for row, column in np.argwhere(np.isposinf(grid)):  # a colour map knows no infinite value
        axis.add_patch(Rectangle((column, row), 1, 1, facecolor=INK, edgecolor=PAPER, linewidth=0.8))
        place = (column + 0.5, row + 0.5)
        axis.text(*place, NEVER, color=PAPER, ha="center", va="center", fontsize="small")
    axis.grid(visible=False)


def _name_fields(axis: Axes, below: Factor, beside: Factor) -> None:
    for set_ticks, (_, values) in ((axis.set_xticks, below), (axis.set_yticks, beside)):
        set_ticks(np.arange(len(values)) + 0.5, [plain(value, 12) for value in values], rotation=0)
    axis.tick_params(length=0)
    axis.set_xlabel(plain(factor_name(below[0])))
    axis.set_ylabel(plain(factor_name(beside[0]), 18))
