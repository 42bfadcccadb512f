"""Lay out small multiples with shared scales and one legend."""

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Literal

import numpy as np
from matplotlib import rc_context, rcParams
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.scale import SymmetricalLogTransform

from rogue.reports.drawing.figure_data import meaning_of, panels_of
from rogue.reports.results import Setting, settings_by_point

DECIMALS: Final = 4

Span = dict[str, str | float]


def figure_axes(figure: Figure) -> dict[str, object]:
    """Return the panels with their boxes and spans, and how `figure_data` calls the columns of x and y.

    A box is left, top, width and height as parts of the figure. A panel has the name that its rows have.
    """
    axes = panels_of(figure)
    names = {
        side: {meaning_of(getattr(axis, f"{side}axis"), side) for axis, _ in axes} for side in ("x", "y")
    }
    return {
        "axes": [_panel(axis, panel) for axis, panel in axes],
        **{side: names[side].pop() if len(names[side]) == 1 else side for side in ("x", "y")},
    }


def _panel(axis: Axes, panel: str) -> dict[str, object]:
    place = axis.get_position()
    box = (place.x0, 1 - place.y1, place.width, place.height)
    return {
        "panel": panel,
        "box": [round(part, DECIMALS) for part in box],
        "y_is": meaning_of(axis.yaxis, "y"),
        "x": _span(axis.xaxis, *axis.get_xlim()),
        "y": _span(axis.yaxis, *axis.get_ylim()),
    }


def _span(axis: Axis, low: float, high: float) -> Span:
    span: Span = {"low": float(low), "high": float(high), "scale": axis.get_scale()}
    transform = axis.get_transform()
    if isinstance(transform, SymmetricalLogTransform):
        span |= {"threshold": float(transform.linthresh), "linear": float(transform.linscale)}
    return span


# The report's page, and the type that all rooms below were measured with.
WIDTH_INCHES: Final = 9.6
TYPE_POINTS: Final = 9.0
# On a paper's page type is smaller, but none is below 6 points.
PAPER_TYPE: Final = 0.82
COLUMNS_MAX: Final = 3
# Panels that would be narrower than this stand below each other.
PANEL_INCHES_MIN: Final = 3.0
# Room beside each panel; fixed in inches, so that panels line up from figure to figure.
LEFT_INCHES: Final = 0.78
RIGHT_INCHES: Final = 0.2
ABOVE_INCHES: Final = 0.3
# A line of a title, and what a character of it takes on average.
TITLE_LINE_INCHES: Final = 0.16
TITLE_CHARACTER_INCHES: Final = 0.083
BELOW_INCHES: Final = 0.52
# How far left of the panels a legend begins.
LEGEND_LEFT_INCHES: Final = 0.08
LEGEND_INCHES: Final = 0.3
LEGEND_COLUMNS: Final = 4
LEGEND_ROW_INCHES: Final = 0.22
# What a legend's line takes beside its words, and what fits beside each other, in characters of its type.
LEGEND_LINE_CHARACTERS: Final = 8
LEGEND_CHARACTERS_MAX: Final = 132
UNTITLED_INCHES: Final = 0.1

Share = Literal["all", "row", "none"]

