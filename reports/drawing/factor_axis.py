"""Choose factor points, and draw them on an axis."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from matplotlib.axes import Axes

from rogue.reports.drawing.panels import plain, scaled_inches
from rogue.reports.quantities import joined
from rogue.reports.results import Setting, factor_name
from rogue.workloads.units import QUANTITY_OF_SUFFIX, UnitError

# Of more factor points than the first only some are drawn, as many as the second says if they fit.
POINTS_MAX: Final = 4
POINTS_CHOSEN: Final = 3
PANELS_MAX: Final = 12

Points = Mapping[str, Sequence[Setting]]


def quoted_points(settings: Sequence[Setting]) -> list[str]:
    """Return the factor points that the summary quotes: for each rival the last that it shares.

    Rivals are compared with the first transport. Where it has none, it is quoted at the last point.
    """
    own = {setting.factor_text for setting in settings if setting.transport == settings[0].transport}
    last = {
        setting.transport: setting.factor_text
        for setting in settings
        if setting.transport != settings[0].transport and setting.factor_text in own
    }
    return list(dict.fromkeys(last.values())) or [setting.factor_text for setting in settings[-1:]]


def chosen_points(points: Points, quoted: Iterable[str], panels_per_setting: int) -> list[str]:
    """Return the points that are drawn, each with all its transports.

    All if they are few and their panels fit; else those that the summary quotes, and with them the first and
    the middle one as far as their panels fit. `panels_per_setting` is 0 where transports share a panel.
    """
    names = list(points)
    if len(names) <= POINTS_MAX and _panels(points, names, panels_per_setting) <= PANELS_MAX:
        return names
    chosen = [name for name in quoted if name in points] or names[-1:]
    for name in (names[0], names[len(names) // 2], names[-1]):
        more = [*chosen, name]
        fits = len(more) <= POINTS_CHOSEN and _panels(points, more, panels_per_setting) <= PANELS_MAX
        if name not in chosen and fits:
            chosen = more
    return [name for name in names if name in chosen]


def _panels(points: Points, names: Iterable[str], panels_per_setting: int) -> int:
    return sum(panels_per_setting * len(points[name]) or 1 for name in names)


def swept_factor(settings: Sequence[Setting]) -> str:
    """Return the factor with most values, empty if none has two."""
    values = factor_values(settings)
    key = max(values, key=lambda name: len(values[name]), default="")
    return key if len(values.get(key, ())) > 1 else ""


def factor_values(settings: Sequence[Setting]) -> dict[str, list[str]]:
    """Return the values of each factor, in the order of the experiment."""
    values: dict[str, dict[str, None]] = {}
    for setting in settings:
        for key, value in setting.factors:
            values.setdefault(key, {})[value] = None
    return {key: list(found) for key, found in values.items()}


def points_text(settings: Sequence[Setting]) -> str:
    """Name the factor points of settings: `load 0.25, 0.5`, or `senders 3, 4 with verb read`."""
    values = factor_values(settings)
    key = max(values, key=lambda name: len(values[name]), default="")
    with_others: dict[str, dict[str, None]] = {}
    for setting in settings:
        others = joined([f"{factor_name(name)} {value}" for name, value in setting.factors if name != key])
        with_others.setdefault(others, {})[dict(setting.factors)[key]] = None
    of_values: dict[str, list[str]] = {}
    for others, found in with_others.items():
        of_values.setdefault(", ".join(found), []).append(others)
    name = factor_name(key)
    return "; ".join(
        f"{name} {text}" + (f" with {' or '.join(others)}" if any(others) else "")
        for text, others in of_values.items()
    )


# From this ratio of the largest to the smallest value a linear axis would crowd the small ones.
LOG_FROM_RATIO: Final = 20.0
# Width of one character of a label.
CHARACTER_INCHES: Final = 0.085
# How far zero stands from the smallest value on a logarithmic axis, in decades.
ZERO_DECADES: Final = 0.5
ONE_IN: Final = "one_in"
"""Key of a loss, of which one packet in so many is lost."""


@dataclass(frozen=True, slots=True)
class FactorAxis:
    """Places and labels of a factor's values, in ascending order of place."""

    places: dict[str, float]
    labels: dict[str, str]
    is_log: bool
    name: str
    """What stands below the axis."""


def factor_axis(key: str, values: Sequence[str]) -> FactorAxis:
    """Return where the values of a factor stand: by size if all are numbers or quantities, else in order.

    A loss of one packet in n stands at 1/n, so that more loss is further right; one in 0 is no loss. A
    logarithmic axis that has a zero is linear below the smallest value.
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
        and max(above_zero) / min(above_zero) >= LOG_FROM_RATIO
    )
    return FactorAxis(places, labels, is_wide, name)


def apply(axis: Axes, factor: FactorAxis) -> None:
    """Give a panel this horizontal axis; labels that would run into the one before are left out."""
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
