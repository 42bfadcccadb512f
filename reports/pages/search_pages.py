"""Build the pages of searches, sensitivity analyses and known weaknesses."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullFormatter

from rogue.reports.drawing.panels import COLUMNS_MAX, drawn_labels, figure_look, legend_above, panels, plain
from rogue.reports.drawing.scales import LOG_FROM_RATIO
from rogue.reports.drawing.svg import css_variable, to_svg
from rogue.reports.quantities import counted
from rogue.reports.templates.environment import environment, style
from rogue.reports.transport_styles import DARK_PARTNERS, MUTED, TRANSPORT_STYLES

_LOOKS: Final = tuple(TRANSPORT_STYLES.values())[:3]
_LABEL_MAX: Final = 34
"""Characters beside a panel of this height."""
_BAR_INCHES: Final = 0.28
_MARGIN: Final = 0.05


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def without_empty_columns(self) -> "Table":
        """Return the table without the columns in which no row has text."""
        kept = [place for place in range(len(self.head)) if any(row[place] for row in self.rows)]
        head, *rows = ([row[place] for place in kept] for row in (self.head, *self.rows))
        return Table(self.caption, head, rows)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a page: a heading, sentences, pictures with their captions, and tables."""

    title: str
    sentences: Sequence[str] = ()
    pictures: Sequence[tuple[Markup, str]] = ()
    tables: Sequence[Table] = ()


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The content of a page."""

    kind: str
    """`Search`, `Sensitivity` or `Known weaknesses`."""
    title: str
    summary: Sequence[str]
    """Sentences; the first one has the objective."""
    parts: Sequence[Part] = field(default_factory=list)
    footer: str = ""
    links: Sequence[tuple[str, str]] = ()
    """Files beside the page, with their texts."""


def search_html(page: SearchPage) -> str:
    """Return a page without network access and scripts."""
    template = environment().get_template("search.html.j2")
    return template.render(page=page, style=style(), colours=DARK_PARTNERS, css_variable=css_variable)


def history_picture(
    values: Mapping[str, Sequence[tuple[int, float | None]]],
    measure: str,
    written: Callable[[float], str],
    *,
    is_least: bool,
) -> Markup | None:
    """Draw the value of each proposal and the worst so far, by sampler; None without a finite value."""
    known = {
        name: [(at, value) for at, value in own if value is not None and math.isfinite(value)]
        for name, own in values.items()
    }
    if not any(known.values()):
        return None
    furthest: list[str] = []
    with figure_look():
        figure, (axis,) = panels([""], columns=1)
        for (name, own), look in zip(known.items(), _LOOKS, strict=False):
            numbers, worst, end = [at for at, _ in own], list[float](), min if is_least else max
            for _, value in own:
                worst.append(end([*worst[-1:], value]))
            drawn = [value for _, value in own]
            axis.plot(numbers, drawn, look.marker, color=look.colour, markersize=3.5, alpha=0.5)
            at = numbers[worst.index(worst[-1])] if worst else 0
            furthest += (
                [f"{name} {written(worst[-1])} at proposal {at} of {len(values[name])}"] if worst else []
            )
            label = f"{name}, furthest so far"
            axis.step(numbers, worst, where="post", color=look.colour, linestyle=look.line, label=label)
        _scale(axis, [value for own in known.values() for _, value in own], written)
        axis.set_xlabel("proposal")
        axis.set_ylabel(plain(measure, _LABEL_MAX))
        legend_above(figure, drawn_labels([axis]))
        words = f"{measure}, furthest value: {'; '.join(furthest)}."
        return to_svg(figure, "history", "How far each sampler got", words)


def tornado_picture(
    bars: Sequence[tuple[str, float, float]], measure: str, written: Callable[[float], str], prefix: str
) -> Markup | None:
    """Draw mu* of each key as a bar with sigma at its end, the longest first; None without a number."""
    known = [bar for bar in reversed(bars) if math.isfinite(bar[1])]
    if not known:
        return None
    look = TRANSPORT_STYLES["rogue"]
    with figure_look():
        figure, (axis,) = panels([""], columns=1, height_inches=1.0 + _BAR_INCHES * len(known))
        places, sizes = range(len(known)), [size for _, size, _ in known]
        axis.barh(places, sizes, color=look.colour, height=0.6, alpha=0.8)
        spreads = [spread for *_, spread in known]
        axis.errorbar(sizes, places, xerr=spreads, fmt="none", ecolor=look.colour, capsize=2.5)
        axis.set_yticks(list(places), [key for key, *_ in known])
        axis.set_xlim(left=0)
        axis.xaxis.set_major_formatter(FuncFormatter(lambda number, _: written(number)))
        axis.set_xlabel(plain(f"{measure}: mean change over the whole range"))
        effects = "; ".join(f"{key} {written(size)} ± {written(spread)}" for key, size, spread in known[::-1])
        return to_svg(figure, prefix, f"Effects on {measure}", f"Mean change over the range: {effects}.")


@dataclass(frozen=True, slots=True)
class Response:
    """The number at each point that ran, against one key."""

    key: str
    ticks: Sequence[tuple[float, str]]
    """Places on the range, 0 to 1, and the values there."""
    points: Sequence[tuple[float, float, bool | None]]
    """Place, number, and whether the claim holds; None without a claim."""


def response_picture(
    responses: Sequence[Response], published: float | None, written: Callable[[float], str], prefix: str
) -> Markup | None:
    """Draw a panel per key with the published number as a line; None without any point."""
    numbers = [number for each in responses for _, number, _ in each.points]
    if not numbers:
        return None
    with figure_look():
        figure, axes = panels([each.key for each in responses], COLUMNS_MAX, share="row", height_inches=2.2)
        for axis, each in zip(axes, responses, strict=True):
            _scatter(axis, each)
            if published is not None:
                axis.axhline(published, color=MUTED, linestyle="--", linewidth=1.0, label="published")
            _scale(axis, numbers if published is None else [*numbers, published], written)
        legend_above(figure, drawn_labels(axes))
        line = [] if published is None else [f"published {written(published)}"]
        words = "; ".join([*line, *(_in_words(each, written) for each in responses if each.points)])
        return to_svg(figure, prefix, "Number against each key", f"{words}.")


def _in_words(response: Response, written: Callable[[float], str]) -> str:
    numbers, verdicts = zip(*((number, holds) for _, number, holds in response.points), strict=True)
    ends = f"{written(min(numbers))} to {written(max(numbers))}"
    holding = f", the claim holds at {verdicts.count(True)}" if None not in verdicts else ""
    return f"{response.key}: {ends} over {counted(len(numbers), 'point')}{holding}"


def _scatter(axis: Axes, response: Response) -> None:
    for holds, label, name, marker in (
        (None, "a point that ran", "rogue", "o"),
        (True, "the claim holds", "rogue", "o"),
        (False, "it does not", "roce", "x"),
    ):
        own = [point for point in response.points if point[2] is holds]
        if own:
            places, numbers = [place for place, *_ in own], [number for _, number, _ in own]
            colour = TRANSPORT_STYLES[name].colour
            axis.scatter(places, numbers, s=16, color=colour, marker=marker, label=label, linewidths=1.2)
    axis.set_xticks([place for place, _ in response.ticks], [plain(text, 12) for _, text in response.ticks])
    axis.set_xlim(-_MARGIN, 1 + _MARGIN)


def _scale(axis: Axes, numbers: Sequence[float], written: Callable[[float], str]) -> None:
    """Use a logarithmic axis for numbers far apart, and write its ticks out."""
    if min(numbers) > 0 and max(numbers) > LOG_FROM_RATIO * min(numbers):
        axis.set_yscale("log")
        axis.yaxis.set_minor_formatter(NullFormatter())
    axis.yaxis.set_major_formatter(FuncFormatter(lambda number, _: written(number)))
