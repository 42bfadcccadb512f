"""Where the panels of a drawn figure stand and what their axes span, for the page's script to find values."""

from typing import Final

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.scale import SymmetricalLogTransform

from rogue.reports.drawing.figure_data import meaning_of, panels_of

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
