"""Draw the rows of a figure's data with seaborn, a layer of marks after the other.

Data have a row per mark: `panel`, `series` (which colour and line it has), `mark` (its layer), the columns
along both axes, and the ends `low` and `high` of an interval, a band or a span. Lines of one series that are
apart, such as flows, have different `line`s.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, NullFormatter

from rogue.reports.drawing.panels import COLOUR_SCALE, SHADES, Values, plain
from rogue.reports.quantities import NEVER
from rogue.reports.transport_styles import (
    INK,
    MUTED,
    ON_LITTLE,
    ON_MUCH,
    PAPER,
    SHADE_COLOURS,
    TransportStyle,
)

MARKED_FROM_LINES: Final = 5
"""Number of lines in a panel from which they get markers, besides colours and dashes."""
DASHES: Final[dict[str, object]] = {"-": "", "--": (4, 2), "-.": (6, 2, 1.2, 2), ":": (1.2, 1.6)}
RULE: Final[Mapping[str, Any]] = {"linewidth": 0.9, "linestyle": (0, (8, 4)), "zorder": 3}
SHADE_LEAST: Final = 100.0
"""The number of the lightest shade: bytes, less than a packet."""

Looks = Mapping[str, TransportStyle]


@dataclass(frozen=True, slots=True)
class Layer:
    """Rows with one `mark`, and their look.

    `kind` is a name in KINDS. Without a `mark` the legend names the series and the lines of series differ;
    with one it names the mark. `colour` is that of the series unless it is given. `look` goes to matplotlib.
    """

    kind: str
    mark: str = ""
    colour: str = ""
    look: Mapping[str, Any] = field(default_factory=dict)


MEDIAN: Final = Layer("line", "median of all")
ONE_FLOW: Final = Layer("line", "one flow", look={"linewidth": 0.8, "alpha": 0.6})
ONE_FLOW_STEPS: Final = Layer("steps", "one flow", look={"linewidth": 0.7, "alpha": 0.6})


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one layer in one panel, with the names of the columns along the axes."""

    data: pd.DataFrame
    layer: Layer
    x: str
    y: str
    looks: Looks

    @property
    def names(self) -> list[str]:
        """Return the series, in their order."""
        return list(dict.fromkeys(self.data["series"]))

    def colour(self, name: str) -> str:
        """Return the colour of a series in this layer."""
        return self.layer.colour or self.looks[name].colour

    def by_series(self) -> Iterable[tuple[str, pd.DataFrame]]:
        """Return the rows of each series."""
        return ((name, self.data[self.data["series"] == name]) for name in self.names)

    def settings(self, **more: object) -> dict[str, Any]:
        """Return seaborn's arguments, overridden by `more` and by the layer's look."""
        palette = {name: self.colour(name) for name in self.names}
        hue = {"hue": "series", "hue_order": self.names, "palette": palette, "legend": False}
        return {"data": self.data, "x": self.x, "y": self.y} | hue | more | dict(self.layer.look)


def draw(
    axis: Axes, data: pd.DataFrame, layers: Iterable[Layer], columns: tuple[str, str], looks: Looks
) -> None:
    """Draw the rows of one panel; `columns` are those along the horizontal and the vertical axis."""
    for layer in layers:
        own = _of_layer(data, layer)
        if len(own):
            KINDS[layer.kind](axis, Rows(own, layer, *columns, looks))


def legend_entries(data: pd.DataFrame, layers: Iterable[Layer], looks: Looks) -> dict[str, Artist]:
    """Return an artist for each mark in the data, and for each series of layers without a mark."""
    entries: dict[str, Artist] = {}
    lines = int(data.groupby("panel")["series"].nunique().max())
    for layer in layers:
        rows = _of_layer(data, layer)
        if layer.mark and len(rows):
            colours = {looks[name].colour for name in rows["series"].dropna()}
            own = INK if layer.kind == "rule" else colours.pop() if len(colours) == 1 else MUTED
            entries[layer.mark] = _sample(layer, layer.colour or own)
        elif not layer.mark:
            for name in dict.fromkeys(rows["series"]):
                entries[name] = _sample(layer, looks[name].colour, looks[name], lines)
    return entries


