"""The small data behind a figure, read from what is drawn: points, bars, bands and intervals in long form.

A figure's data cannot drift from the figure, because they come from the artists of its axes. So every figure
has them, also one that is added later.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import Collection, LineCollection, PathCollection, PolyCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.path import Path
from matplotlib.ticker import FixedLocator, NullLocator

from rogue.reports.drawing.marks import Values

COLUMNS: Final = ("panel", "series", "line", "mark", "x", "y", "value", "low", "high")
SIGNIFICANT_DIGITS: Final = 6
# Whole numbers up to here keep all digits: a megabyte is 1048576.
WHOLE_BELOW: Final = 1e12
_WORDS: Final = {"µ": "u", "Gb/s": "gbps", "Mb/s": "mbps", "%": "percent", "\N{MINUS SIGN}": "minus"}
_UNIT: Final = re.compile(r"^(?P<name>.*?)\s*\((?P<unit>[^()]+)\)")

Place = float | str


@dataclass(frozen=True, slots=True)
class Row:
    """One point, bar, interval or field of a panel; `is_across` where low and high are along x."""

    series: str
    mark: str
    x: float
    y: float
    value: float = np.nan
    low: float = np.nan
    high: float = np.nan
    colour: str = ""
    is_across: bool = False
    line: int = 0

    @property
    def place(self) -> float:
        """Return where the row stands on the axis along which it does not spread."""
        return self.y if self.is_across else self.x


def figure_data(figure: Figure) -> pd.DataFrame:
    """Return what a drawn figure shows, a row per point; its columns carry names and units of the axes.

    Where panels differ in what an axis measures, the columns are `x` or `y`, and `x_is` or `y_is` says it row
    by row. `low` and `high` are the ends of a band or interval that stands at the point.
    """
    looks = _looks(figure)
    records: list[tuple[Place, ...]] = []
    for axis, panel in panels_of(figure):
        records += _records(axis, panel, looks)
    frame = pd.DataFrame(records, columns=[*COLUMNS, "x_is", "y_is"])
    for side in ("x", "y"):
        meanings = list(dict.fromkeys(frame[f"{side}_is"]))
        if len(meanings) == 1:
            names = frame.columns[:-2]
            frame = frame.rename(columns={side: meanings[0] if meanings[0] not in names else side})
            frame = frame.drop(columns=f"{side}_is")
    if frame.groupby(["panel", "series"])["line"].nunique().max() < 2:
        frame = frame.drop(columns="line")  # the names tell the lines apart
    return frame.drop(columns=[name for name in COLUMNS if name in frame and _is_empty(frame[name])])


def thinned(frame: pd.DataFrame, rows_max: int, line_max: int) -> pd.DataFrame:
    """Return every k-th row of each line, with its first and its last: about so many rows, and per line."""
    keys = [name for name in ("panel", "series", "line", "mark") if name in frame]
    groups = list(frame.groupby(keys, sort=False, dropna=False).indices.values())
    longest = max((len(group) for group in groups), default=0)
    step = max(-(-len(frame) // rows_max), -(-longest // line_max))
    if step <= 1:
        return frame
    kept = [rows for group in groups for rows in (group[::step], group[-1:])]
    return frame.iloc[np.unique(np.concatenate(kept))]


def _is_empty(column: "pd.Series[str]") -> bool:
    return bool((column.isna() | (column == "")).all())


def panels_of(figure: Figure) -> list[tuple[Axes, str]]:
    """Return the panels, each with its title, or with that of the panel above if it has none itself."""
    found: list[tuple[Axes, str]] = []
    for axis in figure.axes:
        if axis.get_label() != "<colorbar>":
            found.append((axis, panel_title(axis) or (found[-1][1] if found else "")))
    return found


def panel_title(axis: Axes) -> str:
    """Return a panel's own title in one line; empty where it has none."""
    return " ".join((axis.get_title(loc="left") or axis.get_title()).split())


def _records(axis: Axes, panel: str, looks: dict[str, str]) -> Iterator[tuple[Place, ...]]:
    x_is, y_is = meaning_of(axis.xaxis, "x"), meaning_of(axis.yaxis, "y")
    across, up = _categories(axis.xaxis), _categories(axis.yaxis)
    for row in _joined(list(_rows(axis))):
        series = row.series or looks.get(row.colour, "")
        places = (_placed(row.x, across), _placed(row.y, up))
        numbers = (row.value, row.low, row.high)
        words = panel, " ".join(series.split()), row.line, row.mark
        yield (*words, *places, *map(_short, numbers), x_is, y_is)


