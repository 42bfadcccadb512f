"""Figures of measures: beside each other, over one factor, and over two; the base of these."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Final, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from rogue.reports.drawing.layers import Layer, Looks, colour_scale, draw_fields
from rogue.reports.drawing.panels import (
    COLUMNS_MAX,
    Share,
    columns_that_fit,
    panels,
    plain,
    turn_crowded_names,
)
from rogue.reports.drawing.scales import LOG_FROM_RATIO, Axis, FactorAxis, apply, factor_axis, fit_heights
from rogue.reports.figures.figure import Plot
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.metric import Metric
from rogue.reports.quantities import Unit, number_text, readable
from rogue.reports.results import Results, Setting, factor_name, spoken_text, value_text
from rogue.reports.results.headlines import headlines_of
from rogue.reports.results.loaded import BASE_UNITS
from rogue.reports.results.points import factor_values, quoted_points, swept_factor
from rogue.reports.transport_styles import INK, TransportStyle

LINES_MAX: Final = 12
"""Of more lines those at other factors are left out, never a transport."""
HEIGHTS: Final = {
    Unit.TIME: "time",
    Unit.BYTES: "bytes",
    Unit.COUNT: "number",
    Unit.INDEX: "index",
    Unit.RATIO: "ratio",
}
"""The label of an axis; units that are missing here have their symbol."""
OTHER_LINES: Final = ("-", "--", ":", "-.")
PANELS_MIN: Final = 4
"""If few transports leave room, more measures than the first are drawn, up to this number of panels."""
VALUE_ROOM: Final = 1.45
"""The axis of bars as a multiple of the longest one: room for the value at its end."""
PUBLISHED: Final = {"marker": "D", "markersize": 8, "fillstyle": "none", "linestyle": "none"}


class MeasuresFigure(Plot):
    """One panel per measure that matters for the traffic of a run."""

    needs: ClassVar = ("flows",)
    x: ClassVar = Axis("place", "")
    y: ClassVar = Axis("mean", "")
    columns: ClassVar = COLUMNS_MAX
    share: ClassVar[Share] = "none"
    shows_all: ClassVar = True
    list_of: ClassVar[Literal["bars", "swept"]] = "swept"

    def metrics(self, results: Results, settings: Sequence[Setting]) -> list[Metric]:
        names = getattr(headlines_of(results.run.manifest), self.list_of)
        return [METRICS[name] for name in names if any(results.mean(each, name) for each in settings)]

    def describe(self, results: Results) -> str:
        settings, sentences = self.shown(results), []
        for metric in self.metrics(results, settings):
            values = [
                f"{setting.title} {spoken_text(results, setting, metric.name)}"
                for setting in settings
                if results.mean(setting, metric.name)
            ]
            sentences.append(f"{metric.title}: {'; '.join(values)}.")
        return " ".join(sentences)


class Bars(MeasuresFigure):
    """One bar per transport, where nothing else varies."""

    title: ClassVar = "The measures side by side"
    caption: ClassVar = (
        "Each bar is the mean over the repetitions, each point one of them. The line at its end is the 95 %"
        " interval, or the span of up to three repetitions. Shorter is better. A bar is missing where the"
        " measure has no value: for example, a percentile that falls on transfers that did not complete."
    )
    missing: ClassVar = (
        "Only for random transfers (flows.parquet) by several transports, where nothing else varies."
    )
    x: ClassVar = Axis("mean", "")
    y: ClassVar = Axis("transport", "transport", "names")
    layers: ClassVar = (
        Layer("bars", "mean", look={"width": 0.72}),
        Layer("points", "repetition", INK, {"marker": "o", "markersize": 3, "alpha": 0.6, "zorder": 3}),
    )
    height_inches: ClassVar = 0.9
    row_inches: ClassVar = 0.28
    has_legend: ClassVar = False
    list_of: ClassVar = "bars"

    def settings(self, results: Results) -> list[Setting]:
        settings = super().settings(results)
        is_plain = len(settings) > 1 and not swept_factor(settings)
        return settings if is_plain and self.metrics(results, settings) else []

    def lines(self, results: Results, setting: Setting) -> pd.DataFrame:
        """Return a row per measure with its interval, and one per repetition."""
        found: list[dict[str, object]] = []
        for metric in self.metrics(results, self.shown(results)):
            mean, runs = results.mean(setting, metric.name), results.per_run(setting, metric.name)
            row: dict[str, object] = {
                "part": metric.title,
                "transport": plain(setting.style.name, 34),
                "unit": BASE_UNITS[metric.unit],
            }
            if mean is None or not mean.exists:
                found.append(row | {"mark": "mean"})
                continue
            low = mean.mean if mean.low is None else max(0.0, mean.low)
            high = mean.mean if mean.high is None else mean.high
            found.append(row | {"mark": "mean", "mean": mean.mean, "low": low, "high": high})
            found += [row | {"mark": "repetition", "mean": value} for value in runs if len(runs) > 1]
        return pd.DataFrame(found)

    def rows(self, results: Results) -> pd.DataFrame:
        rows = super().rows(results)
        return rows.assign(panel=rows["panel"].str.rpartition(": ")[2])

    def finish(self, axes: list[Axes], results: Results) -> None:
        """Write each value at the end of its bar, and names beside the first panel of a row."""
        settings, data = self.shown(results), self.data(results)
        for place, (axis, metric) in enumerate(zip(axes, self.metrics(results, settings), strict=True)):
            own = data[data["panel"] == metric.title]
            ends = own[["mean", "high"]].max(axis=1).groupby(own["series"]).max().fillna(0.0)
            for row, setting in enumerate(settings):
                text, end = value_text(results, setting, metric.name), (ends[setting.style.name], row)
                axis.annotate(
                    text, end, xytext=(4, 0), textcoords="offset points", va="center", fontsize="small"
                )
            axis.set(xlim=(0, VALUE_ROOM * max(ends) or 1.0), xticks=[])
            axis.set_xlabel(HEIGHTS.get(metric.unit, metric.unit.symbol))
            axis.grid(visible=False)
            if place % columns_that_fit(min(self.columns, len(axes))):
                axis.tick_params(labelleft=False)
                axis.set_ylabel("")


@dataclass(frozen=True, slots=True)
class Series:
    """One line: a transport at fixed values of all factors but the one below the axis."""

    look: TransportStyle
    """Its name has the other factors, if there are any."""
    points: dict[str, Setting]


def series_of(settings: Sequence[Setting], key: str) -> list[Series]:
    """Return the lines: settings that differ only in this factor belong to one."""
    found: dict[tuple[str, str], dict[str, Setting]] = {}
    for setting in settings:
        found.setdefault((setting.transport, _others(setting, key)), {})[dict(setting.factors)[key]] = setting
    names, lines = list(dict.fromkeys(others for _, others in found)), []
    for (_, others), points in found.items():
        style = next(iter(points.values())).style
        name = plain(f"{style.name}, {others}" if others else style.name, 48)
        line = OTHER_LINES[names.index(others) % len(OTHER_LINES)] if len(names) > 1 else style.line
        lines.append(Series(replace(style, name=name, line=line), points))
    return lines


def _others(setting: Setting, key: str) -> str:
    return ", ".join(f"{factor_name(name)} {value}" for name, value in setting.factors if name != key)


class FactorSweep(MeasuresFigure):
    """One line per transport, the factor with most values below."""

    title: ClassVar = "How the measures depend on the factor"
    caption: ClassVar = (
        "Each point is the mean over the repetitions. The bar is its 95 % interval; up to three repetitions"
        " have none, and it reaches from the least to the largest value. Measures are those that matter for"
        " this kind of traffic; percentages are of the ideal share or of the bottleneck’s payload rate. A"
        " point is missing where no cell finished, and where what is measured never came back. An empty"
        " diamond is a published number."
    )
    missing: ClassVar = "The run has no factor of which two values finished with flows.parquet."
    layers: ClassVar = (Layer("means"), Layer("hollow", "published", look=PUBLISHED))

    def settings(self, results: Results) -> list[Setting]:
        """Return the settings of the run if it varies something.

        If there are too many lines, only those that cross the point which the summary quotes are drawn, and
        none if these have a single point each, as in a search.
        """
        settings = super().settings(results)
        key = swept_factor(settings)
        if not key or not self.metrics(results, settings):
            return []
        if len(series_of(settings, key)) > LINES_MAX:
            quoted = quoted_points(settings)[-1]
            crossing = {_others(setting, key) for setting in settings if setting.factor_text == quoted}
            settings = [setting for setting in settings if _others(setting, key) in crossing]
        return settings if swept_factor(settings) else []

    def metrics(self, results: Results, settings: Sequence[Setting]) -> list[Metric]:
        published = (each.metric for each in results.published if each.has_place and not each.is_ratio)
        names = dict.fromkeys((*headlines_of(results.run.manifest).swept, *published))
        means = {name: [results.mean(each, name) for each in settings] for name in names}
        return [METRICS[name] for name in names if any(mean and mean.exists for mean in means[name])]

    def rows(self, results: Results) -> pd.DataFrame:
        settings = self.shown(results)
        lines, across, found = series_of(settings, swept_factor(settings)), _across(settings), []
        for metric in self.metrics(results, settings):
            for line in lines:
                row = {"panel": metric.title, "series": line.look.name, "unit": BASE_UNITS[metric.unit]}
                for value in (value for value in across.places if value in line.points):
                    at = row | {across.name: value, "place": across.places[value]}
                    mean = results.mean(line.points[value], metric.name)
                    if mean is not None and mean.exists:
                        found.append(at | {"mark": "", "mean": mean.mean, "low": mean.low, "high": mean.high})
                    for number in results.published_at(line.points[value], metric.name):
                        found.append(at | {"mark": "published", "mean": number})
        return pd.DataFrame(found)

    def looks(self, results: Results) -> Looks:
        settings = self.shown(results)
        return {line.look.name: line.look for line in series_of(settings, swept_factor(settings))}

    def arrangement(self, results: Results) -> tuple[int, Share]:
        return (2 if self.data(results)["panel"].nunique() in {2, 4} else COLUMNS_MAX), "none"

    def finish(self, axes: list[Axes], results: Results) -> None:
        """Write the factor's values below, and a unit that suits each height."""
        settings, data = self.shown(results), self.data(results)
        of_titles = {metric.title: metric for metric in self.metrics(results, settings)}
        for axis, metric in ((axis, of_titles[str(axis.get_label())]) for axis in axes):
            own = data[data["panel"] == metric.title]
            highs = own["high"].clip(upper=1.4 * own["mean"].max()).dropna()
            apply(axis, _across(settings))
            fit_heights(axis, [*own["mean"], *highs], partial(_height_text, unit=metric.unit))
            axis.set_ylabel(HEIGHTS.get(metric.unit, metric.unit.symbol))
            if metric.unit is Unit.INDEX:
                axis.set_ylim(0, 1.05)


