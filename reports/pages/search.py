"""The page of a search: how far each sampler got, proposal by proposal, and with which values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup
from matplotlib.figure import Figure

from rogue.reports.drawing.look import figure_look
from rogue.reports.drawing.panels import legend_above, panels
from rogue.reports.drawing.svg import to_svg
from rogue.reports.templates.environment import environment, style
from rogue.reports.transport_styles import TRANSPORT_STYLES

LOG_FROM_RATIO: Final = 30.0
"""From this ratio of the largest to the smallest value a linear axis would hide the small ones."""
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


def search_html(
    title: str, summary: Sequence[str], keys: Sequence[str], rows: Sequence[Row], *, is_least: bool
) -> str:
    """Return the page of a search."""
    samplers = list(dict.fromkeys(row.sampler for row in rows))
    return environment().get_template("search.html.j2").render(
        title=title,
        summary=summary,
        keys=keys,
        groups=[(name, _ordered(rows, name, is_least=is_least)) for name in samplers],
        history=_history(rows, samplers, is_least=is_least),
        style=style(),
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


def _history(rows: Sequence[Row], samplers: Sequence[str], *, is_least: bool) -> Markup | None:
    """Draw all finite numbers as points, and how far each sampler has got as a line; None without numbers."""
    finite = [row for row in rows if row.value is not None and math.isfinite(row.value)]
    if not finite:
        return None
    with figure_look():
        figure = _drawn(finite, samplers, is_least=is_least)
        words = ", ".join(samplers)
        return to_svg(figure, "history", "How far each sampler got", f"Best value so far of {words}.")


def _drawn(finite: Sequence[Row], samplers: Sequence[str], *, is_least: bool) -> Figure:
    figure, (axis,) = panels([""], columns=1)
    for sampler, look in zip(samplers, _LOOKS, strict=False):
        own = [row for row in finite if row.sampler == sampler]
        line = furthest_so_far(own, is_least=is_least)
        numbers, values = [row.number for row in own], [row.value or 0.0 for row in own]
        axis.plot(numbers, values, look.marker, color=look.colour, markersize=3.5, alpha=0.5)
        axis.step(
            [number for number, _ in line], [value for _, value in line],
            where="post", color=look.colour, linestyle=look.line, label=f"{sampler}, furthest so far",
        )  # fmt: skip
    values = [row.value for row in finite if row.value is not None]
    if min(values) > 0 and max(values) > LOG_FROM_RATIO * min(values):
        axis.set_yscale("log")
    axis.set_xlabel("proposal")
    axis.set_ylabel("value")
    legend_above(figure, [axis])
    return figure
