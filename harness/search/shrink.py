"""A find made simpler: what the experiment itself says where that is enough, and smaller values."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from rogue.harness.experiment.choices import Scalar
from rogue.harness.experiment.document import Document
from rogue.harness.experiment.settings import parse_path
from rogue.harness.search.space import Space

HALVINGS: Final = 3
"""How often the way between a value and the simple end of its range is halved."""

Values = Mapping[str, Scalar]


def simplest(
    values: Values, space: Space, document: Document, holds: Callable[[Values], bool]
) -> list[dict[str, Scalar]]:
    """Return ever simpler values for which `holds` is true, the simplest last; none if nothing is simpler.

    First each key goes back to what the experiment says, if it says anything. Then what is left is moved
    towards the simple end of its range. The budget says how often `holds` may be asked.
    """
    steps: list[dict[str, Scalar]] = []
    left = space.budget.shrink
    now = dict(values)
    for tried in _tries(now, space, document):
        for candidate in tried:
            if left == 0:
                return steps
            left -= 1
            if holds(candidate):
                now.clear()
                now.update(candidate)
                steps.append(dict(candidate))
                break
    return steps


def _tries(now: dict[str, Scalar], space: Space, document: Document) -> Iterator[list[dict[str, Scalar]]]:
    """Yield for each key what to try in turn until something holds; `now` is what has held last."""
    for key in list(now):
        if document.written(parse_path(key) or ()) is not None and len(now) > 1:
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