def _across(settings: Sequence[Setting]) -> FactorAxis:
    key = swept_factor(settings)
    return factor_axis(key, list(dict.fromkeys(dict(setting.factors)[key] for setting in settings)))


def _height_text(height: float, unit: Unit) -> str:
    if unit is Unit.COUNT:
        return number_text(height, unit)
    if unit in {Unit.TIME, Unit.BYTES}:
        return readable(height, unit) if height else "0"
    return f"{height / unit.value.base_units:g}"


class TwoFactors(MeasuresFigure):
    """One panel per transport: a factor below, the other at the left, the mean in each field."""

    title: ClassVar = "Two factors at once"
    caption: ClassVar = (
        "Each field is the mean over the repetitions of the measure in the title, with a stronger shade where"
        " it is larger; panels of one measure share their shades. Read a row to see the effect of the factor"
        " below, a column for the one at the left. A field without a number was not measured."
    )
    missing: ClassVar = (
        "The run does not vary exactly two factors of which two values finished with flows.parquet."
    )

    def settings(self, results: Results) -> list[Setting]:
        settings = super().settings(results)
        return settings if len(_varied(settings)) == 2 and self.metrics(results, settings) else []

    def metrics(self, results: Results, settings: Sequence[Setting]) -> list[Metric]:
        transports = len({setting.transport for setting in settings})
        return super().metrics(results, settings)[: max(1, PANELS_MIN // max(1, transports))]

    def rows(self, results: Results) -> pd.DataFrame:
        found = []
        for metric in self.metrics(results, self.shown(results)):
            for setting in self.shown(results):
                mean, name = results.mean(setting, metric.name), setting.style.name
                row = {"panel": f"{name}: {metric.title}", "series": name, **dict(setting.factors)}
                row |= {"metric": metric.name, "unit": BASE_UNITS[metric.unit]}
                found.append(row | {"mean": None if mean is None else mean.mean})
        return pd.DataFrame(found)

    def draw(self, results: Results) -> Figure:
        data, (below, beside) = self.data(results), _ordered(self.shown(results))
        titles, columns = list(dict.fromkeys(data["panel"])), COLUMNS_MAX if len(below[1]) < 4 else 2
        figure, axes = panels(titles, columns, share="none", height_inches=1.0 + 0.3 * len(beside[1]))
        scaled: dict[str, tuple[Normalize, list[Axes]]] = {}
        for axis, title in zip(axes, titles, strict=True):
            own = data[data["panel"] == title]
            metric = METRICS[own["metric"].iloc[0]]
            grid = own.pivot(index=beside[0], columns=below[0], values="mean")
            norm = _norm(data.loc[data["metric"] == metric.name, "mean"])
            grid = grid.reindex(index=beside[1], columns=below[1])
            draw_fields(axis, grid, partial(readable, unit=metric.unit), norm)
            axis.set(xlabel=plain(factor_name(below[0])), ylabel=plain(factor_name(beside[0]), 18))
            scaled.setdefault(metric.name, (norm, []))[1].append(axis)
        for name, (norm, own_axes) in scaled.items():
            text = partial(readable, unit=METRICS[name].unit)
            colour_scale(own_axes, norm, text, METRICS[name].title)
        turn_crowded_names(figure)
        return figure


def _varied(settings: Sequence[Setting]) -> list[tuple[str, list[str]]]:
    return [(key, values) for key, values in factor_values(settings).items() if len(values) > 1]


def _ordered(settings: Sequence[Setting]) -> list[tuple[str, list[str]]]:
    """Return the factor below, which has more values, and the other one, each in ascending order."""
    by_count = sorted(_varied(settings), key=lambda factor: -len(factor[1]))
    return [(key, list(factor_axis(key, values).places)) for key, values in by_count]


def _norm(values: "pd.Series[float]") -> Normalize:
    """Return one scale of shades for all panels: logarithmic where values are far apart."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    if low > 0 and high / low >= LOG_FROM_RATIO:
        return LogNorm(low, high)
    return Normalize(min(0.0, low), high or 1.0)
