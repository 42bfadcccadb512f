"""The page of known weaknesses: which of them a transport shares, find by find."""

from collections.abc import Sequence
from dataclasses import dataclass

from rogue.reports.templates.environment import environment, style


@dataclass(frozen=True, slots=True)
class Row:
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
    rows: Sequence[Row]


def weaknesses_html(tried: Weaknesses) -> str:
    """Return the page."""
    return environment().get_template("weaknesses.html.j2").render(tried=tried, style=style())
