"""Scales and ticks of axes, by name, and the axis of a factor."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from rogue.reports.drawing.panels import plain, scaled_inches
from rogue.reports.quantities import NARROW_SPACE, Unit, duration_text, quantity_text, size_text
from rogue.reports.results import factor_name
from rogue.workloads.units import QUANTITY_OF_SUFFIX, UnitError

Side = Literal["x", "y"]

SECONDS: Final = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
"""Units of an axis of time."""
LONG_AXIS: Final = 100.0
"""A logarithmic axis over a larger ratio has ticks at powers of ten only."""
LINEAR_BELOW_BYTES: Final = 1000
INTERVALS_MAX: Final = 5
"""Intervals of a time axis: three panels in a row have room for their labels."""
LOG_FROM_RATIO: Final = 30.0
"""From this ratio of the largest to the smallest value a linear axis would hide the small ones."""


WRITTEN: Final[dict[str, Callable[[float], str]]] = {
    "ns": duration_text,
    "us": lambda value: duration_text(1e3 * value),
    "s": lambda value: duration_text(1e9 * value),
    "bytes": size_text,
    "gbps": lambda value: quantity_text(1e9 * value, Unit.RATE),
    "slowdown": "{:.3g}×".format,
}
"""How a value is written, by the unit at the end of its column's name."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a figure.

    `column` is the column of the figure's data, with its unit last; `scale` is a name in SCALES.
    """

    column: str
    label: str
    scale: str = "linear"

    def text(self, value: float) -> str:
        """Write a value with its unit."""
        sign = "\u2212" if value < 0 else ""
        return sign + WRITTEN.get(self.column.rpartition("_")[2], "{:.3g}".format)(abs(value))

    def apply(self, axes: Sequence[Axes], side: Side) -> None:
        """Label this side of all panels, and scale it; the data are drawn already."""
        for axis in axes:
            axis.set(**{f"{side}label": self.label})
        SCALES[self.scale](axes, side)


def _linear(_axes: Sequence[Axes], _side: Side) -> None:
    """Keep matplotlib's axis."""


def _from_zero(axes: Sequence[Axes], side: Side) -> None:
    """Begin at 0 and end above the largest value of the panels that share the axis."""
    for axis in axes:
        shared = (axis.get_shared_x_axes if side == "x" else axis.get_shared_y_axes)().get_siblings(axis)
        top = max(_finite(getattr(one.dataLim, f"{side}max")) for one in shared)
        axis.set(**{f"{side}lim": (0, 1.06 * top if top > 0 else 1.0)})


def _finite(limit: float) -> float:
    """Return a limit of the data; 0 without data."""
    return limit if math.isfinite(limit) else 0.0


def _names(axes: Sequence[Axes], side: Side) -> None:
    """List names from the top down."""
    for axis in axes:
        axis.set_ylim(max(axis.get_yticks()) + 0.5, -0.5)
        axis.grid(visible=False, axis=side)


def _fraction(axes: Sequence[Axes], side: Side) -> None:
    for axis in axes:
        axis.set(**{f"{side}lim": (0, 1.02)})


def _seconds(axes: Sequence[Axes], side: Side) -> None:
    """Count time from 0 on, with few ticks, all in the unit that suits the longest of the panels."""
    for axis in axes:
        axis.set(**{f"{side}lim": (0, None)})
    end_s = max(float(getattr(axis, f"get_{side}lim")()[1]) for axis in axes)
    symbol, size_s = next((unit for unit in SECONDS if end_s >= unit[1]), SECONDS[-1])

    def text(value: float) -> str:
        return f"{float(f'{value / size_s:.6g}'):g}{NARROW_SPACE}{symbol}"

    for axis in axes:
        _ticks(axis, side, MaxNLocator(INTERVALS_MAX, steps=[1, 2, 2.5, 5, 10]), text)


def _logarithmic(text: Callable[[float], str]) -> Callable[[Sequence[Axes], Side], None]:
    """Return a logarithmic scale over at least a factor of four, with ticks at 2 and 5 unless it is long."""

    def apply(axes: Sequence[Axes], side: Side) -> None:
        for axis in axes:
            axis.set(**{f"{side}scale": "log"})
            low, high = getattr(axis, f"get_{side}lim")()
            if high < 4 * low:
                middle = math.sqrt(low * high)
                low, high = middle / 2, 2 * middle
                axis.set(**{f"{side}lim": (low, high)})
            _ticks(axis, side, LogLocator(subs=(1.0,) if high > LONG_AXIS * low else (1.0, 2.0, 5.0)), text)

    return apply


def _bytes(axes: Sequence[Axes], side: Side) -> None:
    """Make an axis logarithmic, but linear below 1 KB, so that an empty queue has a place."""
    least = min(_finite(getattr(axis.dataLim, f"{side}min")) for axis in axes)
    most = max(_finite(getattr(axis.dataLim, f"{side}max")) for axis in axes)
    high = max(2.0 * LINEAR_BELOW_BYTES, 1.3 * most)
    low = 10.0 ** math.floor(math.log10(least)) if least >= LINEAR_BELOW_BYTES else 0.0
    decades = [10.0**power for power in range(3, 13) if 10.0**power <= high]
    for axis in axes:
        getattr(axis, f"set_{side}scale")("symlog", linthresh=LINEAR_BELOW_BYTES, linscale=0.4)
        axis.set(**{f"{side}lim": (low, high)})
        _ticks(axis, side, FixedLocator([0.0, *decades]), size_text)
        steps = [step * decade for decade in decades for step in range(2, 10)]
        getattr(axis, f"{side}axis").set_minor_locator(FixedLocator(steps))


