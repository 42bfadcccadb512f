"""An analysis as its page needs it: places on axes, and texts."""

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from statistics import fmean

from rogue.harness.experiment.choices import Scalar
from rogue.harness.search.analysis import Analysed
from rogue.harness.search.analysis_words import index_rows, number_text, turn_line
from rogue.harness.search.axis import place_of
from rogue.harness.search.base import Base
from rogue.harness.search.bench import Measured
from rogue.harness.search.morris import steps_of
from rogue.harness.search.ranges import Range
from rogue.harness.search.screening import points_of
from rogue.harness.search.variation import Variation
from rogue.harness.search.words import tornado_of
from rogue.reports.pages.response_curves import Curve, Dot, Step
from rogue.reports.pages.sensitivity import Answer, Ran, Result, Sensitivity

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
