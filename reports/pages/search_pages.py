"""Pages of searches, sensitivity analyses and known weaknesses."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from rogue.reports.drawing.marks import figure_look
from rogue.reports.drawing.panels import legend_above, panels, plain, widen_left
from rogue.reports.drawing.svg import css_variable, to_svg
from rogue.reports.pages.factor_curves import Curve, response_curves
from rogue.reports.quantities import Unit, readable
from rogue.reports.templates.environment import TEMPLATES, environment, script_source, style
from rogue.reports.transport_styles import DARK_PARTNERS, TRANSPORT_STYLES

LOG_FROM_RATIO: Final = 30.0
"""From this ratio of the largest to the smallest value a linear axis would hide the small ones."""
LABEL_MAX: Final = 34
"""Characters beside a panel of this height."""
_LOOKS: Final = tuple(TRANSPORT_STYLES.values())[:3]


@dataclass(frozen=True, slots=True)
class Row:
    """One proposal of a sampler."""

    sampler: str
    number: int
    value: float | None
    """What it gave, in base units."""
    value_text: str
    values: list[str]
    """What was written at each key."""
    problem: str
    """Why it gave nothing; empty if it gave a number."""
    is_find: bool


@dataclass(frozen=True, slots=True)
class Searched:
    """A search, as its page needs it."""

    title: str
    summary: Sequence[str]
    """Sentences; the first says what was looked for."""
    keys: Sequence[str]
    rows: Sequence[Row]
    """All proposals in their order."""
    measure: str
    """What the values are, for an axis."""
    is_least: bool
    """Whether small values were looked for."""

    @property
    def samplers(self) -> list[str]:
        """Return who proposed something."""
        return list(dict.fromkeys(row.sampler for row in self.rows))


def search_html(searched: Searched) -> str:
    """Return the page of a search."""
    groups = [(name, _ordered(searched.rows, name, is_least=searched.is_least)) for name in searched.samplers]
    return environment().get_template("search.html.j2").render(
        searched=searched, groups=groups, history=_history(searched), style=style(),
        colours=DARK_PARTNERS, css_variable=css_variable,
    )  # fmt: skip


def _ordered(rows: Sequence[Row], sampler: str, *, is_least: bool) -> list[Row]:
    """Return the rows of a sampler, those that went furthest first; those without a number last."""
    sign = 1 if is_least else -1
    own = [row for row in rows if row.sampler == sampler]
    return sorted(own, key=lambda row: math.inf if row.value is None else sign * row.value)


def furthest_so_far(rows: Sequence[Row], *, is_least: bool) -> list[tuple[int, float]]:
    """Return after each proposal how far a sampler has got; nothing before its first finite number."""
    line: list[tuple[int, float]] = []
    for row in rows:
        if row.value is not None and math.isfinite(row.value):
            before = line[-1][1] if line else row.value
            line.append((row.number, min(before, row.value) if is_least else max(before, row.value)))
    return line


def _history(searched: Searched) -> Markup | None:
    """Draw all finite numbers as points, and how far each sampler has got as a line; None without numbers."""
    finite = [row for row in searched.rows if row.value is not None and math.isfinite(row.value)]
    if not finite:
        return None
    with figure_look():
        figure = _search_figure(finite, searched)
        words = ", ".join(searched.samplers)
        return to_svg(figure, "history", "How far each sampler got", f"Best value so far of {words}.")


def _search_figure(finite: Sequence[Row], searched: Searched) -> Figure:
    figure, (axis,) = panels([""], columns=1)
    for sampler, look in zip(searched.samplers, _LOOKS, strict=False):
        own = [row for row in finite if row.sampler == sampler]
        line = furthest_so_far(own, is_least=searched.is_least)
        numbers, values = [row.number for row in own], [row.value or 0.0 for row in own]
        axis.plot(numbers, values, look.marker, color=look.colour, markersize=3.5, alpha=0.5)
        axis.step(
            [number for number, _ in line], [value for _, value in line],
            where="post", color=look.colour, linestyle=look.line, label=f"{sampler}, furthest so far",
        )  # fmt: skip
    values = [row.value for row in finite if row.value is not None]
    if min(values) > 0 and max(values) > LOG_FROM_RATIO * min(values):
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_xlabel("proposal")
    axis.set_ylabel(plain(searched.measure, LABEL_MAX))
    legend_above(figure, [axis])
    return figure


_LOOK = TRANSPORT_STYLES["rogue"]
_BAR_INCHES = 0.28
_NAME_INCHES = 3.0


@dataclass(frozen=True, slots=True)
class Bar:
    """One key."""

    key: str
    size: float | None
    """Mu*, in the measure's base unit; None where nothing could be compared."""
    spread: float
    """Sigma, in the same unit."""
    texts: list[str]
    """What stands in the table: mu*, mu, sigma, and in how many steps the claim turned."""


