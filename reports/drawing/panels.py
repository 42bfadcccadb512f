"""Figures as small multiples: look, layout, shared scales and one legend."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from typing import Any, Final, Literal

import numpy as np
from matplotlib import rc_context, rcParams, rcParamsDefault
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis as MatplotlibAxis
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.scale import SymmetricalLogTransform
from numpy.typing import NDArray

from rogue.reports.results import Setting, settings_by_point
from rogue.reports.transport_styles import GRID, INK, MUTED, PAPER, SHADE_COLOURS

Values = NDArray[np.float64]

SHADES: Final = ListedColormap(SHADE_COLOURS, "shades")
"""From little to much of one quantity, in steps; each has its partner on a dark page."""

_DEFAULTS: Final[Any] = {
    key: value for key, value in rcParamsDefault.items() if not key.startswith(("backend", "interactive"))
}
_LOOK: Final[Any] = {
    "svg.fonttype": "none",  # text stays text: a screen reader reads it, and a search finds it
    "svg.hashsalt": "rogue-report",
    "text.parse_math": False,  # names come from experiment files and may contain a dollar sign
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9.0,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.edgecolor": MUTED,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "figure.facecolor": "none",
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "legend.labelcolor": INK,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "patch.edgecolor": PAPER,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
}


@contextmanager
def figure_look() -> Iterator[None]:
    """Draw and write figures in the look of the report while the context lasts.

    Other settings have matplotlib's defaults: a `matplotlibrc` in the working directory may set anything.
    """
    with rc_context({**_DEFAULTS, **_LOOK}):
        yield


def plain(text: str, length_max: int = 100) -> str:
    """Return text that is safe to draw: printable, on one line, and at most `length_max` characters."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return printable if len(printable) <= length_max else printable[: length_max - 1] + "…"


WIDTH_INCHES: Final = 9.6
"""Of the report's page."""
TYPE_POINTS: Final = 9.0
PAPER_TYPE: Final = 0.82
"""On a paper's page type is smaller by this factor, but never below 6 points."""
COLUMNS_MAX: Final = 3
PANEL_INCHES_MIN: Final = 3.0
"""Panels that would be narrower are put below each other."""
TITLE_CHARACTER_INCHES: Final = 0.083
TITLE_LINE_INCHES: Final = 0.16
LEGEND_COLUMNS: Final = 4
PAD_INCHES: Final = 0.07
DECIMALS: Final = 4
COLOUR_SCALE: Final = "colour scale"
"""Label of the axes of a scale of shades, which is no panel."""

Share = Literal["all", "row", "none"]

TYPE_SIZES: Final = (
    "font.size",
    "axes.titlesize",
    "axes.labelsize",
    "legend.fontsize",
    "xtick.labelsize",
    "ytick.labelsize",
)
_width_inches: ContextVar[float] = ContextVar("width_inches", default=WIDTH_INCHES)


@contextmanager
def page_width(width_inches: float) -> Iterator[None]:
    """Lay figures out for a page or column of this width while the context lasts.

    Enter it inside `figure_look`. On a page narrower than the report's, type has the size of a paper's.
    """
    scale = PAPER_TYPE if width_inches < WIDTH_INCHES else 1.0
    current: Any = rcParams
    scaled: Any = {key: current[key] * scale for key in TYPE_SIZES if isinstance(current[key], int | float)}
    token = _width_inches.set(width_inches)
    try:
        with rc_context(scaled):
            yield
    finally:
        _width_inches.reset(token)


def scaled_inches(inches: float) -> float:
    """Convert a length that was measured with the report's type to the current type."""
    return inches * float(rcParams["font.size"]) / TYPE_POINTS


def is_narrow() -> bool:
    """True in a column of a paper, which has room for one panel."""
    return _width_inches.get() < scaled_inches(2 * PANEL_INCHES_MIN)


def columns_that_fit(wanted: int) -> int:
    """Return how many panels have room beside each other, at most `wanted`."""
    return max(1, min(wanted, int(_width_inches.get() / scaled_inches(PANEL_INCHES_MIN))))


