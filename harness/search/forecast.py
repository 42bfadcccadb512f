"""What a search should take, told before anything runs: its first values, drawn at random and planned."""

from collections import Counter
from collections.abc import Iterator
from statistics import mean
from typing import Final

from rogue.harness.plan.text import format_seconds
from rogue.harness.search.base import Base, Infeasible
from rogue.harness.search.ranges import Range
from rogue.harness.search.sampler import Sampler
from rogue.harness.search.space import RANDOM, Space
from rogue.reports.quantities import counted

DRAWN: Final = 24
"""Values that are planned for a forecast."""


def forecast_lines(base: Base, space: Space, samplers: int, jobs: int) -> Iterator[str]:
    """Yield the ranges, the share of values that can be, and the expected time."""
    for key, each in space.keys.items():
        yield f"{key}: {range_text(each)}; {each.source}"
    sampler = Sampler(RANDOM, space.keys, ["least"], space.sampler_seed, space.budget.cells)
    seconds_max = space.budget.cell_ns / 1e9
    plans = [base.cells_at(sampler.ask().values, space.seeds.numbers, seconds_max) for _ in range(DRAWN)]
    reasons = Counter(plan.reason for plan in plans if isinstance(plan, Infeasible))
    for reason, count in reasons.most_common(3):
        yield f"cannot be, {count} of {DRAWN} values: {reason}"
    seconds = [each.seconds for plan in plans if not isinstance(plan, Infeasible) for each in plan.cells]
    if not seconds:
        yield f"none of {DRAWN} values can be; narrow the ranges"
        return
    cells = space.budget.cells * samplers
    at_once = min(jobs, space.budget.batch * base.cells_per_value(space.seeds.numbers))
    yield (
        f"{counted(cells, 'cell')} in all for {counted(samplers, 'sampler')}, about"
        f" {format_seconds(mean(seconds) * cells / at_once)} with {at_once} at once,"
        f" no more than {format_seconds(space.budget.for_ns / 1e9 * samplers)}; then those of finds"
    )


def range_text(each: Range) -> str:
    """Return what may be written at a key."""
    if each.choices is not None:
        return f"one of {', '.join(map(str, each.choices))}"
    unit = f" {each.unit}" if each.unit else ""
    return f"{each.from_} to {each.to}{unit}, {each.scale}"
