"""The page of a screening: which keys move a number, and how far."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.figure import Figure

from rogue.reports.drawing.look import figure_look
from rogue.reports.drawing.panels import panels, plain, widen_left
from rogue.reports.drawing.svg import to_svg
from rogue.reports.templates.environment import environment, style
from rogue.reports.transport_styles import TRANSPORT_STYLES

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


def sensitivity_html(title: str, tornados: Sequence[Tornado]) -> str:
    """Return the page of a screening."""
    return environment().get_template("sensitivity.html.j2").render(
        title=title,
        sections=[(each, _picture(each, number)) for number, each in enumerate(tornados, start=1)],
        style=style(),
    )  # fmt: skip


def _picture(tornado: Tornado, number: int) -> Markup | None:
    """Draw a bar per key; None without any number."""
    if all(bar.size is None for bar in tornado.bars):
        return None
    with figure_look():
        words = ", ".join(bar.key for bar in tornado.bars)
        return to_svg(_drawn(tornado), f"tornado{number}", tornado.title, f"Longest first: {words}.")


def _drawn(tornado: Tornado) -> Figure:
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
    axis.set_xlabel(plain(f"{tornado.measure}: mean change over the whole range, in its base unit"))
    return figure