def _of_layer(data: pd.DataFrame, layer: Layer) -> pd.DataFrame:
    return data[data["mark"] == layer.mark] if "mark" in data else data


def _sample(layer: Layer, colour: str, style: TransportStyle | None = None, lines: int = 1) -> Artist:
    """Return the legend's artist of a layer, or of one series among several lines."""
    if layer.kind in {"bars", "boxes"}:
        return Patch(color=colour)
    look: dict[str, Any] = dict(RULE) if layer.kind == "rule" else {}
    if style is not None:
        has_marker = layer.kind == "means" or lines >= MARKED_FROM_LINES
        look = {"linestyle": style.line, "marker": style.marker if has_marker else ""}
    if layer.kind == "points":
        look = {"linestyle": "none", "marker": "o"}
    return Line2D([], [], color=colour, solid_capstyle="butt", **(look | dict(layer.look)))


def _line(axis: Axes, rows: Rows) -> None:
    """Draw lines through the rows as they are, and a band where they have one."""
    more: dict[str, Any] = {"estimator": None, "sort": False}
    if "line" in rows.data and rows.data["line"].notna().all():
        more["units"] = "line"
    if not rows.layer.mark:
        is_marked = rows.layer.kind == "means" or len(rows.names) >= MARKED_FROM_LINES
        more |= {"style": "series", "style_order": rows.names, "markeredgewidth": 0}
        more["dashes"] = {name: DASHES[rows.looks[name].line] for name in rows.names}
        more["markers"] = {name: rows.looks[name].marker for name in rows.names} if is_marked else False
        more["markevery"] = 0.25 if is_marked and rows.layer.kind == "steps" else None
    if rows.layer.kind == "steps":
        more["drawstyle"] = "steps-post"
    sns.lineplot(**rows.settings(**more), ax=axis)
    if rows.layer.kind == "line" and "low" in rows.data:
        for name, own in rows.by_series():
            axis.fill_between(
                own[rows.x], own["low"], own["high"], color=rows.colour(name), alpha=0.2, linewidth=0
            )


def _means(axis: Axes, rows: Rows) -> None:
    _line(axis, rows)
    for name, every in rows.by_series() if "low" in rows.data else ():
        own = every.dropna(subset=["low"])
        ends = (own[rows.y] - own["low"], own["high"] - own[rows.y])
        look: Any = {"fmt": "none", "ecolor": rows.colour(name), "elinewidth": 0.9, "capsize": 2}
        axis.errorbar(own[rows.x], own[rows.y], ends, **look)


def _points(axis: Axes, rows: Rows) -> None:
    look = dict(rows.layer.look)
    more: dict[str, Any] = {"linewidth": 0, "s": look.pop("markersize", 4.5) ** 2}
    if "marker" not in look:
        more |= {"style": "series", "markers": {name: rows.looks[name].marker for name in rows.names}}
    bare = Rows(
        rows.data, Layer("points", rows.layer.mark, rows.layer.colour, look), rows.x, rows.y, rows.looks
    )
    sns.scatterplot(**bare.settings(**more), ax=axis)


def _hollow(axis: Axes, rows: Rows) -> None:
    for name, own in rows.by_series():
        axis.plot(own[rows.x], own[rows.y], color=rows.colour(name), **rows.layer.look)


