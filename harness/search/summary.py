"""Describe searches and analyses in sentences and on pages."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, isnan
from statistics import fmean, mean
from typing import Final

from rogue.harness.plan.plan import Plan
from rogue.harness.plan.text import format_seconds
from rogue.harness.search.finding import FILE, finding_text, values_text
from rogue.harness.search.objective import Measured, Objective
from rogue.harness.search.sensitivity import Analysis
from rogue.harness.search.space import Range
from rogue.harness.search.study import Proposal, Search
from rogue.harness.terminal import align
from rogue.reports.pages.search_pages import (
    Part,
    Response,
    SearchPage,
    Table,
    history_picture,
    response_picture,
    search_html,
    tornado_picture,
)
from rogue.reports.quantities import counted

_METHOD: Final = (
    "Morris's screening moves each key alone, from random points of all ranges, with the same seeds before"
    " and after. mu* is the mean change over the whole range of a key, mu has its sign, and sigma is large"
    " where the change depends on the other keys. A few trajectories rank keys and do no more."
)
_INDEX_HEAD: Final = ("key", "alone", "with others")
_RESPONSES_MAX: Final = 6
"""Keys that have a panel, those that move the number most."""


def measured_text(measured: Measured, objective: Objective) -> str:
    """Return the number, or why there is none."""
    return objective.target.text(measured.value) if measured.problem is None else f"none ({measured.problem})"


def proposal_line(proposal: Proposal, objective: Objective) -> str:
    """Return a line about one proposal."""
    gave, values = _gave(proposal, objective), values_text(proposal.measured.values)
    return f"{proposal.sampler} {proposal.number}: {gave}; {values}"


def _gave(proposal: Proposal, objective: Objective) -> str:
    return measured_text(proposal.measured, objective) + (", a candidate" if proposal.is_finding else "")


def outcome_lines(search: Search) -> list[str]:
    """Return the summary of a search."""
    objective, target = search.objective, search.objective.target
    end = "smallest" if target.direction == "least" else "largest"
    lines = [f"{target.metric.name} of {objective.candidates.measure_text}, {end}; {target.bound_text}."]
    lines += [_sampler_line(own, objective) for own in _by_sampler(search).values()]
    if shared := sum(each.measured.is_shared for each in search.proposals):
        why = "no congestion control does as well, so that is no weakness of the control"
        lines.append(f"{counted(shared, 'proposal')} met the bound, but {why}.")
    for each in search.refuted:
        numbers = each.problem or target.range_text(each.by_seed)
        lines.append(f"Not a finding on the held-out seeds: {numbers} at {values_text(each.values)}.")
    if search.is_out_of_time:
        lines.append("The time of the budget was over before its cells were; --resume continues.")
    if not search.is_over:
        lines.append("Stopped before it was over; --resume continues.")
    elif search.finding is not None:
        held_out = search.plan.space.seeds.held_out
        lines.append(f"Finding: {finding_text(search.finding, objective, held_out)}")
    elif target.bound is not None:
        lines.append("No finding within this space and budget.")
    return lines


def _by_sampler(search: Search) -> dict[str, list[Proposal]]:
    names = dict.fromkeys(each.sampler for each in search.proposals)
    return {name: [each for each in search.proposals if each.sampler == name] for name in names}


def _sampler_line(proposals: Sequence[Proposal], objective: Objective) -> str:
    """Return the worst number of a sampler, and when it first met the bound."""
    target = objective.target
    known = [each for each in proposals if each.measured.value is not None]
    worst = min(known, key=lambda each: target.badness(each.measured.value), default=None)
    furthest = "no number" if worst is None else f"{target.text(worst.measured.value)} at {worst.number}"
    first = next((f"first candidate at {each.number}" for each in proposals if each.is_finding), "")
    cells, none = sum(each.measured.cells for each in proposals), len(proposals) - len(known)
    counts = f"{counted(len(proposals), 'proposal')}, {counted(cells, 'cell')}"
    without = f", {none} without a number" if none else ""
    return f"{proposals[0].sampler}: {counts}{without}; furthest {furthest}; {first or 'no candidate'}"


def plan_lines(
    keys: Mapping[str, Range], plans: Sequence[Plan | str], cells: int, jobs: int
) -> Iterator[str]:
    """Yield the ranges, why some of the planned values cannot run, and the expected time of all cells."""
    for key, each in keys.items():
        yield f"{key}: {each.text}; {each.source}"
    for reason, count in Counter(plan for plan in plans if isinstance(plan, str)).most_common(3):
        yield f"cannot run, {count} of {len(plans)} values: {reason}"
    seconds = [each.seconds for plan in plans if not isinstance(plan, str) for each in plan.cells]
    if seconds:
        took = format_seconds(mean(seconds) * cells / jobs)
        yield f"at most {counted(cells, 'cell')}, about {took} with {jobs} at once"
    else:
        yield f"none of {len(plans)} values can run; narrow the ranges"


def search_page(lines: Sequence[str], search: Search) -> str:
    """Return the page of a search: the summary, how far each sampler got, and every proposal."""
    objective, keys, found = search.objective, search.plan.space.keys, _by_sampler(search)
    target, parts = objective.target, list[Part]()
    numbers = {name: [(each.number, each.measured.value) for each in own] for name, own in found.items()}
    measure = f"{target.metric.title}{', ratio' if target.is_ratio else ''}"
    picture = history_picture(numbers, measure, target.text, is_least=target.sign > 0)
    if picture is not None:
        caption = "A point is one proposal, the line the worst value so far. Infinite values are not drawn."
        parts.append(Part("How far each sampler got", pictures=[(picture, caption)]))
    for name, own in found.items():
        own.sort(key=lambda each: (each.measured.value is None, target.badness(each.measured.value)))
        rows = [
            [str(each.number), _gave(each, objective), *(str(each.measured.values[key]) for key in keys)]
            for each in own
        ]
        table = Table(f"{len(own)} proposals, the furthest first", ("Proposal", measure, *keys), rows)
        parts.append(Part(f"Proposals of {name}", tables=[table]))
    files = "The cells are in cells/ beside this page, Optuna's record in optuna.journal."
    links = [(FILE, f"The finding as an experiment: {FILE}")] if search.finding is not None else []
    return search_html(SearchPage("Search", objective.candidates.title, lines, parts, files, links))


def point_line(analysis: Analysis, measured: Measured) -> str:
    """Return a line about one point of an analysis."""
    gave = measured_text(measured, analysis.objective)
    return f"{analysis.objective.target.metric.name}: {gave}; {values_text(measured.values)}"


def analysis_lines(analysis: Analysis) -> list[str]:
    """Return the results of a question: the effects, the indices, and the turn of its claim."""
    rows = [f"  {line}" for line in align(_effect_rows(analysis))]
    if analysis.indices:
        rows += [f"  {line}" for line in align([_INDEX_HEAD, *analysis.indices])]
    return [_points_line(analysis), *rows, *([analysis.turn] if analysis.turn else [])]


def _points_line(analysis: Analysis) -> str:
    """Return how many points of the screening have a number, and at how many the claim holds."""
    screened = analysis.points[: analysis.screened]
    points = f"{sum(each.value is not None for each in screened)} of {len(screened)} points have a number"
    if analysis.question.holds is None:
        return f"{analysis.question.title}: {points}."
    held = sum(analysis.verdict(each) is True for each in screened)
    return f"{analysis.question.title} {points}, and it holds at {held} of them."


def _effect_rows(analysis: Analysis) -> list[tuple[str, ...]]:
    text = analysis.question.target.text
    rows: list[tuple[str, ...]] = [("key", "mu*", "mu", "sigma", "turned")]
    for each in analysis.effects:
        numbers = (each.size, each.mean, each.spread)
        size, mean_, spread = (f"{'-' if number < 0 else ''}{text(abs(number))}" for number in numbers)
        known = ("no number", "", "") if isnan(each.size) else (size, mean_, spread)
        rows.append((each.key, *known, each.turned))
    return rows


def sensitivity_page(analyses: Sequence[Analysis]) -> str:
    """Return the page of an analysis: for each question a tornado, the response to each key, and tables."""
    parts = [_analysis_part(each, number) for number, each in enumerate(analyses, start=1)]
    title, files = analyses[0].objective.candidates.title, "The cells are in cells/ beside this page."
    return search_html(SearchPage("Sensitivity", title, [_METHOD], parts, files))


def _analysis_part(analysis: Analysis, number: int) -> Part:
    question, written = analysis.question, analysis.question.target.text
    bars = [(each.key, each.size, each.spread) for each in analysis.effects]
    moving = [each.key for each in analysis.effects if each.size > 0][:_RESPONSES_MAX]
    tornado = tornado_picture(bars, question.target.metric.title, written, f"tornado{number}")
    responses = [_response(key, analysis) for key in moving]
    response = response_picture(responses, question.published, written, f"response{number}")
    pictures = (
        (tornado, "A bar is mu*, the line at its end sigma."),
        (response, "The number at each point that ran, against the keys that move it most."),
    )
    head, *rows = _effect_rows(analysis)
    tables = [Table("Effect of each key", head, rows)]
    if analysis.indices:
        tables.append(Table("Sobol indices: share of the variance", _INDEX_HEAD, analysis.indices))
    verdicts = {True: "holds", False: "does not hold", None: ""}
    ran = [
        (values_text(each.values), each.problem or analysis.text(each), verdicts[analysis.verdict(each)])
        for each in analysis.points
    ]
    tables.append(Table(f"{len(ran)} points that ran", ("values", "number", "claim"), ran))
    shown = [(picture, caption) for picture, caption in pictures if picture is not None]
    lines = [line for line in (_points_line(analysis), analysis.turn) if line]
    return Part(question.title, lines, shown, tables)


def _response(key: str, analysis: Analysis) -> Response:
    points, each = [], analysis.variation.keys[key]
    for measured in (one for one in analysis.points if one.value is not None):
        place = each.share_of(measured.values.get(key, analysis.objective.candidates.own_value(key)))
        number = fmean(measured.known)
        if place is not None and isfinite(number):
            points.append((place, number, analysis.verdict(measured)))
    values = each.choices or [each.at(share) for share in (0.0, 0.5, 1.0)]
    return Response(key, [(at / (len(values) - 1), str(value)) for at, value in enumerate(values)], points)
