"""Figure: how the measures that matter for the traffic change with a factor of the experiment."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from rogue.reports.drawing.factor_axis import FactorAxis, apply, factor_axis, quoted_points, swept_factor
from rogue.reports.drawing.marks import ReadableTicks
from rogue.reports.drawing.panels import COLUMNS_MAX, legend_above, panels, plain
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.metric import Metric
from rogue.reports.quantities import Unit, number_text, quantity_text, readable
from rogue.reports.results import Results, Setting, factor_name
from rogue.reports.results.headlines import headlines_of
from rogue.reports.results.loaded import BASE_UNITS

# Of more lines than this those at other factors are left out, never a transport.
LINES_MAX: Final = 12
# From this ratio of the largest to the smallest value a linear axis would hide the small ones.
LOG_FROM_RATIO: Final = 30.0
# Units of which each tick is written in the multiple that suits it, and what stands beside an axis.
READABLE: Final = (Unit.TIME, Unit.BYTES, Unit.COUNT)
HEIGHTS: Final = {
    Unit.TIME: "time",
    Unit.BYTES: "bytes",
    Unit.COUNT: "number",
    Unit.INDEX: "index",
    Unit.RATIO: "ratio",
}
OTHER_LINES: Final = ("-", "--", ":", "-.")


@dataclass(frozen=True, slots=True)
class Series:
    """One line: a transport at fixed values of all factors but the one below the axis."""

    setting: Setting
    others: str
    line: str
    points: dict[str, Setting]

    @property
    def name(self) -> str:
        """Return the line's name: the transport, and the other factors if there are any."""
        return f"{self.setting.style.name}, {self.others}" if self.others else self.setting.style.name


class FactorSweep(ReportFigure):
    """One panel per measure, one line per transport, the factor with most values below."""

    title: ClassVar = "How the measures depend on the factor"
    needs: ClassVar = ("flows",)
    caption: ClassVar = (
        "Each point is the mean over the repetitions. The bar is its 95 % interval; up to three repetitions"
        " have none, and it reaches from the least to the largest value. Measures are those that matter for"
        " this kind of traffic; percentages are of the ideal share or of the bottleneck’s payload rate. A"
        " point is missing where no cell finished, and where what is measured never came back. An empty"
        " diamond is a published number."
    )

    def settings(self, results: Results) -> list[Setting]:
        """Return the settings of the run if it varies something."""
        settings = super().settings(results)
        return settings if swept_factor(settings) and self._metrics(results, settings) else []

    def shown(self, results: Results) -> list[Setting]:
        """Return all of them: a point takes no panel of its own.

        Of too many lines only those that cross the point which the summary quotes are drawn.
        """
        settings = self.settings(results)
        key = swept_factor(settings)
        if len(series_of(settings, key)) <= LINES_MAX:
            return settings
        quoted = quoted_points(settings)[-1]
        crossing = {_others(setting, key) for setting in settings if setting.factor_text == quoted}
        return [setting for setting in settings if _others(setting, key) in crossing]

    @property
    def missing(self) -> str:
        """Return the sentence that stands in the figure's place."""
        return "The run has no factor of which two values finished with flows.parquet."

    def draw(self, results: Results) -> Figure:
        """Draw a panel per measure."""
        settings = self.shown(results)
        key = swept_factor(settings)
        metrics, lines = self._metrics(results, settings), series_of(settings, key)
        across = factor_axis(key, list(dict.fromkeys(dict(setting.factors)[key] for setting in settings)))
        titles = [metric.title for metric in metrics]
        figure, axes = panels(
            titles, 2 if len(titles) in {2, 4} else COLUMNS_MAX, share="none", height_inches=2.6
        )
        for axis, metric in zip(axes, metrics, strict=True):
            _draw_metric(axis, results, metric, lines, across)
        legend_above(figure, axes)
        return figure

    def describe(self, results: Results) -> str:
        """Say each measure at both ends of each line."""
        settings = self.shown(results)
        key = swept_factor(settings)
        sentences = []
        for series in series_of(settings, key):
            ends = (next(iter(series.points)), list(series.points)[-1])
            parts = []
            for metric in self._metrics(results, settings):
                means = [results.mean(series.points[end], metric.name) for end in ends]
                if means[0] and means[1]:
                    low, high = (quantity_text(mean.mean, metric.unit) for mean in means if mean)
                    parts.append(f"{metric.title} {low} and {high}")
            if parts:
                where = f"{series.name}, at {factor_name(key)} {ends[0]} and {ends[1]}"
                sentences.append(f"{where}: {'; '.join(parts)}.")
        return " ".join(sentences)

    def _metrics(self, results: Results, settings: list[Setting]) -> list[Metric]:
        published = (each.metric for each in results.published if each.has_place and not each.is_ratio)
        names = dict.fromkeys((*headlines_of(results.run.manifest).swept, *published))
        return [METRICS[name] for name in names if any(is_drawable(results, each, name) for each in settings)]


