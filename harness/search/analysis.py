"""Analyse a measure or claim: screening, Sobol indices and the smallest change that flips it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from statistics import fmean

from rogue.harness.experiment.choices import Scalar
from rogue.harness.search.asked import Asked
from rogue.harness.search.axis import Axis, axes_of, place_of
from rogue.harness.search.base import Base
from rogue.harness.search.bench import Measured
from rogue.harness.search.flip import Change, Flip, find_flip, turns_again
from rogue.harness.search.question import Question
from rogue.harness.search.ranges import Range
from rogue.harness.search.screening import (
    Index,
    Screened,
    indices_of,
    points_of,
    sample_blocks,
    screen,
    steps_of,
)
from rogue.harness.search.space import SobolPlan, Variation
from rogue.harness.search.words import tornado_of, value_text
from rogue.reports.pages.factor_curves import Curve, Dot, Step
from rogue.reports.pages.search_pages import Answer, Ran, Result, Sensitivity
from rogue.reports.quantities import counted, joined

OnPoint = Callable[[Question, Measured], None]


@dataclass(frozen=True, slots=True)
class Indices:
    """Sobol indices of one question."""

    keys: tuple[str, ...]
    found: list[Index] | None
    """In the order of the keys; None where too few points have a number, or where it never changes."""
    measured: list[Measured]


@dataclass(frozen=True, slots=True)
class Analysed:
    """What came of one question."""

    screened: Screened
    indices: Indices | None
    flip: Flip | None

    @property
    def ran(self) -> list[Measured]:
        """Return every point, the experiment's own first where it ran."""
        own = [] if self.flip is None else [self.flip.own]
        turned = [] if self.flip is None else self.flip.tried
        return [*own, *self.screened.measured, *(self.indices.measured if self.indices else ()), *turned]


def analyse(asked: Sequence[Asked], variation: Variation, on_point: OnPoint) -> list[Analysed]:
    """Screen all questions, then go on with each of them; every point is told."""
    return [_analysed(each, variation, on_point) for each in screen(asked, variation, on_point)]


def _analysed(screened: Screened, variation: Variation, on_point: OnPoint) -> Analysed:
    indices = None if variation.sobol is None else _indices(screened, variation, variation.sobol, on_point)
    return Analysed(screened, indices, _flip(screened, variation, on_point))


def _indices(screened: Screened, variation: Variation, plan: SobolPlan, on_point: OnPoint) -> Indices | None:
    leading = [each.key for each in screened.moved if each.effect is not None and each.effect.size > 0]
    keys = tuple(leading[: plan.keys])
    if len(keys) < 2:
        return None
    points = sample_blocks(len(keys), plan.samples, variation.sampler_seed)
    values = [
        {key: variation.keys[key].at(share) for key, share in zip(keys, point, strict=True)}
        for point in points
    ]
    measured = screened.asked.measure(values, variation.seeds.numbers)
    for one in measured:
        on_point(screened.question, one)
    numbers = [each.by_seed or (None,) for each in measured]
    return Indices(keys, indices_of(len(keys), numbers, variation.sampler_seed), measured)


def _flip(screened: Screened, variation: Variation, on_point: OnPoint) -> Flip | None:
    if screened.question.holds is None or not variation.flip:
        return None
    found = find_flip(screened, _ranked(screened, variation), variation.flip, variation.seeds.numbers)
    for one in (found.own, *found.tried):
        on_point(screened.question, one)
    if found.turn is None or found.held is None:
        return found
    again = turns_again(screened.asked, found.turn, found.held, variation.held_out.numbers)
    return replace(found, again=again)


def _ranked(screened: Screened, variation: Variation) -> list[Axis]:
    """Return the axes, those that move the number most first."""
    axes = {axis.key: axis for axis in axes_of(variation.keys, screened.asked.bench.base)}
    return [axes[each.key] for each in screened.moved]


def turn_line(analysed: Analysed, held_out: range) -> str | None:
    """Return the smallest change that turns a claim; None where none was looked for."""
    flip = analysed.flip
    if flip is None:
        return None
    if flip.held is None:
        return f"No change was looked for: no number at the experiment's own values ({flip.own.problem})."
    word = "holds" if flip.held else "does not hold"
    own = f"It {word} at the experiment's own values ({number_text(analysed, flip.own)})"
    tried = counted(len(flip.tried), "point")
    if flip.turn is None:
        return f"{own}, and at none of {tried} that were tried is that otherwise."
    there = number_text(analysed, flip.turn.measured)
    changes = joined([_change_text(each) for each in flip.turn.changes])
    others = counted(len(held_out), "other seed")
    return f"{own}. {_smallest(flip)}: {changes} ({there}). Of {others} it turns with {flip.again}."


def _smallest(flip: Flip) -> str:
    return f"The smallest change that turns it, of {counted(len(flip.tried), 'point')} tried"


