"""Analyse with SALib which keys move a measure or turn a claim: Morris's screening and Sobol indices."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from math import isfinite
from statistics import fmean
from types import ModuleType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rogue.harness.data.files import DataFiles
from rogue.harness.errors import UsageError
from rogue.harness.experiment.choices import Scalar
from rogue.harness.experiment.load import LoadedExperiment
from rogue.harness.plan.plan import Plan
from rogue.harness.results.recorded_run import Run
from rogue.harness.run import Workers
from rogue.harness.search.candidates import Candidates, check_places, make_candidates
from rogue.harness.search.objective import Measured, Objective, make_target, ratio
from rogue.harness.search.ranges import Range, Values, shrink
from rogue.harness.search.space import Request, check_file
from rogue.harness.search.variation import Question, SobolPlan, Variation, question_of_claim, values_beside
from rogue.harness.testbeds.base import Testbed
from rogue.reports.quantities import counted, joined

Shares = NDArray[np.float64]
"""Points as shares of the ranges, 0 to 1: a row per point, a column per key."""
OnPoint = Callable[["Analysis", Measured], None]
LEVELS: Final = 4
"""Number of values into which the screening divides a range."""
BLOCKS_MIN: Final = 4
"""With fewer blocks of points Sobol indices are meaningless."""


@dataclass(frozen=True, slots=True)
class Effect:
    """The change of the number when one key moves over its whole range."""

    key: str
    size: float
    """mu*, the mean of the absolute changes, by which keys are ranked; NaN without any step."""
    mean: float
    """mu, with its sign."""
    spread: float
    """sigma; large where the change depends on the other keys."""
    turned: str
    """Number of steps at which the claim holds at one end alone; empty without a claim."""


@dataclass(slots=True)
class Analysis:
    """A question, its objective, and the results."""

    question: Question
    objective: Objective
    variation: Variation
    on_point: OnPoint
    points: list[Measured] = field(default_factory=list)
    """All points that ran, those of the screening first."""
    screened: int = 0
    """How many of them the screening has."""
    effects: list[Effect] = field(default_factory=list)
    """The keys that move the number most come first."""
    indices: list[tuple[str, str, str]] = field(default_factory=list)
    """Sobol indices: a key, its share of the variance alone, and together with other keys."""
    turn: str = ""
    """The change that turns the claim, in a sentence."""

    def measure(self, candidates: Sequence[Values], seeds: range) -> list[Measured]:
        """Return the number at each point; with `beside` the ratio to that at other values, seed by seed."""
        found = self.objective.measure(candidates, seeds)
        if self.question.beside:
            beside = values_beside(self.question.beside, self.objective.candidates.subject)
            others = self.objective.measure([{**values, **beside} for values in candidates], seeds)
            found = [self._over(*pair) for pair in zip(found, others, strict=True)]
        return found

    def _over(self, own: Measured, other: Measured) -> Measured:
        numbers = tuple(map(ratio, own.by_seed, other.by_seed))
        value = None if own.problem or other.problem else self.objective.target.mildest(numbers)
        problem = own.problem or other.problem or ("the ratio has no value" if value is None else None)
        return replace(own, by_seed=numbers, value=value, problem=problem, cells=own.cells + other.cells)

    def verdict(self, measured: Measured) -> bool | None:
        """True if the mean over the seeds bears the claim out; None without a claim or a number."""
        holds = self.question.holds
        return None if holds is None or measured.value is None else holds(fmean(measured.known))

    def text(self, measured: Measured) -> str:
        """Return the mean over the seeds with its unit."""
        return self.question.target.text(fmean(measured.known) if measured.value is not None else None)

    def note(self, measured: Sequence[Measured]) -> None:
        """Keep points and report each of them."""
        self.points += measured
        for each in measured:
            self.on_point(self, each)


@dataclass(frozen=True, slots=True)
class AnalysisPlan:
    """An analysis that can run."""

    variation: Variation
    questions: Sequence[tuple[Question, Candidates]]

    @property
    def candidates(self) -> Candidates:
        """Return those of the first question."""
        return self.questions[0][1]

    @property
    def keys(self) -> Mapping[str, Range]:
        """Return the range of each key."""
        return self.variation.keys

    @property
    def all_keys(self) -> tuple[str, ...]:
        """Return the keys that vary, and those at which claims are compared with other values."""
        beside = [key for each, base in self.questions for key in values_beside(each.beside, base.subject)]
        return tuple(dict.fromkeys([*self.variation.keys, *beside]))

    @property
    def cells_at_once(self) -> int:
        """Return the number of cells of a trajectory."""
        sides = max(len(candidates.compared) for _, candidates in self.questions)
        return (len(self.keys) + 1) * self.variation.seeds.count * sides

    @property
    def cells_max(self) -> int:
        """Return the number of cells if no two questions share one."""
        variation, cells = self.variation, 0
        points = len(screening_points(variation))
        if variation.sobol is not None:
            points += variation.sobol.samples * (variation.sobol.keys + 2)
        for question, candidates in self.questions:
            is_turned = variation.flip and question.holds is not None
            turn = variation.flip * variation.seeds.count + 2 * len(variation.held_out) if is_turned else 0
            sides = len(candidates.compared) * (2 if question.beside else 1)
            cells += sides * (points * variation.seeds.count + turn)
        return cells

    def some_plans(self) -> list[Plan | str]:
        """Return the plans of the first trajectory's points, or why they cannot run."""
        points, seeds = screening_points(self.variation), self.variation.seeds.numbers
        candidates, seconds_max = self.candidates, self.variation.cell_ns / 1e9
        return [candidates.plan(each, seeds, seconds_max) for each in points[: len(self.variation.keys) + 1]]

    def analyse(self, run: Run, workers: Workers, on_point: OnPoint) -> list[Analysis]:
        """Screen the keys for each question, then compute the indices and the turn that the file asks for."""
        variation, analyses = self.variation, []
        for question, candidates in self.questions:
            seconds_max = variation.cell_ns / 1e9
            objective = Objective(run, candidates, question.target, seconds_max, self.all_keys, workers)
            analysis = Analysis(question, objective, variation, on_point)
            _screen(analysis)
            if variation.sobol is not None:
                _index(analysis, variation.sobol)
            if variation.flip and question.holds is not None:
                analysis.turn = _turn(analysis, question.holds)
            analyses.append(analysis)
        return analyses


