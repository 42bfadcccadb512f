"""Analyse with SALib which keys move a measure or turn a claim: Morris's screening and Sobol indices."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from math import isfinite, nan
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
from rogue.harness.search.candidates import Candidates, Values, check_keys, make_candidates
from rogue.harness.search.objective import Measured, Objective, make_target, ratio
from rogue.harness.search.space import Range, Request, check_file
from rogue.harness.search.study import shrink
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

    def measure(self, candidates: Sequence[Values], seeds: range | None = None) -> list[Measured]:
        """Return the number at each point; with `beside` the ratio to that at other values, seed by seed."""
        seeds = self.variation.seeds.numbers if seeds is None else seeds
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

    def add(self, candidates: Sequence[Values]) -> list[Measured]:
        """Measure points, report each of them and keep them."""
        measured = self.measure(candidates)
        for each in measured:
            self.points.append(each)
            self.on_point(self, each)
        return measured

    def verdict(self, measured: Measured) -> bool | None:
        """True if the mean over the seeds bears the claim out; None without a claim or a number."""
        holds = self.question.holds
        return None if holds is None or measured.value is None else holds(fmean(measured.known))

    def text(self, measured: Measured) -> str:
        """Return the mean over the seeds with its unit."""
        return self.question.target.text(fmean(measured.known) if measured.value is not None else None)


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
    def cells_at_once(self) -> int:
        """Return the number of cells of a trajectory."""
        sides = max(len(candidates.compared) for _, candidates in self.questions)
        return (len(self.keys) + 1) * self.variation.seeds.count * sides

    @property
    def cells_max(self) -> int:
        """Return the number of cells if no two questions share one."""
        variation, sobol, cells = self.variation, self.variation.sobol, 0
        points = variation.trajectories * (len(self.keys) + 1)
        points += sobol.samples * (sobol.keys + 2) if sobol is not None else 0
        for question, candidates in self.questions:
            is_turned = variation.flip and question.holds is not None
            turn = variation.flip * variation.seeds.count + 2 * len(variation.held_out) if is_turned else 0
            sides = len(candidates.compared) * (2 if question.beside else 1)
            cells += sides * (points * variation.seeds.count + turn)
        return cells

    def some_plans(self) -> list[Plan | str]:
        """Return the plans of the first trajectory's points, or why they cannot run."""
        points = _written(self.variation, [*self.keys], trajectories(self.variation)[: len(self.keys) + 1])
        return [self.candidates.plan(each, self.variation.seeds.numbers) for each in points]

    def analyse(self, run: Run, workers: Workers, on_point: OnPoint) -> list[Analysis]:
        """Screen the keys for each question, then compute the requested indices and the turn."""
        analyses = []
        for question, candidates in self.questions:
            objective = Objective(run, candidates, question.target, workers)
            analysis = Analysis(question, objective, self.variation, on_point)
            _screen(analysis)
            if self.variation.sobol is not None:
                _index(analysis, self.variation.sobol)
            if self.variation.flip and question.holds is not None:
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
    first, seconds_max, pairs = variation.seeds.first, variation.cell_ns / 1e9, []
    keys = dict.fromkeys(variation.keys)
    for each in questions:
        make_target(each.aim)
        candidates = make_candidates(loaded, testbed, each.aim, first)
        keys |= dict.fromkeys(values_beside(each.beside, candidates.subject))
        pairs.append((each, candidates))
    check_keys(loaded.document, keys)
    return AnalysisPlan(
        variation,
        [
            (each, replace(candidates, keys=tuple(keys), seconds_max=seconds_max, files=files))
            for each, candidates in pairs
        ],
    )


def trajectories(variation: Variation) -> Shares:
    """Return the points of all trajectories, each of which has one point more than there are keys."""
    sample = _salib("sample.morris").sample
    problem, seed = _problem(len(variation.keys)), variation.sampler_seed
    return np.asarray(sample(problem, variation.trajectories, num_levels=LEVELS, seed=seed))


def _screen(analysis: Analysis) -> None:
    """Run the trajectories one after the other, and compute the effect of each key."""
    variation, keys = analysis.variation, list(analysis.variation.keys)
    changes: list[Shares] = []
    turned = np.zeros((len(keys), 2), int)
    for part in np.split(trajectories(variation), variation.trajectories):
        measured = analysis.add(_written(variation, keys, part))
        for number in range(variation.seeds.count):
            changes.append(elementary_effects(part, [_finite(each, number) for each in measured]))
        verdicts = [analysis.verdict(each) for each in measured]
        moved = np.abs(np.diff(part, axis=0)).argmax(axis=1)
        for key, before, after in zip(moved, verdicts, verdicts[1:], strict=False):
            if before is not None and after is not None:
                turned[key] += (before is not after, 1)
    analysis.screened = len(analysis.points)
    for key, column, (some, judged) in zip(keys, np.array(changes).T, turned, strict=True):
        known = column[np.isfinite(column)]
        spread = known.std(ddof=1) if len(known) > 1 else 0.0
        size, mean = (np.abs(known).mean(), known.mean()) if len(known) else (nan, nan)
        text = "" if analysis.question.holds is None else f"{some} of {judged}"
        analysis.effects.append(Effect(key, float(size), float(mean), float(spread), text))
    analysis.effects.sort(key=lambda each: each.size if isfinite(each.size) else -1.0, reverse=True)


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
    return value if value is not None and isfinite(value) else nan


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
    measured = analysis.add(_written(variation, keys, shares))
    seeds = range(variation.seeds.count)
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
    shares = {key: each.share_of(base.own_value(key)) for key, each in variation.keys.items()}
    ends = {key: share for key, share in shares.items() if share is not None}
    (own,) = analysis.add([{}])
    held = analysis.verdict(own)
    if held is None:
        return f"No change was looked for: no number at the experiment's own values ({own.problem})."
    says = f"It {'holds' if held else 'does not hold'} at the experiment's own values ({analysis.text(own)})"
    turned = [each for each in analysis.points if analysis.verdict(each) is (not held)]
    if not turned:
        return f"{says}, and at all {len(analysis.points) - 1} points that ran the verdict is the same."

    def distance(measured: Measured) -> float:
        """Return the sum of the changes from the experiment's own values, each as a share of its range."""
        at = measured.values
        moves = [(variation.keys[key].share_of(at[key]), ends.get(key)) for key in at]
        return sum(1.0 if share is None or end is None else abs(share - end) for share, end in moves)

    def turns(values: Values) -> bool:
        return analysis.verdict(analysis.add([values])[0]) is (not held)

    nearest = min(turned, key=distance).values
    start = {each.key: nearest[each.key] for each in reversed(analysis.effects) if each.key in nearest}
    values = shrink(start, variation.keys, ends, turns, variation.flip)
    (there,) = analysis.measure([values])
    here, moved = analysis.measure([{}, values], variation.held_out)
    pairs = zip(here.known, moved.known, strict=False)
    again = sum(holds(one) is held and holds(other) is not held for one, other in pairs)
    changes = joined([f"{key} from {base.own_value(key)} to {value}" for key, value in values.items()])
    others = counted(len(variation.held_out), "other seed")
    return f"{says}. It turns at {changes} ({analysis.text(there)}), and with {again} of {others}."


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
