"""Show how measures respond to factors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from rogue.reports.drawing.marks import figure_look
from rogue.reports.drawing.panels import COLUMNS_MAX, legend_above, panels, plain
from rogue.reports.drawing.svg import to_svg
from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.pages.summary import RATIO_MAX, failed_connections, order
from rogue.reports.quantities import joined
from rogue.reports.results import Results, Setting, factor_name
from rogue.reports.results.headlines import Headline, headlines_of
from rogue.reports.results.wording import value_text
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


# Below this a measure's largest value is said without how many times the least it is.
RATIO_MIN = 1.5
VALUES_NAMED_MAX = 8
# More factor points are folded on the page.
ROWS_OPEN_MAX = 12


@dataclass(frozen=True, slots=True)
class Spread:
    """What was varied, what that did to each measure, and each measure at each point."""

    opening: str
    sentences: tuple[str, ...]
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def is_long(self) -> bool:
        """Return whether there are more points than a first screen has room for."""
        return len(self.rows) > ROWS_OPEN_MAX


def spread(results: Results) -> Spread | None:
    """Return how one transport's factor points compare; None if there are rivals, or only one point."""
    settings = results.measured_settings
    if len({setting.transport for setting in settings}) != 1 or len(settings) < 2:
        return None
    shown = [
        headline
        for headline in headlines_of(results.run.manifest).shown
        if headline.label and any(results.mean(setting, headline.metric) for setting in settings)
    ]
    return Spread(
        _opening(settings),
        tuple(_sentences(results, settings, shown)),
        tuple(headline.label or "" for headline in shown),
        tuple(
            (setting.factor_text, *(value_text(results, setting, headline.metric) for headline in shown))
            for setting in settings
        ),
    )


def _opening(settings: list[Setting]) -> str:
    """Say which factors took which values."""
    values: dict[str, dict[str, None]] = {}
    for setting in settings:
        for key, value in setting.factors:
            values.setdefault(key, {})[value] = None
    varied = [f"{factor_name(key)} {_listed(list(each))}" for key, each in values.items() if len(each) > 1]
    return f"{settings[0].style.name} at {len(settings)} points: {'; '.join(varied)}."


def _listed(values: list[str]) -> str:
    if len(values) <= VALUES_NAMED_MAX:
        return joined(values)
    return f"{values[0]}, {values[1]} … {values[-1]} ({len(values)} values)"


def _sentences(results: Results, settings: list[Setting], shown: list[Headline]) -> list[str]:
    """Say of each measure where it is least and where most, and last which ones are level."""
    differing, level = [], []
    for headline in shown:
        measured = [(mean, each) for each in settings if (mean := results.mean(each, headline.metric))]
        measured.sort(key=lambda pair: pair[0].mean)
        (low, least), (high, most) = measured[0], measured[-1]
        texts = [value_text(results, each, headline.metric) for each in (least, most)]
        if order(low, high, headline.metric) == 0:
            level.append(f"{headline.said} ({' to '.join(dict.fromkeys(texts))})")
        else:
            ends = [f"{text} ({each.factor_text})" for text, each in zip(texts, (least, most), strict=True)]
            differing.append(f"{headline.label}: {' to '.join(ends)}{_times(low, high)}.")
    if level:
        differing.append(f"Level at all points: {joined(level)}.")
    return [*differing, f"Connections failed: {failed_connections(results, settings)}."]


def _times(low: MeanInterval, high: MeanInterval) -> str:
    """Write how many times the least value the largest is, where that says more than both."""
    if low.mean <= 0 or not RATIO_MIN <= high.mean / low.mean < RATIO_MAX:
        return ""
    return f", {float(f'{high.mean / low.mean:.2g}'):g} times as much"