def _bars(axis: Axes, rows: Rows) -> None:
    """Draw a bar per row along the axis with numbers, and its interval."""
    is_across = not pd.api.types.is_numeric_dtype(rows.data[rows.y])
    more = {"orient": "y" if is_across else "x", "saturation": 1.0, "errorbar": None}
    sns.barplot(**rows.settings(**more), ax=axis)
    for bars, (_, own) in zip(axis.containers, rows.by_series(), strict=False):
        for bar, low, high in zip(bars, own["low"], own["high"], strict=True):
            middle = bar.get_y() + bar.get_height() / 2 if is_across else bar.get_x() + bar.get_width() / 2
            (axis.hlines if is_across else axis.vlines)(middle, low, high, color=INK, linewidth=1.0)


def _boxes(axis: Axes, rows: Rows) -> None:
    """Draw boxes per name on the vertical axis; each further box holds half of the remaining rows."""
    more = {"orient": "h", "saturation": 1.0, "width": 0.7, "linewidth": 0.5, "flier_kws": {"s": 6}}
    sns.boxenplot(**rows.settings(**more), ax=axis)


def _rule(axis: Axes, rows: Rows) -> None:
    """Draw a dashed line across the panel at each value; the column of the other axis has none."""
    for column, rule in ((rows.x, axis.axvline), (rows.y, axis.axhline)):
        for value in rows.data[column].dropna() if column in rows.data else ():
            rule(value, color=rows.layer.colour or INK, **RULE)


def _spans(axis: Axes, rows: Rows) -> None:
    colours = [rows.colour(name) for name in rows.data["series"]]
    look = {"linewidth": 1.0} | dict(rows.layer.look)
    axis.hlines(rows.data[rows.y], rows.data["low"], rows.data["high"], colors=colours, **look)


def _shades(axis: Axes, rows: Rows) -> None:
    """Draw a bar per name and shade of `value`.

    Shades are logarithmic up to `most`, and the same in all panels; values below the first have none. Bars
    are vectors, because the page's policy allows no embedded images.
    """
    levels = shade_edges(float(rows.data["most"].iloc[0]))[:-1]
    for place, (_, own) in enumerate(rows.data.groupby(rows.y, sort=False)):
        ends, shades = [0.0, *own[rows.x]], np.digitize(own["value"], levels)
        edges = [0, *(np.flatnonzero(np.diff(shades)) + 1).tolist(), len(shades)]
        bars = [(begin, end) for begin, end in pairwise(edges) if shades[begin]]
        spans = [(ends[begin], ends[end] - ends[begin]) for begin, end in bars]
        colours = [SHADE_COLOURS[shades[begin] - 1] for begin, _ in bars]
        axis.broken_barh(spans, (place - 0.5, 1), facecolors=colours, linewidth=0)
    names = list(dict.fromkeys(rows.data[rows.y]))
    axis.set_yticks(range(len(names)), names)
    axis.set_xlim(0, float(rows.data[rows.x].max()))
    axis.grid(visible=False)


def shade_edges(most: float) -> Values:
    """Return the edges of the shades, in logarithmic steps."""
    return np.geomspace(SHADE_LEAST, max(most, 2 * SHADE_LEAST), SHADES.N + 1)


def colour_scale(axes: Sequence[Axes], norm: Normalize, text: Callable[[float], str], name: str) -> None:
    """Put a scale of the shades at the right of the panels, with `text` at its ticks."""
    figure = axes[0].get_figure(root=True)
    assert figure is not None, "panels belong to a figure"
    ticks = FuncFormatter(lambda value, _: text(value))
    scale = figure.colorbar(
        ScalarMappable(norm, SHADES), ax=list(axes), label=name, format=ticks, fraction=0.05, aspect=30
    )
    scale.ax.yaxis.set_minor_formatter(NullFormatter())
    scale.ax.set_label(COLOUR_SCALE)


KINDS: Final[dict[str, Callable[[Axes, Rows], None]]] = {
    "line": _line,
    "steps": _line,
    "means": _means,
    "points": _points,
    "hollow": _hollow,
    "bars": _bars,
    "boxes": _boxes,
    "rule": _rule,
    "spans": _spans,
    "shades": _shades,
}


