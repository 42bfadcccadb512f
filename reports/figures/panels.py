"""Small multiples: panels that line up, share their scales, and have one legend."""

import textwrap
from collections.abc import Sequence
from typing import Final, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.results import Setting, settings_by_point

WIDTH_INCHES: Final = 9.6
COLUMNS_MAX: Final = 3
# Room beside each panel; fixed in inches, so that panels line up from figure to figure.
LEFT_INCHES: Final = 0.78
RIGHT_INCHES: Final = 0.2
ABOVE_INCHES: Final = 0.3
# A line of a title, and what a character of it takes on average.
TITLE_LINE_INCHES: Final = 0.16
TITLE_CHARACTER_INCHES: Final = 0.083
BELOW_INCHES: Final = 0.52
LEGEND_INCHES: Final = 0.3
LEGEND_COLUMNS: Final = 4
LEGEND_ROW_INCHES: Final = 0.22
# What a legend's line takes beside its words, and what fits beside each other, in characters of its type.
LEGEND_LINE_CHARACTERS: Final = 8
LEGEND_CHARACTERS_MAX: Final = 132
UNTITLED_INCHES: Final = 0.1

Share = Literal["all", "row", "none"]


def panels(
    titles: Sequence[str],
    columns: int = 2,
    *,
    share: Share = "all",
    height_inches: float = 2.5,
    legend: bool = True,
) -> tuple[Figure, list[Axes]]:
    """Return a figure with one titled panel per title, in rows, and room for a legend above them."""
    columns = min(columns, len(titles))
    rows = -(-len(titles) // columns)
    panel_width = (WIDTH_INCHES - RIGHT_INCHES) / columns - LEFT_INCHES
    wrapped = [_wrapped(title, panel_width) for title in titles]
    above_inches = ABOVE_INCHES + TITLE_LINE_INCHES * max((text.count("\n") for text in wrapped), default=0)
    height_inches += above_inches - ABOVE_INCHES
    top_inches = LEGEND_INCHES if legend else 0.0
    if not any(titles):  # a single panel of which the heading says all
        top_inches -= above_inches - UNTITLED_INCHES
    height = height_inches * rows + top_inches
    figure = Figure(figsize=(WIDTH_INCHES, height))
    grid = figure.subplots(rows, columns, sharex=share == "all", sharey=share, squeeze=False)
    figure.subplots_adjust(
        left=LEFT_INCHES / WIDTH_INCHES,
        right=1 - RIGHT_INCHES / WIDTH_INCHES,
        bottom=BELOW_INCHES / height,
        top=1 - (above_inches + top_inches) / height,
        wspace=LEFT_INCHES / panel_width,
        hspace=(above_inches + BELOW_INCHES) / (height_inches - above_inches - BELOW_INCHES),
    )
    axes = list(grid.ravel())
    for axis, title in zip(axes, wrapped, strict=False):
        axis.set_title(title)
        axis.tick_params(labelbottom=True, labelleft=True)
    for unused in axes[len(titles) :]:
        unused.remove()
    return figure, axes[: len(titles)]


def _wrapped(title: str, width_inches: float) -> str:
    """Return a title in as many lines as a panel of this width needs."""
    return "\n".join(textwrap.wrap(plain(title), int(width_inches / TITLE_CHARACTER_INCHES)))


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


def legend_above(figure: Figure, axes: Sequence[Axes]) -> None:
    """Put the legend of the panel that has most to explain above all panels, where it hides nothing."""
    explained = [axis.get_legend_handles_labels() for axis in axes]
    handles, labels = max(explained, key=lambda pair: len(pair[1]))
    if handles:
        columns = _legend_columns(labels)
        _make_room(figure, LEGEND_ROW_INCHES * ((len(labels) - 1) // columns))
        left = (LEFT_INCHES - 0.08) / WIDTH_INCHES
        figure.legend(handles, labels, loc="upper left", bbox_to_anchor=(left, 1), ncols=columns)


def _legend_columns(labels: Sequence[str]) -> int:
    """Return how many columns of the longest labels fit beside each other."""
    for columns in range(LEGEND_COLUMNS, 1, -1):
        lengths = [len(label) for label in labels]
        longest = [max(column, default=0) for column in np.array_split(lengths, columns)]
        if sum(length + LEGEND_LINE_CHARACTERS for length in longest) <= LEGEND_CHARACTERS_MAX:
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
