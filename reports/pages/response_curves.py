"""A number against one key at a time, at the points that ran."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from rogue.reports.drawing.look import figure_look
from rogue.reports.drawing.panels import COLUMNS_MAX, legend_above, panels, plain
from rogue.reports.drawing.svg import to_svg
from rogue.reports.transport_styles import MUTED, TRANSPORT_STYLES

LOG_FROM_RATIO: Final = 30.0
"""From this ratio of the largest to the smallest number a linear axis would hide the small ones."""
_MARGIN: Final = 0.05
_OWN, _OTHER = TRANSPORT_STYLES["rogue"].colour, TRANSPORT_STYLES["roce"].colour


@dataclass(frozen=True, slots=True)
class Dot:
    """One point that ran."""

    place: float
    """Of the key's value on its range, 0 to 1."""
    number: float
    holds: bool | None
    """Whether the claim does there; None without one."""


@dataclass(frozen=True, slots=True)
class Step:
    """Two points between which the key alone was moved."""

    before: float
    after: float
    number_before: float
    number_after: float


@dataclass(frozen=True, slots=True)
class Curve:
    """One key."""

    key: str
    ticks: Sequence[tuple[float, str]]
    """Places on its range, and the values there."""
    dots: Sequence[Dot]
    steps: Sequence[Step]


def response_curves(
    curves: Sequence[Curve], published: float | None, written: Callable[[float], str], prefix: str, title: str
) -> Markup | None:
    """Draw a panel per key, with the published number as a line; None without any point."""
    if not any(curve.dots for curve in curves):
        return None
    with figure_look():
        words = f"The number at each point that ran, against {', '.join(curve.key for curve in curves)}."
        return to_svg(_drawn(curves, published, written), prefix, title, words)


def _drawn(curves: Sequence[Curve], published: float | None, written: Callable[[float], str]) -> Figure:
    figure, axes = panels([curve.key for curve in curves], COLUMNS_MAX, share="row", height_inches=2.2)
    numbers = [dot.number for curve in curves for dot in curve.dots]
    numbers += [] if published is None else [published]
    is_log = min(numbers) > 0 and max(numbers) > LOG_FROM_RATIO * min(numbers)
    for axis, curve in zip(axes, curves, strict=True):
        _draw(axis, curve, published)
        if is_log:
            axis.set_yscale("log")
        axis.yaxis.set_major_formatter(FuncFormatter(lambda number, _: written(number)))
        axis.yaxis.set_minor_formatter(NullFormatter())
    legend_above(figure, axes)
    return figure


def _draw(axis: Axes, curve: Curve, published: float | None) -> None:
    for step in curve.steps:
        axis.plot(
            (step.before, step.after), (step.number_before, step.number_after), color=MUTED, linewidth=0.6
        )
    for holds, label, colour, marker in (
        (None, "a point that ran", _OWN, "o"),
        (True, "the claim holds", _OWN, "o"),
        (False, "it does not", _OTHER, "x"),
    ):
        dots = [dot for dot in curve.dots if dot.holds is holds]
        if dots:
            places, numbers = [dot.place for dot in dots], [dot.number for dot in dots]
            axis.scatter(places, numbers, s=16, color=colour, marker=marker, label=label, linewidths=1.2)
    if published is not None:
        axis.axhline(published, color=MUTED, linestyle="--", linewidth=1.0, label="published")
    axis.set_xticks([place for place, _ in curve.ticks], [plain(text, 12) for _, text in curve.ticks])
    axis.set_xlim(-_MARGIN, 1 + _MARGIN)
