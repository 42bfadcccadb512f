"""The page of a search: how far each sampler got, proposal by proposal, and with which values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from rogue.reports.drawing.look import figure_look
from rogue.reports.drawing.panels import legend_above, panels, plain
from rogue.reports.drawing.svg import css_variable, to_svg
from rogue.reports.templates.environment import environment, style
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
        figure = _drawn(finite, searched)
        words = ", ".join(searched.samplers)
        return to_svg(figure, "history", "How far each sampler got", f"Best value so far of {words}.")


def _drawn(finite: Sequence[Row], searched: Searched) -> Figure:
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
