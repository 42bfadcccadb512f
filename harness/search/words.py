"""Describe a search in sentences."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import isinf
from statistics import mean
from typing import Final

from rogue.harness.experiment.choices import Scalar
from rogue.harness.plan.text import format_seconds
from rogue.harness.search.base import Base, Infeasible
from rogue.harness.search.bench import Measured
from rogue.harness.search.campaign import Find, Outcome, Sampler, Told, front_of
from rogue.harness.search.question import Question, Target
from rogue.harness.search.ranges import Range
from rogue.harness.search.screening import Moved, Screened
from rogue.harness.search.space import RANDOM, SamplerName, Space
from rogue.harness.search.weakness import Tried
from rogue.reports.pages.search_pages import Bar, Tornado
from rogue.reports.quantities import NARROW_SPACE, counted, readable


def value_text(value: float | None, target: Target) -> str:
    """Return a number with its unit; a ratio has none."""
    if value is None:
        return "no number"
    if target.is_ratio:
        return "infinitely many times" if isinf(value) else f"{value:.3g} times"
    return "infinite" if isinf(value) else readable(value, target.metric.unit).replace(NARROW_SPACE, " ")


def measure_text(target: Target, subject: str, against: str | None) -> str:
    """Return what is looked at: the measure, of which transport, and beside which other."""
    beside = f" over that of {against}" if against is not None else ""
    return f"{target.metric.name} of {subject}{beside}"


def point_line(question: Question, measured: Measured) -> str:
    """Return a line about one point of a screening."""
    target = question.target
    gave = value_text(measured.value, target) if measured.problem is None else f"none ({measured.problem})"
    return f"{target.metric.name}: {gave}; {values_text(measured.values)}"


def screened_line(screened: Screened) -> str:
    """Return what was asked, and at how many points a claim held."""
    numbers = [each for each in screened.measured if each.value is not None]
    points = f"{len(numbers)} of {len(screened.measured)} points have a number"
    if screened.question.holds is None:
        return f"{screened.question.title}: {points}."
    return f"{screened.question.title} {points}, and it holds at {screened.held} of them."


def moved_rows(screened: Screened) -> list[Sequence[str]]:
    """Return a table of the keys, those that move the number most first."""
    return [
        ("key", "mu*", "mu", "sigma", "turned"),
        *((each.key, *_texts(each, screened)) for each in screened.moved),
    ]


def tornado_of(screened: Screened) -> Tornado:
    """Return the same for the page."""
    bars = [
        Bar(
            each.key,
            None if each.effect is None else each.effect.size,
            0.0 if each.effect is None else each.effect.spread,
            list(_texts(each, screened)),
        )
        for each in screened.moved
    ]
    title = screened.question.title
    summary = screened_line(screened).removeprefix(title).lstrip(": ")
    return Tornado(title, screened.question.aim.metric, summary, bars)


def _texts(moved: Moved, screened: Screened) -> tuple[str, str, str, str]:
    """Return mu*, mu, sigma, and in how many steps the claim turned."""
    turned = "" if moved.turned is None else f"{moved.turned} of {moved.judged}"
    if moved.effect is None:
        return ("no number", "", "", turned)
    target = screened.question.target
    size, mean, spread = (
        f"{'-' if number < 0 else ''}{value_text(abs(number), target)}"
        for number in (moved.effect.size, moved.effect.mean, moved.effect.spread)
    )
    return (size, mean, spread, turned)


def bound_text(target: Target) -> str:
    """Return what counts as a find."""
    if target.bound is None:
        return "nothing counts as a find, for the aim has no bound"
    way = "at most" if target.direction == "least" else "at least"
    return f"a find is {way} {value_text(target.bound, target)}"


def values_text(values: Mapping[str, Scalar]) -> str:
    """Return keys and values on one line."""
    return ", ".join(f"{key} {value}" for key, value in values.items()) or "the experiment as it is"


def told_line(told: Told, target: Target, also: Target | None = None) -> str:
    """Return a line about one proposal."""
    measured = told.measured
    gave = both_text(measured, target, also) if measured.problem is None else f"none ({measured.problem})"
    mark = ", a candidate" if told.is_find else ""
    return f"{told.sampler} {told.number}: {gave}{mark}; {values_text(measured.values)}"


def both_text(measured: Measured, target: Target, also: Target | None) -> str:
    """Return the number of each aim."""
    first = value_text(measured.value, target)
    return first if also is None else f"{first} and {also.metric.name} {value_text(measured.also, also)}"


def front_lines(outcome: Outcome, target: Target, also: Target) -> list[str]:
    """Return the proposals that no other beats in both aims, the furthest in the first aim first."""
    sign = 1 if target.direction == "least" else -1
    front = sorted(front_of(outcome.told, target, also), key=lambda each: sign * (each.measured.value or 0.0))
    return [f"On the front: {told_line(each, target, also)}." for each in front]


def best_of(told: list[Told], target: Target) -> Told | None:
    """Return the proposal that went furthest in the direction that is looked for, of several the first."""
    best: Told | None = None
    for each in told:
        value = each.measured.value
        if value is not None and (best is None or target.is_worse(value, best.measured.value or 0.0)):
            best = each
    return best


def sampler_line(name: SamplerName, outcome: Outcome, target: Target) -> str:
    """Return what one sampler came to: its best, and when it first met the criterion."""
    told = outcome.of(name)
    cells = sum(each.measured.cells for each in told)
    best, first = best_of(told, target), next((each.number for each in told if each.is_find), None)
    reached = "no candidate" if first is None else f"first candidate after {first}"
    furthest = (
        "no number"
        if best is None
        else f"{value_text(best.measured.value, target)} at proposal {best.number}"
    )
    none = sum(each.measured.value is None for each in told)
    without = f", {none} without a number" if none else ""
    return f"{name}: {len(told)} proposals, {cells} cells{without}; furthest {furthest}; {reached}"


def find_sentence(find: Find, target: Target, measure: str, space: Space) -> str:
    """Return what a find is, with the seeds on which it holds."""
    ends = {value_text(end(find.simple.known), target): None for end in (min, max)}
    seeds = space.seeds.held_out
    return (
        f"{measure} is {' to '.join(ends)} on seeds {seeds.start} to {seeds.stop - 1}"
        f" at {values_text(find.simple.values)}"
    )


def so_far_lines(outcome: Outcome, target: Target, measure: str) -> list[str]:
    """Return what is looked for, and how far each sampler has come."""
    end = "smallest" if target.direction == "least" else "largest"
    names = dict.fromkeys(each.sampler for each in outcome.told)
    lines = [sampler_line(name, outcome, target) for name in names]
    return [f"{measure}, {end}; {bound_text(target)}.", *lines]


def outcome_lines(outcome: Outcome, target: Target, measure: str, space: Space) -> list[str]:
    """Return the summary of a search."""
    lines = so_far_lines(outcome, target, measure)
    if outcome.is_out_of_time:
        lines.append("The time of the budget was over before its cells were; --resume goes on.")
    lines += [
        f"Not a find: {value_text(each.value, target)} on the held-out seeds at {values_text(each.values)}."
        for each in outcome.refuted
    ]
    if outcome.is_unmeasured:
        why = outcome.ran[0].problem
        lines.append(f"Given up: no value had a number ({why}); choose a measure that this workload has.")
    elif not outcome.is_over:
        lines.append("Stopped before it was over; --resume goes on.")
    elif outcome.find is not None:
        lines.append(f"Find: {find_sentence(outcome.find, target, measure, space)}.")
    elif target.bound is not None:
        lines.append("No find within this space and budget.")
    return lines


def tried_text(tried: Tried) -> str:
    """Return what a known weakness gave on all seeds, and what counts; or why it gave nothing."""
    if tried.reason:
        return tried.reason
    known = [number for number in tried.numbers if number is not None]
    ends = dict.fromkeys(value_text(end(known), tried.target) for end in (min, max))
    name = tried.target.metric.name
    seeds = counted(len(known), "seed")
    return f"{name} is {' to '.join(ends)} on {seeds}; {bound_text(tried.target)}"


def tried_line(tried: Tried) -> str:
    """Return the same after its name and its verdict."""
    return f"{tried.name}: {tried.verdict}; {tried_text(tried)}"


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
