"""An axis for a factor: values where they are numbers, and the words of the experiment file as labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from matplotlib.axes import Axes

from rogue.reports.drawing.panels import plain, scaled_inches
from rogue.workloads.units import QUANTITY_OF_SUFFIX, UnitError

# From this ratio of the largest to the smallest value a linear axis would crowd the small ones.
LOG_FROM_RATIO: Final = 20.0
# Width of one character of a label.
CHARACTER_INCHES: Final = 0.085


@dataclass(frozen=True, slots=True)
class FactorAxis:
    """Places and labels of a factor's values, in ascending order of place."""

    places: dict[str, float]
    labels: dict[str, str]
    is_log: bool


def factor_axis(key: str, values: Sequence[str]) -> FactorAxis:
    """Return where the values of a factor stand: by size if all are numbers or quantities, else in order.

    A loss of one packet in n stands at 1/n, so that more loss is further right; one in 0 is no loss.
    """
    numbers = {value: _number(value) for value in values}
    known = {value: number for value, number in numbers.items() if number is not None}
    labels = {value: plain(value, 14) for value in values}
    if len(known) < len(numbers):
        return FactorAxis({value: float(n) for n, value in enumerate(values)}, labels, False)
    if key.endswith("one_in"):
        known = {value: 1 / number if number else 0.0 for value, number in known.items()}
        labels = {value: f"1/{value}" if known[value] else "0" for value in values}
    places = dict(sorted(known.items(), key=lambda item: item[1]))
    low, high = min(places.values()), max(places.values())
    return FactorAxis(places, labels, low > 0 and high / low >= LOG_FROM_RATIO)


def apply(axis: Axes, factor: FactorAxis) -> None:
    """Give a panel this horizontal axis; labels that would run into the one before are left out."""
    if factor.is_log:
        axis.set_xscale("log")
    places = list(factor.places.values())
    low, high = min(places), max(places)
    room = 0.04 * (high - low) or 0.5
    axis.set_xlim((low / 1.2, high * 1.2) if factor.is_log else (low - room, high + room))
    axis.set_xticks(places, _thinned(axis, factor))
    axis.set_xticks([], minor=True)


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