def _change_text(change: Change) -> str:
    return f"{change.key} from {change.before} to {change.after}, {change.share:.2f} of its range"


def number_text(analysed: Analysed, measured: Measured) -> str:
    """Return the mean over the seeds with its unit, or why there is none."""
    if measured.value is None:
        return "no number"
    return value_text(fmean(measured.known), analysed.screened.question.target)


def index_rows(indices: Indices) -> list[Sequence[str]]:
    """Return a table of the indices; nothing but its head without any."""
    rows: list[Sequence[str]] = [("key", "alone", "with others")]
    for key, each in zip(indices.keys, indices.found or (), strict=False):
        first, total = (each.first, each.first_within), (each.total, each.total_within)
        rows.append((key, *(f"{value:.2f} ± {within:.2f}" for value, within in (first, total))))
    return rows


_CURVES_MAX = 6
"""Keys that have a panel, those that move the number most."""


def sensitivity_of(title: str, found: Sequence[Analysed], variation: Variation) -> Sensitivity:
    """Return all that the page shows."""
    answers = [_answer(each, variation) for each in found]
    return Sensitivity(title, list(variation.keys), answers, _ran(found, variation))


def _answer(analysed: Analysed, variation: Variation) -> Answer:
    screened, question = analysed.screened, analysed.screened.question
    moving = [each.key for each in screened.moved if each.effect is not None and each.effect.size > 0]
    return Answer(
        name=question.name,
        tornado=tornado_of(screened),
        unit=None if question.target.is_ratio else question.target.metric.unit,
        published=question.published,
        turn=turn_line(analysed, variation.held_out.numbers) or "",
        indices=[list(row) for row in index_rows(analysed.indices)[1:]] if analysed.indices else [],
        curves=[_curve(key, analysed, variation) for key in moving[:_CURVES_MAX]],
    )


def _curve(key: str, analysed: Analysed, variation: Variation) -> Curve:
    """Return the number against one key at every point that ran."""
    each, asked = variation.keys[key], analysed.screened.asked
    known = [one for one in analysed.ran if _number(one) is not None]
    placed = [(place_of(each, _value(key, one, asked.bench.base)), one) for one in known]
    dots = [Dot(place, _number(one) or 0.0, asked.verdict(one)) for place, one in placed if place is not None]
    return Curve(key, ticks_of(each), dots, _steps(key, analysed, variation))


def _steps(key: str, analysed: Analysed, variation: Variation) -> list[Step]:
    """Return the steps of the screening along a key, from place and number to place and number."""
    place, measured = list(variation.keys).index(key), analysed.screened.measured
    moved = [step for step in steps_of(points_of(variation)) if step.key == place]
    ends = [[measured[step.before], measured[step.after]] for step in moved]
    found = []
    for pair in ends:
        places = [place_of(variation.keys[key], one.values[key]) for one in pair]
        numbers = [_number(one) for one in pair]
        known = [number for number in (*places, *numbers) if number is not None]
        if len(known) == 2 * len(pair):
            found.append(Step(*known))
    return found


def ticks_of(each: Range) -> list[tuple[float, str]]:
    """Return where an axis has which values."""
    if each.choices is not None:
        last = len(each.choices) - 1
        return [(place / last, str(value)) for place, value in enumerate(each.choices)]
    return [(share, str(each.at(share))) for share in (0.0, 0.5, 1.0)]


def _number(measured: Measured) -> float | None:
    """Return the mean over the seeds; None if there is none, or it is infinite."""
    if measured.value is None:
        return None
    mean = fmean(measured.known)
    return mean if isfinite(mean) else None


def _value(key: str, measured: Measured, base: Base) -> Scalar:
    return measured.values.get(key, base.own_value(key))


def _ran(found: Sequence[Analysed], variation: Variation) -> list[Ran]:
    """Return every point that any question had, with what each of them found there."""
    points: dict[str, tuple[dict[str, Scalar], dict[int, Measured]]] = {}
    for number, analysed in enumerate(found):
        base = analysed.screened.asked.bench.base
        for measured in analysed.ran:
            values = {key: _value(key, measured, base) for key in variation.keys}
            points.setdefault(json.dumps(values), (values, {}))[1].setdefault(number, measured)
    return [_row(values, by_question, found, variation.keys) for values, by_question in points.values()]


def _row(
    values: Mapping[str, Scalar],
    measured: Mapping[int, Measured],
    found: Sequence[Analysed],
    keys: Mapping[str, Range],
) -> Ran:
    results = [
        Result(number_text(each, measured[number]), each.screened.asked.verdict(measured[number]))
        if number in measured
        else None
        for number, each in enumerate(found)
    ]
    name = next((each.first_cell for each in measured.values() if each.first_cell), "")
    places = [place_of(keys[key], value) for key, value in values.items()]
    return Ran(name, list(map(str, values.values())), places, results)