def check_analysis(
    request: Request, loaded: LoadedExperiment, testbed: Testbed, files: DataFiles | None
) -> AnalysisPlan:
    """Check a file of ranges and its experiment; ConfigError or UsageError with a sentence per mistake."""
    variation = check_file(request.document, Variation)
    questions = [question_of_claim(each) for each in request.claims] + variation.questions
    if not questions:
        got = f"sensitivity: got neither measures in {request.file} nor a claim"
        raise UsageError(f"{got}, expected one at least; add --claim ID or measures.")
    for each in questions:
        make_target(each.aim)
    first = variation.seeds.first
    pairs = [(each, make_candidates(loaded, testbed, each.aim, first, files)) for each in questions]
    plan = AnalysisPlan(variation, pairs)
    check_places(loaded.document, plan.all_keys)
    return plan


def screening_points(variation: Variation) -> list[dict[str, Scalar]]:
    """Return the points of all trajectories, each of which has one point more than there are keys."""
    return _written(variation, list(variation.keys), trajectories(variation))


def trajectories(variation: Variation) -> Shares:
    """Return the points of all trajectories as shares of the ranges, a row each."""
    keys = len(variation.keys)
    sample = _salib("sample.morris").sample
    return np.asarray(
        sample(_problem(keys), variation.trajectories, num_levels=LEVELS, seed=variation.sampler_seed)
    )


def _screen(analysis: Analysis) -> None:
    """Run the trajectories one after the other, and compute the effect of each key."""
    variation, keys = analysis.variation, list(analysis.variation.keys)
    shares, length = trajectories(variation), len(keys) + 1
    values = _written(variation, keys, shares)
    changes: list[Shares] = []
    turned = np.zeros((len(keys), 2), int)
    analysis.screened = len(values)
    for part in (slice(start, start + length) for start in range(0, len(values), length)):
        measured = analysis.measure(values[part], variation.seeds.numbers)
        analysis.note(measured)
        for number in range(len(variation.seeds.numbers)):
            changes.append(elementary_effects(shares[part], [_finite(each, number) for each in measured]))
        verdicts = [analysis.verdict(each) for each in measured]
        moved = np.abs(np.diff(shares[part], axis=0)).argmax(axis=1)
        for key, before, after in zip(moved, verdicts, verdicts[1:], strict=False):
            if before is not None and after is not None:
                turned[key] += (before is not after, 1)
    has_claim = analysis.question.holds is not None
    for key, column, (some, judged) in zip(keys, np.array(changes).T, turned, strict=True):
        known = column[np.isfinite(column)]
        spread = known.std(ddof=1) if len(known) > 1 else 0.0
        size, mean = (np.abs(known).mean(), known.mean()) if len(known) else (np.nan, np.nan)
        text = f"{some} of {judged}" if has_claim else ""
        analysis.effects.append(Effect(key, float(size), float(mean), float(spread), text))
    analysis.effects.sort(key=lambda each: np.nan_to_num(each.size, nan=-1.0), reverse=True)


def elementary_effects(shares: Shares, numbers: Sequence[float]) -> Shares:
    """Return the elementary effect of each key along one trajectory; NaN where an end has no number.

    Source: Morris, Factorial sampling plans for preliminary computational experiments, 1991.
    """
    steps, found = np.diff(shares, axis=0), np.empty(shares.shape[1])
    rows, keys = np.nonzero(steps)
    found[keys] = np.diff(numbers)[rows] / steps[rows, keys]
    return found


