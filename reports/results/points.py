"""Choose the factor points that figures draw, and name them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rogue.reports.quantities import joined
from rogue.reports.results import Setting, factor_name

# Of more factor points than the first only some are drawn, as many as the second says if they fit.
POINTS_MAX: Final = 4
POINTS_CHOSEN: Final = 3
PANELS_MAX: Final = 12

Points = Mapping[str, Sequence[Setting]]


def quoted_points(settings: Sequence[Setting]) -> list[str]:
    """Return the factor points that the summary quotes: the last common one of each rival.

    Rivals are compared with the first transport; without rivals it is quoted at the last point.
    """
    own = {setting.factor_text for setting in settings if setting.transport == settings[0].transport}
    last = {
        setting.transport: setting.factor_text
        for setting in settings
        if setting.transport != settings[0].transport and setting.factor_text in own
    }
    return list(dict.fromkeys(last.values())) or [setting.factor_text for setting in settings[-1:]]


def chosen_points(points: Points, quoted: Iterable[str], panels_per_setting: int) -> list[str]:
    """Return the points to draw, each with all its transports.

    These are all points if they are few and their panels fit; else those of the summary, and the first and
    the middle one if their panels fit. `panels_per_setting` is 0 where transports share a panel.
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
    """Name factor points, `load 0.25, 0.5` or `senders 3, 4 with verb read`; without factors transports."""
    values = factor_values(settings)
    if not values:
        return joined([setting.style.name for setting in settings])
    key = max(values, key=lambda name: len(values[name]))
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
