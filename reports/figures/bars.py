"""Figure: the measures that matter for the traffic, a bar per transport."""

import math
from collections.abc import Sequence
from typing import ClassVar, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rogue.reports.drawing.factor_axis import swept_factor
from rogue.reports.drawing.marks import ReadableTicks
from rogue.reports.drawing.panels import COLUMNS_MAX, columns_that_fit, panels, plain, widen_left
from rogue.reports.figures.factor_sweep import HEIGHTS
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.metric import Metric
from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.quantities import readable
from rogue.reports.results import Results, Setting
from rogue.reports.results.headlines import headlines_of
from rogue.reports.results.loaded import BASE_UNITS
from rogue.reports.results.wording import value_text
from rogue.reports.transport_styles import INK

BAR_INCHES: Final = 0.26
NAME_CHARACTERS_MAX: Final = 34
NAME_CHARACTER_INCHES: Final = 0.066
# Beside the names: the word below which they stand, and gaps.
BESIDE_NAMES_INCHES: Final = 0.5
# What stands behind the longest bar: its value.
VALUE_ROOM: Final = 1.45


class Bars(ReportFigure):
    """One panel per measure, one bar per transport, where nothing else varies."""

    title: ClassVar = "The measures side by side"
    needs: ClassVar = ("flows",)
    caption: ClassVar = (
        "Each bar is the mean over the repetitions, each point one of them. The line at its end is the 95 %"
        " interval, or the span of up to three repetitions. Shorter is better. A bar is missing where the"
        " measure has no value: a percentile that falls on transfers which did not complete, for example."
    )

    def settings(self, results: Results) -> list[Setting]:
        """Return the transports of a run that varies nothing else and whose traffic has such measures."""
        settings = super().settings(results)
        is_plain = len(settings) > 1 and not swept_factor(settings)
        return settings if is_plain and self._metrics(results, settings) else []

    def shown(self, results: Results) -> list[Setting]:
        """Return all transports: a bar takes no panel of its own, and the figure grows with them."""
        return self.settings(results)

    @property
    def missing(self) -> str:
        """Return the sentence that stands in the figure's place."""
        return "Only for random transfers (flows.parquet) by several transports, where nothing else varies."

    def draw(self, results: Results) -> Figure:
        """Draw a panel per measure; names stand beside the first of each row."""
        settings = self.shown(results)
        metrics = self._metrics(results, settings)
        height = BAR_INCHES * len(settings) + 0.9
        figure, axes = panels(
            [metric.title for metric in metrics],
            COLUMNS_MAX,
            share="none",
            height_inches=height,
            legend=False,
        )
        for place, (axis, metric) in enumerate(zip(axes, metrics, strict=True)):
            _draw_metric(axis, results, metric, settings)
            axis.set_ylabel("transport")
            is_first = place % columns_that_fit(COLUMNS_MAX) == 0
            axis.tick_params(labelleft=is_first)
            axis.yaxis.label.set_visible(is_first)
        longest = max(len(_name(setting)) for setting in settings)
        widen_left(figure, BESIDE_NAMES_INCHES + NAME_CHARACTER_INCHES * longest)
        figure.subplots_adjust(wspace=0.08)
        return figure

    def describe(self, results: Results) -> str:
        """Say every bar."""
        settings = self.shown(results)
        sentences = []
        for metric in self._metrics(results, settings):
            bars = [
                f"{setting.title} {value_text(results, setting, metric.name)}"
                for setting in settings
                if results.mean(setting, metric.name)
            ]
            sentences.append(f"{metric.title}: {', '.join(bars)}.")
        return " ".join(sentences)

    def _metrics(self, results: Results, settings: list[Setting]) -> list[Metric]:
        names = headlines_of(results.run.manifest).bars
        return [METRICS[name] for name in names if any(results.mean(each, name) for each in settings)]


def _draw_metric(axis: Axes, results: Results, metric: Metric, settings: list[Setting]) -> None:
    ends = [0.0]
    for place, setting in enumerate(settings):
        mean = results.mean(setting, metric.name)
        if mean is None:
            continue
        end = 0.0
        if mean.exists:
            low, high = _interval(mean)
            end = max(mean.mean, high, *results.per_run(setting, metric.name))
            axis.barh(place, mean.mean, color=setting.style.colour, height=0.72)
            axis.hlines(place, low, high, color=INK, linewidth=0.9)
        axis.annotate(
            value_text(results, setting, metric.name),
            (end, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
            color=INK,
        )
        ends.append(end)
    _draw_repetitions(axis, [results.per_run(setting, metric.name) for setting in settings])
    axis.set_yticks(range(len(settings)), [_name(setting) for setting in settings])
    axis.set_ylim(len(settings) - 0.4, -0.6)
    axis.set_xlim(0, VALUE_ROOM * max(ends) or 1.0)
    axis.set_xticks([])
    base_unit = BASE_UNITS[metric.unit]
    axis.xaxis.set_major_formatter(ReadableTicks(lambda value: readable(value, metric.unit), base_unit))
    axis.set_xlabel(HEIGHTS.get(metric.unit, metric.unit.symbol))
    axis.grid(visible=False)


def _draw_repetitions(axis: Axes, runs: Sequence[Sequence[float]]) -> None:
    """Draw a point per repetition over the bar at each place; none where there is one run, or no bar."""
    drawn = [
        (values, place) for place, values in enumerate(runs) if len(values) > 1 and max(values) < math.inf
    ]
    points = [(value, place) for values, place in drawn for value in values]
    if points:
        values, places = zip(*points, strict=True)
        axis.scatter(values, places, s=2.6**2, color=INK, alpha=0.6, linewidth=0, zorder=3)


def _name(setting: Setting) -> str:
    return plain(setting.style.name, NAME_CHARACTERS_MAX)


def _interval(mean: MeanInterval) -> tuple[float, float]:
    if mean.low is None or mean.high is None:
        return mean.mean, mean.mean
    return max(0.0, mean.low), mean.high