def _finite(measured: Measured, number: int) -> float:
    """Return the number of one seed; NaN if there is none, or an infinite one."""
    value = measured.by_seed[number] if measured.by_seed else None
    return value if value is not None and isfinite(value) else np.nan


def _index(analysis: Analysis, plan: SobolPlan) -> None:
    """Run the points of the leading keys, and let SALib compute their shares of the variance.

    A block with a point that has no number is left out. There are no indices if fewer than two keys move the
    number, if too few blocks are left, or if the number is the same in all of them.
    """
    variation = analysis.variation
    keys = [each.key for each in analysis.effects if each.size > 0][: plan.keys]
    if len(keys) < 2:
        return
    options = {"calc_second_order": False, "seed": variation.sampler_seed}
    shares = _salib("sample.sobol").sample(_problem(len(keys)), plan.samples, **options)
    measured = analysis.measure(_written(variation, keys, shares), variation.seeds.numbers)
    analysis.note(measured)
    seeds = range(len(variation.seeds.numbers))
    means = np.array([fmean(_finite(each, number) for number in seeds) for each in measured])
    blocks = means.reshape(-1, len(keys) + 2)
    whole = blocks[np.isfinite(blocks).all(axis=1)]
    if len(whole) < BLOCKS_MIN or np.ptp(whole) == 0:
        return
    found = _salib("analyze.sobol").analyze(_problem(len(keys)), whole.ravel(), **options)
    for place, key in enumerate(keys):
        first, total = (
            f"{found[name][place]:.2f} ± {found[f'{name}_conf'][place]:.2f}" for name in ("S1", "ST")
        )
        analysis.indices.append((key, first, total))


def _turn(analysis: Analysis, holds: Callable[[float], bool]) -> str:
    """Look for a small change that turns the claim: shrink the nearest point that turned it.

    The keys that move the number least go back first; the others move towards the experiment's own values.
    """
    variation, base = analysis.variation, analysis.objective.candidates
    (own,) = analysis.measure([{}], variation.seeds.numbers)
    held = analysis.verdict(own)
    if held is None:
        return f"No change was looked for: no number at the experiment's own values ({own.problem})."
    says = f"It {'holds' if held else 'does not hold'} at the experiment's own values ({analysis.text(own)})"
    turned = [each for each in analysis.points if analysis.verdict(each) is (not held)]
    analysis.note([own])
    if not turned:
        return f"{says}, and at all {len(analysis.points) - 1} points that ran the verdict is the same."
    ends = {key: each.share_of(base.own_value(key)) for key, each in variation.keys.items()}
    nearest = min(turned, key=lambda each: _distance(each.values, ends, variation))

    def turns(values: Values) -> bool:
        measured = analysis.measure([values], variation.seeds.numbers)
        analysis.note(measured)
        return analysis.verdict(measured[0]) is (not held)

    start = {
        each.key: nearest.values[each.key]
        for each in reversed(analysis.effects)
        if each.key in nearest.values
    }
    known = {key: end for key, end in ends.items() if end is not None}
    values = shrink(start, variation.keys, known, turns, variation.flip)
    (there,) = analysis.measure([values], variation.seeds.numbers)
    here, moved = analysis.measure([{}, values], variation.held_out)
    pairs = zip(here.known, moved.known, strict=False)
    again = sum(holds(one) is held and holds(other) is not held for one, other in pairs)
    changes = joined([f"{key} from {base.own_value(key)} to {value}" for key, value in values.items()])
    others = counted(len(variation.held_out), "other seed")
    return f"{says}. It turns at {changes} ({analysis.text(there)}), and with {again} of {others}."


def _distance(values: Values, ends: Mapping[str, float | None], variation: Variation) -> float:
    """Return the sum of the changes from the experiment's own values, each as a share of its range."""
    found = 0.0
    for key, value in values.items():
        end, share = ends[key], variation.keys[key].share_of(value)
        found += 1.0 if end is None or share is None else abs(share - end)
    return found


def _written(variation: Variation, keys: Sequence[str], shares: Shares) -> list[dict[str, Scalar]]:
    """Return the values at points, given as a share of the range of each key."""
    return [
        {key: variation.keys[key].at(float(share)) for key, share in zip(keys, point, strict=True)}
        for point in shares
    ]


def _problem(keys: int) -> dict[str, object]:
    """Return SALib's description of the keys: each is a share of its range."""
    return {"num_vars": keys, "names": [str(place) for place in range(keys)], "bounds": [[0.0, 1.0]] * keys}


def _salib(module: str) -> ModuleType:
    """Import a module of SALib; UsageError without it."""
    try:
        return import_module(f"SALib.{module}")
    except ImportError as error:
        got = "sensitivity: got no SALib, expected the package that draws points"
        raise UsageError(f"{got}; install it with `pip install 'rogue-testbed[search]'`.") from error