def draw_fields(axis: Axes, grid: pd.DataFrame, text: Callable[[float], str], norm: Normalize) -> None:
    """Draw a field per number, with `text` in it; one without a number stays empty.

    A field of an infinite number is filled with ink.
    """
    numbers = grid.to_numpy(dtype=np.float64)
    words = np.array([[text(number) for number in row] for row in numbers])
    sns.heatmap(
        grid.where(np.isfinite(numbers)).astype(float), norm=norm, cmap=SHADES, annot=words, fmt="",
        annot_kws={"fontsize": "small"}, linewidths=0.8, cbar=False, ax=axis,
    )  # fmt: skip
    for label, number in zip(axis.texts, numbers[np.isfinite(numbers)], strict=True):
        label.set_color(ON_LITTLE if norm(number) < 0.5 else ON_MUCH)
    for row, column in np.argwhere(np.isposinf(numbers)):
        axis.add_patch(Rectangle((column, row), 1, 1, facecolor=INK, edgecolor=PAPER, linewidth=0.8))
        place = (column + 0.5, row + 0.5)
        axis.text(*place, NEVER, color=PAPER, ha="center", va="center", fontsize="small")
    for ticks, names in ((axis.xaxis, grid.columns), (axis.yaxis, grid.index)):
        ticks.set_ticks(np.arange(len(names)) + 0.5, [plain(str(name), 34) for name in names])
    axis.tick_params(length=0, labelrotation=0)
    axis.grid(visible=False)


POINTS_MAX: Final = 240
"""Points per line: more are not visible. Statistics use every sample."""
INSTANTS: Final = 60
"""Points of a median with its band."""


def distribution(values: Values, column: str) -> pd.DataFrame:
    """Return a cumulative distribution: `column` and `fraction`, at most POINTS_MAX equally spaced ranks.

    Infinite values count in the total, so with them the largest fraction is below 1.
    """
    finite = np.sort(values[np.isfinite(values)])
    if not len(finite):
        return pd.DataFrame({column: [], "fraction": []})
    ranks = np.unique(np.linspace(1, len(finite), min(len(finite), POINTS_MAX)).astype(int))
    drawn, share = finite[ranks - 1], ranks / len(values)
    return pd.DataFrame({column: [drawn[0], *drawn], "fraction": [0.0, *share]})


def spread(points: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the median of `column` around each of INSTANTS (`time_s`), with the least and the largest."""
    times_s = points["time_s"].to_numpy(dtype=np.float64)
    end_s = float(times_s.max()) or 1.0
    middles_s = (np.minimum(times_s // (end_s / INSTANTS), INSTANTS - 1) + 0.5) * end_s / INSTANTS
    around = points[column].groupby(middles_s)
    line = {"time_s": around.median().index, column: around.median().to_numpy()}
    line |= {"low": around.min().to_numpy(), "high": around.max().to_numpy()}
    return pd.DataFrame(line).assign(mark=MEDIAN.mark)


def flow_lines(repetitions: Sequence[pd.DataFrame], unit: float, lines_max: int) -> pd.DataFrame:
    """Return a line per flow of the first repetition, and the spread over all flows and repetitions.

    Each frame has `flow_id`, `t_ns` and `value`; the values become multiples of `unit`. Of many flows
    `lines_max` have a line; the spread has all. A single line has no spread.
    """
    first, *others = [
        pd.DataFrame(
            {"line": each["flow_id"].astype(str), "time_s": each["t_ns"] / 1e9, "value": each["value"] / unit}
        )
        for each in repetitions
    ]
    flows, found = [flow for _, flow in first.groupby("line")], []
    if len(flows) > 1 or others:
        found.append(spread(pd.concat([first, *others]), "value"))
    for flow in flows[:lines_max]:
        kept = np.unique(np.linspace(0, len(flow) - 1, min(POINTS_MAX, len(flow))).astype(int))
        found.append(flow.iloc[kept].assign(mark=ONE_FLOW.mark))
    return pd.concat(found)