_TYPE_SIZES: Final = (
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
    """Lay figures that are drawn inside this context out for a page or column of this width.

    To be entered inside `figure_look`. On anything narrower than the report's page the type is a paper's.
    """
    scale = PAPER_TYPE if width_inches < WIDTH_INCHES else 1.0
    current: Any = rcParams
    sizes = {key: current[key] for key in _TYPE_SIZES}
    scaled: Any = {key: size * scale for key, size in sizes.items() if isinstance(size, int | float)}
    token = _width_inches.set(width_inches)
    try:
        with rc_context(scaled):
            yield
    finally:
        _width_inches.reset(token)


def figure_width_inches() -> float:
    """Return how wide figures are drawn at the moment."""
    return _width_inches.get()


def scaled_inches(inches: float) -> float:
    """Return the room for what takes so much in the report's type, in the type of the moment."""
    return inches * float(rcParams["font.size"]) / TYPE_POINTS


def columns_that_fit(wanted: int) -> int:
    """Return how many panels stand beside each other, of the number that is wanted."""
    return max(1, min(wanted, int(figure_width_inches() / scaled_inches(PANEL_INCHES_MIN))))


def panels(
    titles: Sequence[str],
    columns: int = 2,
    *,
    share: Share = "all",
    height_inches: float = 2.5,
    legend: bool = True,
) -> tuple[Figure, list[Axes]]:
    """Return a figure with one titled panel per title, in rows, and room for a legend above them."""
    width = figure_width_inches()
    in_row = min(columns, len(titles))
    columns = columns_that_fit(in_row)
    rows = -(-len(titles) // columns)
    left, right, below = (scaled_inches(room) for room in (LEFT_INCHES, RIGHT_INCHES, BELOW_INCHES))
    panel_width = (width - right) / columns - left
    wrapped = [_wrapped(title, panel_width) for title in titles]
    lines = max((text.count("\n") for text in wrapped), default=0)
    above = scaled_inches(ABOVE_INCHES + TITLE_LINE_INCHES * lines)
    panel_height = scaled_inches(height_inches + TITLE_LINE_INCHES * lines)
    top = scaled_inches(LEGEND_INCHES) if legend else 0.0
    if not any(titles):  # a single panel of which the heading says all
        top -= above - scaled_inches(UNTITLED_INCHES)
    height = panel_height * rows + top
    figure = Figure(figsize=(width, height))
    share_y: Share = "none" if share == "row" else share
    grid = figure.subplots(rows, columns, sharex=share == "all", sharey=share_y, squeeze=False)
    figure.subplots_adjust(
        left=left / width,
        right=1 - right / width,
        bottom=below / height,
        top=1 - (above + top) / height,
        wspace=left / panel_width,
        hspace=(above + below) / (panel_height - above - below),
    )
    axes = list(grid.ravel())
    for axis, title in zip(axes, wrapped, strict=False):
        axis.set_title(title)
        axis.tick_params(labelbottom=True, labelleft=True)
    for unused in axes[len(titles) :]:
        unused.remove()
    axes = axes[: len(titles)]
    if share == "row":  # also where the panels of a row had to go below each other
        for place, axis in enumerate(axes):
            if place % in_row:
                axis.sharey(axes[place - place % in_row])
    return figure, axes


def widen_left(figure: Figure, left_inches: float) -> None:
    """Give the first panel of each row so much room at its left, in the report's type, where names stand.

    In a single column titles stay where they were, for they were wrapped to the width that was there.
    """
    figure.subplots_adjust(left=scaled_inches(left_inches) / figure.get_figwidth())
    is_column = len({axis.get_position().x0 for axis in figure.axes}) == 1
    for axis in figure.axes if is_column else []:
        width_inches = axis.get_position().width * figure.get_figwidth()
        shift = scaled_inches(left_inches - LEFT_INCHES) / width_inches
        axis.set_title(axis.get_title(loc="left"), x=min(0.0, -shift))


def make_room(figure: Figure, *, left_inches: float, below_inches: float) -> None:
    """Give every panel at least so much room, in the report's type, at its left and below it: for names.

    Panels keep their height and get narrower. Titles stay where they were, as `widen_left` says.
    """
    (width, height), place, axes = figure.get_size_inches(), figure.subplotpars, figure.axes
    spec = axes[0].get_subplotspec()
    assert spec is not None, "panels stand in a grid"
    rows, columns = spec.get_gridspec().nrows, spec.get_gridspec().ncols
    left = max(scaled_inches(left_inches), place.left * width)
    below = max(scaled_inches(below_inches), place.bottom * height)
    lower, shift = below - place.bottom * height, left - place.left * width
    panel_width = place.right * width / columns - left
    panel_height = axes[0].get_position().height * height
    higher = height + rows * lower
    figure.set_figheight(higher)
    figure.subplots_adjust(
        left=left / width,
        wspace=left / panel_width,
        bottom=below / higher,
        top=1 - (1 - place.top) * height / higher,
        hspace=place.hspace + lower / panel_height,
    )
    for axis in axes:
        axis.set_title(axis.get_title(loc="left"), x=-shift / panel_width)


def _wrapped(title: str, width_inches: float) -> str:
    """Return a title in as many lines as a panel of this width needs."""
    characters = int(width_inches / scaled_inches(TITLE_CHARACTER_INCHES))
    return "\n".join(textwrap.wrap(plain(title), max(characters, 12)))


def compared_panels(settings: Sequence[Setting]) -> tuple[list[Setting], int, Share]:
    """Return settings in the order of their panels, the number of columns, and what panels share.

    With several transports a row is one factor point and its panels share their scale; with one transport,
    or too many for a row, all panels share it.
    """
    points = settings_by_point(settings)
    ordered = [setting for point in points.values() for setting in point]
    widths = {len(point) for point in points.values()}
    width = max(widths, default=1)
    if len(widths) == 1 and 1 < width <= COLUMNS_MAX:
        return ordered, width, "row"
    return ordered, 2, "all"


def scales_from_zero(axes: Sequence[Axes]) -> None:
    """Let every scale begin at 0 and end above the largest value of the panels that share it.

    Called when all of them are drawn.
    """
    for axis in axes:
        together = [axis, *axis.get_shared_y_axes().get_siblings(axis)]
        axis.set_ylim(0, 1.06 * max(float(one.dataLim.ymax) for one in together))


def legend_above(figure: Figure, axes: Sequence[Axes]) -> None:
    """Put one legend of all that the panels explain above them, where it hides nothing."""
    explained: dict[str, Artist] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            explained.setdefault(label, handle)
    handles, labels = list(explained.values()), list(explained)
    if handles:
        columns = _legend_columns(labels)
        left, room = (
            scaled_inches(LEFT_INCHES - LEGEND_LEFT_INCHES),
            _legend_characters() - LEGEND_LINE_CHARACTERS,
        )
        if columns == 1 and max(len(label) for label in labels) > room - LEGEND_LINE_CHARACTERS:
            left = min(left, scaled_inches(0.1))
            labels = [textwrap.fill(label, max(int(room), 12)) for label in labels]
        rows = -(-len(labels) // columns) + sum(label.count("\n") for label in labels)
        _make_room(figure, scaled_inches(LEGEND_ROW_INCHES) * (rows - 1))
        place = (left / figure.get_figwidth(), 1)
        figure.legend(handles, labels, loc="upper left", bbox_to_anchor=place, ncols=columns)


def _legend_characters() -> int:
    """Return how many characters of a legend fit beside each other."""
    beside = LEFT_INCHES - LEGEND_LEFT_INCHES
    room = figure_width_inches() - scaled_inches(beside)
    return int(LEGEND_CHARACTERS_MAX * room / scaled_inches(WIDTH_INCHES - beside))


def _legend_columns(labels: Sequence[str]) -> int:
    """Return how many columns of the longest labels fit beside each other."""
    for columns in range(min(LEGEND_COLUMNS, len(labels)), 1, -1):
        lengths = [len(label) for label in labels]
        longest = [max(column, default=0) for column in np.array_split(lengths, columns)]
        if sum(length + LEGEND_LINE_CHARACTERS for length in longest) <= _legend_characters():
            return columns
    return 1


def _make_room(figure: Figure, inches: float) -> None:
    """Make a figure higher above its panels, which keep their size."""
    before = figure.get_figheight()
    figure.set_figheight(before + inches)
    place = figure.subplotpars
    scale = before / (before + inches)
    figure.subplots_adjust(top=scale * place.top, bottom=scale * place.bottom)


def plain(text: str, length_max: int = 100) -> str:
    """Return text that is safe to draw: printable, on one line, not too long."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return printable if len(printable) <= length_max else printable[: length_max - 1] + "…"
