"""A find made simpler: what the experiment itself says where that is enough, and smaller values."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from rogue.harness.experiment.choices import Scalar
from rogue.harness.search.space import Space

HALVINGS: Final = 3
"""How often the way between a value and the simple end of its range is halved."""

Values = Mapping[str, Scalar]


def simplest(values: Values, space: Space, holds: Callable[[Values], bool]) -> Values:
    """Return the simplest values for which `holds` is true: `values` themselves if nothing is simpler.

    First each key goes back to what the experiment says, or to its default. Then what is left is moved
    towards the simple end of its range. The budget says how often `holds` may be asked.
    """
    left = space.budget.shrink
    now = dict(values)
    for tried in _tries(now, space):
        for candidate in tried:
            if left == 0:
                return now
            left -= 1
            if holds(candidate):
                now.clear()
                now.update(candidate)
                break
    return now


def _tries(now: dict[str, Scalar], space: Space) -> Iterator[list[dict[str, Scalar]]]:
    """Yield for each key what to try in turn until something holds; `now` is what has held last."""
    for key in list(now):
        if len(now) > 1:
            yield [{other: value for other, value in now.items() if other != key}]
    for key in list(now):
        if key in now and space.keys[key].shrink != "none":
            yield [{**now, key: value} for value in _smaller(space, key, now[key])]


def _smaller(space: Space, key: str, value: Scalar) -> list[Scalar]:
    """Return values between one and the simple end of its range, the simplest first."""
    each = space.keys[key]
    share, end = each.share_of(value), 0.0 if each.shrink == "from" else 1.0
    found = [each.at(end + (share - end) * (1 - 0.5**halvings)) for halvings in range(HALVINGS + 1)]
    return [one for one in dict.fromkeys(found) if one != value]
