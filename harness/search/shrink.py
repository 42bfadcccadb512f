"""Simplify values for as long as something holds at them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from rogue.harness.experiment.choices import Scalar
from rogue.harness.search.candidates import Values
from rogue.harness.search.ranges import Range

HALVINGS: Final = 3
"""How often the distance between a value and the simple end of its range is halved."""


def shrink(
    values: Values,
    ranges: Mapping[str, Range],
    ends: Mapping[str, float],
    holds: Callable[[Values], bool],
    tries: int,
) -> dict[str, Scalar]:
    """Return the simplest values at which `holds` is true: `values` themselves if nothing simpler is found.

    First each key is removed, which leaves it as the experiment has it. Then the others are moved towards
    their simple end, a share of the range from 0 to 1. `holds` is called at most `tries` times.
    """
    now = dict(values)
    for candidates in _candidates(now, ranges, ends):
        for candidate in candidates:
            if tries == 0:
                return now
            tries -= 1
            if holds(candidate):
                now.clear()
                now.update(candidate)
                break
    return now


def _candidates(
    now: dict[str, Scalar], ranges: Mapping[str, Range], ends: Mapping[str, float]
) -> Iterator[list[dict[str, Scalar]]]:
    """Yield for each key what to try in turn until something holds; `now` is updated in between."""
    for key in list(now):
        if len(now) > 1:
            yield [{other: value for other, value in now.items() if other != key}]
    for key in [key for key in now if key in ends]:
        share, end = ranges[key].share_of(now[key]), ends[key]
        if share is not None:
            tried = [
                ranges[key].at(end + (share - end) * (1 - 0.5**halved)) for halved in range(HALVINGS + 1)
            ]
            yield [{**now, key: value} for value in dict.fromkeys(tried) if value != now[key]]