def _rows(axis: Axes) -> Iterator[Row]:
    """Read the artists of a panel; what belongs to a container is read with the container."""
    inside: set[Artist] = set()
    for container in axis.containers:
        inside |= set(container.get_children())
        if isinstance(container, ErrorbarContainer):
            yield from _errorbar_rows(container)
        elif isinstance(container, BarContainer):
            yield from _bar_rows(container)
    for number, line in enumerate(axis.lines, start=1):
        if line not in inside and line.get_visible():
            yield from (replace(row, line=number) for row in _line_rows(axis, line))
    for collection in axis.collections:
        if collection not in inside and collection.get_visible():
            yield from _collection_rows(collection)


def _errorbar_rows(container: ErrorbarContainer) -> Iterator[Row]:
    line, _, spreads = container.lines
    label = _label(container)
    if line is not None:
        colour = _colour(line.get_color())
        for x, y in _points(line):
            yield Row(label, "point", x, y, colour=colour)
    for spread in spreads:
        for row in _segment_rows(spread):
            yield replace(row, series=label)


def _bar_rows(container: BarContainer) -> Iterator[Row]:
    is_across = container.orientation == "horizontal"
    for bar in container.patches:
        x, y = bar.get_x() + bar.get_width() / 2, bar.get_y() + bar.get_height() / 2
        ends = (bar.get_x() + bar.get_width(), y) if is_across else (x, bar.get_y() + bar.get_height())
        yield Row(_label(container), "bar", *ends, colour=_colour(bar.get_facecolor()), is_across=is_across)


def _line_rows(axis: Axes, line: Line2D) -> Iterator[Row]:
    """Read a line; one that spans the whole panel is a rule."""
    label, colour = _label(line), _colour(line.get_color())
    points = list(_points(line))
    if line.get_transform() == axis.get_yaxis_transform(which="grid") and points:
        yield Row(label, "rule", np.nan, points[0][1], colour=colour)
        return
    if line.get_transform() == axis.get_xaxis_transform(which="grid") and points:
        yield Row(label, "rule", points[0][0], np.nan, colour=colour)
        return
    is_stepped = line.get_drawstyle().startswith("steps")
    mark = "step" if is_stepped else "point" if line.get_linestyle() == "None" else "line"
    for x, y in points:
        yield Row(label, mark, x, y, colour=colour)


def _collection_rows(collection: Collection) -> Iterator[Row]:
    label = _label(collection)
    if isinstance(collection, QuadMesh):
        yield from _mesh_rows(collection)
    elif isinstance(collection, PathCollection):
        faces = collection.get_facecolor()
        edges = faces if len(faces) else collection.get_edgecolor()
        colours = [_colour(edge) for edge in edges] or [""]
        for number, (x, y) in enumerate(np.asarray(collection.get_offsets(), dtype=float)):
            yield Row(label, "point", x, y, colour=colours[number % len(colours)])
    elif isinstance(collection, LineCollection):
        yield from (replace(row, series=label) for row in _segment_rows(collection))
    elif isinstance(collection, PolyCollection):
        faces = collection.get_facecolor()
        colour = _colour(faces[0]) if len(faces) else ""
        for path in collection.get_paths():
            yield from (replace(row, series=label, colour=colour) for row in _band_rows(_corners(path)))
    else:
        for path in collection.get_paths():
            (low_x, low_y), (high_x, high_y) = _corners(path).min(axis=0), _corners(path).max(axis=0)
            yield Row(label, "box", (low_x + high_x) / 2, np.nan, low=low_y, high=high_y)


def _mesh_rows(mesh: QuadMesh) -> Iterator[Row]:
    corners = np.asarray(mesh.get_coordinates(), dtype=float)
    middles = (corners[:-1, :-1] + corners[1:, 1:]) / 2
    values = np.ma.filled(np.ma.asarray(mesh.get_array(), dtype=float), np.nan).reshape(middles.shape[:2])
    for (x, y), value in zip(middles.reshape(-1, 2), values.ravel(), strict=True):
        yield Row("", "field", float(x), float(y), float(value))


def _segment_rows(segments: Collection) -> Iterator[Row]:
    colours = [_colour(colour) for colour in segments.get_edgecolor()] or [""]
    for number, path in enumerate(segments.get_paths()):
        vertices = _corners(path)
        if len(vertices) == 2 and np.isfinite(vertices).all() and (vertices[0] != vertices[1]).any():
            yield _interval(tuple(vertices[0]), tuple(vertices[1]), colours[number % len(colours)])


def _interval(start: Sequence[float], end: Sequence[float], colour: str) -> Row:
    (x0, y0), (x1, y1) = start, end
    if y0 == y1 and x0 != x1:
        return Row(
            "", "interval", np.nan, y0, low=min(x0, x1), high=max(x0, x1), colour=colour, is_across=True
        )
    return Row("", "interval", x0, np.nan, low=min(y0, y1), high=max(y0, y1), colour=colour)


def _corners(path: Path) -> Values:
    return np.asarray(path.vertices, dtype=np.float64)


