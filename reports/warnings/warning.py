"""The type of a warning, and the list of transports in its sentence."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from rogue.reports.quantities import joined
from rogue.reports.results import Results, Setting

NAMED_MAX = 4
"""More transports or pairs are counted instead of named."""


class RunWarning(NamedTuple):
    """A sentence about what the run cannot tell, and what to do about it."""

    sentence: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.sentence} {self.remedy}"


Check = Callable[[Results], RunWarning | None]


def by_transport(
    settings: Iterable[tuple[Setting, float]], text: Callable[[float], str], worst: Callable[..., float] = max
) -> str:
    """Return the worst value of each transport over factor points: `77 % with DCQCN and 40 % with TIMELY`."""
    values: dict[str, list[float]] = {}
    for setting, value in settings:
        values.setdefault(setting.style.name, []).append(value)
    return some([f"{text(worst(each))} with {name}" for name, each in values.items()])


def some(words: list[str]) -> str:
    """Join words with commas and `and`; a long list ends with the number of those left out."""
    rest = len(words) - NAMED_MAX
    return joined(words) if rest <= 1 else joined([*words[:NAMED_MAX], f"{rest} more"])