def _ticks(
    axis: Axes, side: Side, locator: FixedLocator | LogLocator | MaxNLocator, text: Callable[[float], str]
) -> None:
    ticks = axis.xaxis if side == "x" else axis.yaxis
    ticks.set_major_locator(locator)
    ticks.set_major_formatter(FuncFormatter(lambda value, _: text(value) if value else "0"))
    ticks.set_minor_formatter(NullFormatter())


SCALES: Final[dict[str, Callable[[Sequence[Axes], Side], None]]] = {
    "linear": _linear,
    "from zero": _from_zero,
    "fraction": _fraction,
    "names": _names,
    "seconds": _seconds,
    "log ns": _logarithmic(duration_text),
    "log bytes": _logarithmic(size_text),
    "log ratio": _logarithmic(lambda value: f"{value:g}"),
    "bytes": _bytes,
}


def fit_heights(axis: Axes, heights: Sequence[float], text: Callable[[float], str]) -> None:
    """Begin the vertical axis at 0, unless only a logarithmic one shows all heights; `text` writes a tick."""
    low, high = min(heights), max(heights)
    if low > 0 and high / low >= LOG_FROM_RATIO:
        axis.set_yscale("log")
        axis.set_ylim(low / 2, high * 2)
    elif low >= 0:
        axis.set_ylim(0, 1.12 * high if high else 1.0)
    else:
        axis.set_ylim(1.2 * low, max(1.2 * high, -0.2 * low))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda height, _: text(height)))
    axis.yaxis.set_minor_formatter(NullFormatter())


# From this ratio of the largest to the smallest value a linear axis would crowd the small ones.
FACTOR_LOG_FROM_RATIO: Final = 20.0
# Width of one character of a label.
CHARACTER_INCHES: Final = 0.085
# Distance of zero from the smallest value on a logarithmic axis, in decades.
ZERO_DECADES: Final = 0.5
ONE_IN: Final = "one_in"
"""Key of a loss of one packet in n."""


@dataclass(frozen=True, slots=True)
class FactorAxis:
    """Places and labels of a factor's values, in ascending order of place."""

    places: dict[str, float]
    labels: dict[str, str]
    is_log: bool
    name: str
    """Label of the axis."""


def factor_axis(key: str, values: Sequence[str]) -> FactorAxis:
    """Return the places of a factor's values: by size if all are numbers or quantities, else in order.

    A loss of one packet in n is at 1/n, so that more loss is further right; one in 0 is no loss. A
    logarithmic axis with a zero is linear below the smallest value.
    """
    numbers = {value: _number(value) for value in values}
    known = {value: number for value, number in numbers.items() if number is not None}
    labels = {value: plain(value, 14) for value in values}
    name = plain(factor_name(key))
    if len(known) < len(numbers):
        return FactorAxis({value: float(n) for n, value in enumerate(values)}, labels, False, name)
    if key.endswith(ONE_IN):
        name = "fraction of the packets that is lost"
        known = {value: 1 / number if number else 0.0 for value, number in known.items()}
        labels = {value: f"1/{value}" if known[value] else "0" for value in values}
    places = dict(sorted(known.items(), key=lambda item: item[1]))
    above_zero = [place for place in places.values() if place > 0]
    is_wide = (
        min(places.values()) >= 0
        and len(above_zero) > 1
        and max(above_zero) / min(above_zero) >= FACTOR_LOG_FROM_RATIO
    )
    return FactorAxis(places, labels, is_wide, name)


def apply(axis: Axes, factor: FactorAxis) -> None:
    """Give a panel this horizontal axis, without labels that would overlap."""
    places = list(factor.places.values())
    low, high = min(places), max(places)
    if not factor.is_log:
        room = 0.04 * (high - low) or 0.5
        axis.set_xlim(low - room, high + room)
    elif low > 0:
        axis.set_xscale("log")
        axis.set_xlim(low / 1.2, high * 1.2)
    else:
        smallest = min(place for place in places if place > 0)
        axis.set_xscale("symlog", linthresh=smallest, linscale=ZERO_DECADES)
        axis.set_xlim(-smallest / 4, high * 1.2)
    axis.set_xticks(places, _thinned(axis, factor))
    axis.set_xticks([], minor=True)
    axis.set_xlabel(factor.name)


def _thinned(axis: Axes, factor: FactorAxis) -> list[str]:
    to_axes = axis.transScale + axis.transLimits
    figure = axis.get_figure(root=True)
    assert figure is not None, "a panel belongs to a figure"
    character = scaled_inches(CHARACTER_INCHES) / (axis.get_position().width * figure.get_figwidth())
    shown, free_from = [], -1.0
    for value, place in factor.places.items():
        middle = float(to_axes.transform((place, 1.0))[0])
        half = character * len(factor.labels[value]) / 2
        fits = middle - half >= free_from
        shown.append(factor.labels[value] if fits else "")
        free_from = middle + half + character if fits else free_from
    return shown


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        pass
    for quantity in QUANTITY_OF_SUFFIX.values():
        try:
            return float(quantity.parse(value))
        except UnitError:
            continue
    return None
