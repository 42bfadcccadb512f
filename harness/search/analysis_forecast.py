"""What an analysis should take, told before anything runs."""

from collections.abc import Iterator, Sequence
from statistics import mean

from rogue.harness.plan.text import format_seconds
from rogue.harness.search.base import Base, Infeasible
from rogue.harness.search.question import Question
from rogue.harness.search.screening import points_of, values_at
from rogue.harness.search.space import Variation
from rogue.harness.search.words import range_text
from rogue.reports.quantities import counted

Asked = Sequence[tuple[Question, Base]]


def plan_lines(asked: Asked, variation: Variation, jobs: int) -> Iterator[str]:
    """Yield the ranges, the points and cells of each part, and the expected time of all."""
    for key, each in variation.keys.items():
        yield f"{key}: {range_text(each)}; {each.source}"
    parts = parts_of(asked, variation)
    for name, points, cells in parts:
        yield f"{name}: {counted(points, 'point')}, at most {counted(cells, 'cell')}"
    first = points_of(variation)[: len(variation.keys) + 1]
    plans = [
        base.cells_at(values_at(point, variation), variation.seeds.numbers, variation.cell_ns / 1e9)
        for _, base in asked
        for point in first
    ]
    for reason in {plan.reason: None for plan in plans if isinstance(plan, Infeasible)}:
        yield f"cannot be: {reason}"
    seconds = [each.seconds for plan in plans if not isinstance(plan, Infeasible) for each in plan.cells]
    if not seconds:
        yield "none of the first values can be; narrow the ranges"
        return
    total = sum(cells for _, _, cells in parts)
    took = format_seconds(mean(seconds) * total / jobs)
    yield f"at most {counted(total, 'cell')} in all, about {took} with {jobs} at once"


def parts_of(asked: Asked, variation: Variation) -> list[tuple[str, int, int]]:
    """Return each part with its points and cells; what compares two settings has cells of both at each point.

    Questions share the cells of a transport in the screening alone: later each of them has keys of its own.
    """
    seeds = len(variation.seeds.numbers)
    sides: set[tuple[int | None, str]] = set()
    for question, base in asked:
        sides |= {(base.subject, ""), (base.against, ""), (base.subject, str(dict(question.beside)))}
    shared = len({side for side in sides if side[0] is not None and side[1] != "{}"})
    points = len(points_of(variation))
    parts = [("screening", points, points * shared * seeds)]
    each = {question.title: seeds * _sides(question, base) for question, base in asked}
    if variation.sobol is not None:
        points = variation.sobol.points
        parts.append(("indices", points * len(asked), points * sum(each.values())))
    claims = [question for question, _ in asked if question.holds is not None]
    if variation.flip and claims:
        points, again = variation.flip + 1, 2 * variation.held_out.count
        cells = sum((points + again / seeds) * each[one.title] for one in claims)
        parts.append(("turns", points * len(claims), round(cells)))
    return parts


def _sides(question: Question, base: Base) -> int:
    return 1 + (base.against is not None) + bool(question.beside)