@dataclass(frozen=True, slots=True)
class Tornado:
    """One measure or claim; the bars are in their order."""

    title: str
    measure: str
    """What the bars are of, for an axis."""
    summary: str
    bars: list[Bar]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one measure or claim."""

    name: str
    tornado: Tornado
    unit: Unit | None
    """Of the numbers; None for ratios."""
    published: float | None
    turn: str
    """The smallest change that turns the claim, in a sentence; empty where none was looked for."""
    indices: Sequence[Sequence[str]]
    """Sobol indices: a key, its share alone, and together with others."""
    curves: Sequence[Curve]

    def share(self, key: str) -> float:
        """Return how long the bar of a key is, of the longest one."""
        sizes = {bar.key: bar.size or 0.0 for bar in self.tornado.bars}
        longest = max(sizes.values(), default=0.0)
        return sizes[key] / longest if longest else 0.0

    def size_text(self, key: str) -> str:
        """Return mu* of a key."""
        return next(bar.texts[0] for bar in self.tornado.bars if bar.key == key)

    def written(self, number: float) -> str:
        """Return a number as an axis has it."""
        return f"{number:.3g}" if self.unit is None else readable(number, self.unit)


@dataclass(frozen=True, slots=True)
class Result:
    """What one question found at a point."""

    text: str
    holds: bool | None
    """Whether the claim does; None without one, or without a number."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A point that ran."""

    name: str
    """Of its first cell."""
    values: Sequence[str]
    places: Sequence[float | None]
    """Of the values on their ranges, 0 to 1; None where one lies outside."""
    results: Sequence[Result | None]
    """In the order of the questions; None where one did not ask here."""


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """All that the page shows."""

    title: str
    keys: Sequence[str]
    answers: Sequence[Answer]
    ran: Sequence[Ran]


def sensitivity_html(sensitivity: Sensitivity) -> str:
    """Return the page of an analysis; it is complete without its script."""
    text = script_text()
    return environment().get_template("sensitivity.html.j2").render(
        sensitivity=sensitivity,
        sections=[_section(each, number) for number, each in enumerate(sensitivity.answers, start=1)],
        style=style(),
        css_variable=css_variable,
        colours=DARK_PARTNERS,
        script=Markup(text),
        script_source=script_source(text),
    )  # fmt: skip


def script_text() -> str:
    """Return the script of the page: a slider per key, over what ran."""
    return (TEMPLATES / "sensitivity.js").read_text(encoding="utf-8")


def _section(answer: Answer, number: int) -> tuple[Answer, Markup | None, Markup | None]:
    """Return an answer with its pictures."""
    curves = response_curves(
        answer.curves, answer.published, answer.written, f"curves{number}", answer.tornado.title
    )
    return answer, _picture(answer, number), curves


def _picture(answer: Answer, number: int) -> Markup | None:
    """Draw a bar per key; None without any number."""
    tornado = answer.tornado
    if all(bar.size is None for bar in tornado.bars):
        return None
    with figure_look():
        words = ", ".join(bar.key for bar in tornado.bars)
        return to_svg(
            _sensitivity_figure(answer), f"tornado{number}", tornado.title, f"Longest first: {words}."
        )


def _sensitivity_figure(answer: Answer) -> Figure:
    tornado = answer.tornado
    bars = [bar for bar in reversed(tornado.bars) if bar.size is not None]
    figure, (axis,) = panels([""], columns=1, height_inches=1.0 + _BAR_INCHES * len(bars), legend=False)
    widen_left(figure, _NAME_INCHES)
    places = range(len(bars))
    axis.barh(places, [bar.size or 0.0 for bar in bars], color=_LOOK.colour, height=0.6, alpha=0.8)
    axis.errorbar(
        [bar.size or 0.0 for bar in bars], places, xerr=[bar.spread for bar in bars],
        fmt="none", ecolor=_LOOK.colour, capsize=2.5,
    )  # fmt: skip
    axis.set_yticks(list(places), [bar.key for bar in bars])
    axis.set_xlim(left=0)
    axis.xaxis.set_major_formatter(FuncFormatter(lambda number, _: answer.written(number)))
    axis.set_xlabel(plain(f"{tornado.measure}: mean change over the whole range"))
    return figure


@dataclass(frozen=True, slots=True)
class WeaknessRow:
    """What a find gave."""

    name: str
    title: str
    verdict: str
    measured: str
    """The numbers on all seeds, and what counts as a find; or why there are none."""


@dataclass(frozen=True, slots=True)
class Weaknesses:
    """A transport and all finds that it was tried with."""

    title: str
    summary: str
    rows: Sequence[WeaknessRow]


def weaknesses_html(tried: Weaknesses) -> str:
    """Return the page."""
    return environment().get_template("weaknesses.html.j2").render(tried=tried, style=style())
