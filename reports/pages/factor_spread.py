"""Describe how the measures of one transport respond to factors."""

from dataclasses import dataclass

from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.pages.summary import RATIO_MAX, failed_connections, order
from rogue.reports.quantities import joined
from rogue.reports.results import Results, Setting, factor_name, value_text
from rogue.reports.results.headlines import Headline, headlines_of

# Ratio of the largest to the least value of a measure from which the text has it.
RATIO_MIN = 1.5
VALUES_NAMED_MAX = 8
# More factor points are folded on the page.
ROWS_OPEN_MAX = 12


@dataclass(frozen=True, slots=True)
class Spread:
    """The varied factors, a sentence per measure, and the measures at each point."""

    opening: str
    sentences: tuple[str, ...]
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def is_long(self) -> bool:
        """True if there are more points than a first screen has room for."""
        return len(self.rows) > ROWS_OPEN_MAX


def spread(results: Results) -> Spread | None:
    """Compare the factor points of a single transport; None with several transports or one point."""
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
    """Give the points of the least and the largest value of each measure, and the level measures last."""
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
    """Write the ratio of the largest to the least value, if it is informative."""
    if low.mean <= 0 or not RATIO_MIN <= high.mean / low.mean < RATIO_MAX:
        return ""
    return f", {float(f'{high.mean / low.mean:.2g}'):g} times as much"