def _band_rows(vertices: Values) -> Iterator[Row]:
    """Read a filled band: at each x the lowest and the highest edge."""
    frame = pd.DataFrame(vertices, columns=["x", "y"])
    edges = frame.groupby("x", sort=True)["y"].agg(["min", "max"])
    for x, low, high in edges.itertuples():
        yield Row("", "band", float(x), np.nan, low=float(low), high=float(high))


def _joined(rows: list[Row]) -> list[Row]:
    """Give bands and intervals to the points that they belong to; one without a point stays a row."""
    spreads = [row for row in rows if row.mark in {"band", "interval"}]
    owners: dict[tuple[bool, float], list[int]] = {}
    whole = [row for row in rows if row.mark not in {"band", "interval"}]
    for number, row in enumerate(whole):
        for is_across in {row.is_across} if row.mark == "bar" else {False, True}:
            place = row.y if is_across else row.x
            if row.mark in {"bar", "point", "line"} and np.isfinite(place):
                owners.setdefault((is_across, _short(place)), []).append(number)
    left = []
    for spread in spreads:
        here = owners.get((spread.is_across, _short(spread.place)), [])
        free = [number for number in here if np.isnan(whole[number].low)]
        own = [number for number in free if whole[number].colour == spread.colour]
        taken = own or (free if len(here) == 1 else [])
        if taken:
            whole[taken[0]] = replace(whole[taken[0]], low=spread.low, high=spread.high)
        else:
            left.append(spread)
    return whole + left


def _points(line: Line2D) -> Iterator[tuple[float, float]]:
    for x, y in np.ma.filled(np.ma.column_stack(line.get_data(orig=False)).astype(float), np.nan):
        if np.isfinite(x) and np.isfinite(y):
            yield float(x), float(y)


def _looks(figure: Figure) -> dict[str, str]:
    """Return what the legends call each colour, where one colour has one name."""
    names: dict[str, set[str]] = {}
    legends = [*figure.legends, *(axis.get_legend() for axis in figure.axes)]
    for legend in legends:
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=False) if legend else ():
            paint = handle.get_color() if isinstance(handle, Line2D) else _face(handle)
            names.setdefault(_colour(paint), set()).add(text.get_text())
    return {colour: names[colour].pop() for colour in names if colour and len(names[colour]) == 1}


def _face(handle: Artist | None) -> object:
    face = getattr(handle, "get_facecolor", lambda: None)()
    return face[0] if isinstance(face, np.ndarray) and face.ndim == 2 and len(face) else face


def _colour(paint: object) -> str:
    try:
        return to_hex(paint)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return ""


def _label(artist: Artist | ErrorbarContainer | BarContainer) -> str:
    label = str(artist.get_label() or "")
    return "" if label.startswith("_") else label


def meaning_of(axis: Axis, side: str) -> str:
    """Return what an axis measures with its unit last: `goodput_gbps`, `time_s`, `completion_time_ns`.

    A formatter that writes each tick in the unit that suits it knows the unit of the values: its `unit`.
    """
    label = axis.get_label().get_text()
    known = _UNIT.match(label)
    name, unit = (known["name"], known["unit"]) if known else (label, "")
    unit = getattr(axis.get_major_formatter(), "unit", None) or unit
    words = [_slug(part) for part in (name, unit) if part]
    return "_".join(dict.fromkeys(word for word in words if word)) or side


def _slug(text: str) -> str:
    for symbol, word in _WORDS.items():
        text = text.replace(symbol, word if symbol == "µ" else f" {word} ")
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def _categories(axis: Axis) -> dict[float, str]:
    """Return names by place of an axis that counts things instead of measuring, empty for any other axis."""
    locator = axis.get_major_locator()
    if isinstance(locator, NullLocator) or not (isinstance(locator, FixedLocator) or axis.have_units()):
        return {}
    places = [float(place) for place in axis.get_majorticklocs()]
    names = axis.get_major_formatter().format_ticks(places)
    steps = {round(place - number, 6) for number, place in enumerate(places)}
    if not steps <= {0.0, 0.5} or len(steps) != 1 or not all(names) or all(map(_is_number, names)):
        return {}
    return dict(zip(places, names, strict=True))


def _is_number(text: str) -> bool:
    try:
        float(text.replace("\N{MINUS SIGN}", "-"))
    except ValueError:
        return False
    return True


def _placed(place: float, names: dict[float, str]) -> Place:
    """Return the name that a place is next to, or the place itself."""
    near = min(names, key=lambda named: abs(named - place), default=np.inf)
    return names[near] if abs(near - place) <= 0.5 else _short(place)


def _short(number: float) -> float:
    is_whole = abs(number) < WHOLE_BELOW and float(number).is_integer()
    return float(number if is_whole else f"{number:.{SIGNIFICANT_DIGITS}g}")