def panels(
    titles: Sequence[str], columns: int = 2, *, share: Share = "all", height_inches: float = 2.5
) -> tuple[Figure, list[Axes]]:
    """Return a figure with one titled panel per title, in rows of at most `columns`.

    `share` says which panels have one scale. `height_inches` is the height of a row in the report's type.
    """
    width, in_row = _width_inches.get(), min(columns, len(titles))
    columns = columns_that_fit(in_row)
    rows = -(-len(titles) // columns)
    characters = int((width / columns - scaled_inches(0.9)) / scaled_inches(TITLE_CHARACTER_INCHES))
    wrapped = ["\n".join(textwrap.wrap(plain(title), max(characters, 12))) for title in titles]
    lines = max(text.count("\n") for text in wrapped)
    height = rows * scaled_inches(height_inches + TITLE_LINE_INCHES * lines)
    layout = ConstrainedLayoutEngine(w_pad=PAD_INCHES, h_pad=PAD_INCHES)
    figure = Figure(figsize=(width, height), layout=layout)
    share_y = "none" if share == "row" else share
    grid = figure.subplots(rows, columns, sharex=share == "all", sharey=share_y, squeeze=False)
    axes = list(grid.ravel())
    for unused in axes[len(titles) :]:
        unused.remove()
    axes = axes[: len(titles)]
    for place, (axis, title) in enumerate(zip(axes, titles, strict=True)):
        axis.set_title(wrapped[place])
        axis.set_label(title)
        axis.tick_params(labelbottom=True, labelleft=True)
        if share == "row" and place % in_row:  # also where the panels of a row are below each other
            axis.sharey(axes[place - place % in_row])
    return figure, axes


def compared_panels(settings: Sequence[Setting]) -> tuple[int, Share]:
    """Return the number of columns for a panel per setting, in order of factor points, and what panels share.

    With several transports a row is one factor point and its panels share their scale; with one transport,
    or too many for a row, all panels share it.
    """
    widths = {len(point) for point in settings_by_point(settings).values()}
    width = max(widths, default=1)
    return (width, "row") if len(widths) == 1 and 1 < width <= COLUMNS_MAX else (2, "all")


def legend_above(figure: Figure, entries: Mapping[str, Artist]) -> None:
    """Put one legend above all panels, in as many columns as fit; the figure grows by its height.

    `entries` has an artist of each label.
    """
    if not entries:
        return
    room = int(figure.get_figwidth() / scaled_inches(0.07)) - 8
    labels = [plain(label, max(room, 12)) for label in entries]
    for columns in range(min(LEGEND_COLUMNS, len(labels)), 0, -1):
        legend = figure.legend(
            list(entries.values()), labels, loc="outside upper left", ncols=columns, borderaxespad=0.2
        )
        box = legend.get_window_extent()
        if columns == 1 or box.width < 0.98 * figure.bbox.width:
            break
        legend.remove()
    figure.set_figheight(figure.get_figheight() + box.height / figure.dpi)


def turn_crowded_names(figure: Figure) -> None:
    """Turn the names below all panels upright if those of one panel touch each other."""
    if engine := figure.get_layout_engine():
        engine.execute(figure)  # which gives the labels their places
    for axis in figure.axes:
        boxes = [label.get_window_extent() for label in axis.get_xticklabels() if label.get_text()]
        if any(left.x1 + 2 > right.x0 for left, right in pairwise(boxes)):
            for each in figure.axes:
                each.tick_params(axis="x", labelrotation=90)
            figure.set_figheight(figure.get_figheight() + max(box.width for box in boxes) / figure.dpi)
            return


def drawn_labels(axes: Sequence[Axes]) -> dict[str, Artist]:
    """Return an artist for each label that one of the panels explains."""
    found: dict[str, Artist] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return found


def figure_axes(figure: Figure, x: str, y: str) -> dict[str, object]:
    """Return the places of the panels of a figure that was written, for the script that tells values.

    A panel has the name that it has in the data, a box (left, top, width and height as parts of the figure),
    and the spans of its axes. `x` and `y` are the columns of the data along them.
    """
    of_data = [axis for axis in figure.axes if axis.get_label() != COLOUR_SCALE]
    return {"axes": [_panel(axis) for axis in of_data], "x": x, "y": y}


def _panel(axis: Axes) -> dict[str, object]:
    place = axis.get_position()
    box = (place.x0, 1 - place.y1, place.width, place.height)
    return {
        "panel": str(axis.get_label()),
        "box": [round(part, DECIMALS) for part in box],
        "x": _span(axis.xaxis, *axis.get_xlim()),
        "y": _span(axis.yaxis, *axis.get_ylim()),
    }


def _span(axis: MatplotlibAxis, low: float, high: float) -> dict[str, str | float]:
    span: dict[str, str | float] = {"low": float(low), "high": float(high), "scale": axis.get_scale()}
    transform = axis.get_transform()
    if isinstance(transform, SymmetricalLogTransform):
        span |= {"threshold": float(transform.linthresh), "linear": float(transform.linscale)}
    return span