def is_drawable(results: Results, setting: Setting, metric: str) -> bool:
    """Return whether a setting has a place on an axis: a mean, and one that is not infinite."""
    mean = results.mean(setting, metric)
    return mean is not None and mean.exists


def series_of(settings: Sequence[Setting], key: str) -> list[Series]:
    """Return the lines: settings that differ only in this factor belong to one."""
    found: dict[tuple[str, str], dict[str, Setting]] = {}
    for setting in settings:
        found.setdefault((setting.transport, _others(setting, key)), {})[dict(setting.factors)[key]] = setting
    names = list(dict.fromkeys(others for _, others in found))
    return [
        Series(
            first := next(iter(points.values())),
            others,
            OTHER_LINES[names.index(others) % len(OTHER_LINES)] if len(names) > 1 else first.style.line,
            points,
        )
        for (_, others), points in found.items()
    ]


def _others(setting: Setting, key: str) -> str:
    """Return the values of all factors but one in words."""
    return ", ".join(f"{factor_name(name)} {value}" for name, value in setting.factors if name != key)


def _draw_metric(
    axis: Axes, results: Results, metric: Metric, lines: Sequence[Series], across: FactorAxis
) -> None:
    drawn: list[float] = []
    for series in lines:
        means = {value: results.mean(setting, metric.name) for value, setting in series.points.items()}
        points = [(across.places[value], mean) for value, mean in means.items() if mean and mean.exists]
        if not points:
            continue
        points.sort(key=lambda point: point[0])
        unit = 1.0 if metric.unit in READABLE else metric.unit.value.base_units
        heights = [mean.mean / unit for _, mean in points]
        below = [(mean.mean - mean.low) / unit if mean.low is not None else 0.0 for _, mean in points]
        above = [(mean.high - mean.mean) / unit if mean.high is not None else 0.0 for _, mean in points]
        style = series.setting.style
        axis.errorbar(
            [place for place, _ in points],
            heights,
            yerr=[below, above],
            color=style.colour,
            marker=style.marker,
            markersize=4.5,
            linestyle=series.line,
            elinewidth=0.9,
            capsize=2,
            label=plain(series.name, 48),
        )
        drawn += [*heights, *(min(h + a, 1.4 * max(heights)) for h, a in zip(heights, above, strict=True))]
        drawn += _draw_published(axis, results, metric, series, across)
    apply(axis, across)
    _height_axis(axis, drawn)
    if metric.unit is Unit.INDEX:
        axis.set_ylim(0, 1.05)
    unit = BASE_UNITS[metric.unit] if metric.unit in READABLE else metric.unit.symbol
    axis.yaxis.set_major_formatter(ReadableTicks(lambda height: _height_text(height, metric.unit), unit))
    axis.set_ylabel(HEIGHTS.get(metric.unit, metric.unit.symbol))


def _draw_published(
    axis: Axes, results: Results, metric: Metric, series: Series, across: FactorAxis
) -> list[float]:
    """Draw what was published of a line's points as empty diamonds; return their heights."""
    unit = 1.0 if metric.unit in READABLE else metric.unit.value.base_units
    numbers = [
        (across.places[value], number / unit)
        for value, setting in series.points.items()
        for number in results.published_at(setting, metric.name)
    ]
    if numbers:
        axis.plot(
            *zip(*numbers, strict=True),
            marker="D",
            markersize=8,
            markerfacecolor="none",
            markeredgecolor=series.setting.style.colour,
            linestyle="none",
            label=plain(f"{series.setting.style.name}, published", 48),
        )
    return [height for _, height in numbers]


def _height_text(height: float, unit: Unit) -> str:
    if unit is Unit.COUNT:
        return number_text(height, unit)
    return ("0" if height == 0 else readable(height, unit)) if unit in READABLE else f"{height:g}"


def _height_axis(axis: Axes, heights: Sequence[float]) -> None:
    """Start at zero, unless the values are so far apart that only a logarithmic axis shows them all."""
    low, high = min(heights), max(heights)
    if low > 0 and high / low >= LOG_FROM_RATIO:
        axis.set_yscale("log")
        axis.yaxis.set_minor_formatter(FuncFormatter(lambda _value, _: ""))
        axis.set_ylim(low / 2, high * 2)
    elif low >= 0:
        axis.set_ylim(0, 1.12 * high if high else 1.0)
    else:
        axis.set_ylim(1.2 * low, max(1.2 * high, -0.2 * low))
