"""Search with Optuna: propose values, measure them, and confirm the worst on held-out seeds."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from rogue.harness.data.files import DataFiles
from rogue.harness.errors import UsageError
from rogue.harness.experiment.choices import Scalar
from rogue.harness.experiment.load import LoadedExperiment
from rogue.harness.plan.plan import Plan
from rogue.harness.results.recorded_run import Run
from rogue.harness.search.candidates import Candidates, Values, check_keys, make_candidates
from rogue.harness.search.objective import Measured, Objective, make_target
from rogue.harness.search.space import Aim, Range, Request, SamplerName, Space, check_file
from rogue.harness.testbeds.base import Testbed

if TYPE_CHECKING:
    import optuna

JOURNAL: Final = "optuna.journal"
"""Optuna's record of a search, in the directory of its run; `optuna-dashboard` opens it."""
STARTUP_SHARE: Final = 0.25
"""Part of the budget that is drawn at random before the sampler learns; at most STARTUP_MAX values."""
STARTUP_MAX: Final = 10
PROPOSALS_PER_CELL: Final = 20
"""A sampler gives up after this many proposals for each cell of the budget: nearly none of them can run."""
PLANNED: Final = 24
"""How many values are planned to estimate the time of a search."""
CANDIDATES_MAX: Final = 3
"""How many candidates are tried on the held-out seeds, the worst first."""
HALVINGS: Final = 3
"""How often the distance between a value and the simple end of its range is halved."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """The values that a sampler proposed, and their measure."""

    sampler: SamplerName
    number: int
    """1-based, for each sampler separately."""
    measured: Measured
    is_finding: bool


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """A search that can run."""

    space: Space
    aim: Aim
    candidates: Candidates
    samplers: Sequence[SamplerName]
    """Random values with the same budget are a baseline for the sampler that learns."""

    @property
    def keys(self) -> Mapping[str, Range]:
        """Return the range of each key."""
        return self.space.keys

    @property
    def cells_max(self) -> int:
        """Return the budget of all samplers."""
        return self.space.budget.cells * len(self.samplers)

    @property
    def cells_at_once(self) -> int:
        """Return the number of cells in a batch."""
        return self.space.budget.batch * self.space.seeds.count * len(self.candidates.compared)

    def some_plans(self) -> list[Plan | str]:
        """Return the plans of some values of the space, or why they cannot run."""
        drawn = np.random.default_rng(self.space.sampler_seed)
        values = [{key: each.at(drawn.random()) for key, each in self.keys.items()} for _ in range(PLANNED)]
        return [self.candidates.plan(each, self.space.seeds.numbers) for each in values]

    def begun(self, run: Run) -> "Search":
        """Return the search in its run."""
        return Search(self, Objective(run, self.candidates, make_target(self.aim)))


def check_search(
    request: Request, loaded: LoadedExperiment, testbed: Testbed, files: DataFiles | None
) -> SearchPlan:
    """Check a space file and its experiment; ConfigError or UsageError with a sentence per mistake."""
    space = check_file(request.document, Space)
    if space.aim is None:
        got = f"search: got no aim, neither in {request.file} nor by --worst"
        raise UsageError(f"{got}, expected a measure; `rogue list measures` has them.")
    make_target(space.aim)
    check_keys(loaded.document, space.keys)
    named = make_candidates(loaded, testbed, space.aim, space.seeds.first)
    seconds_max = space.budget.cell_ns / 1e9
    candidates = replace(named, keys=tuple(space.keys), seconds_max=seconds_max, files=files).checked()
    return SearchPlan(space, space.aim, candidates, ("tpe", "random") if request.has_baseline else ("tpe",))


@dataclass(slots=True)
class Search:
    """A search in its run; has everything so far whenever it is stopped."""

    plan: SearchPlan
    objective: Objective
    proposals: list[Proposal] = field(default_factory=list)
    refuted: list[Measured] = field(default_factory=list)
    """Candidates that are no finding on the held-out seeds."""
    finding: Measured | None = None
    """The simplest values that meet the bound, on the held-out seeds."""
    is_out_of_time: bool = False
    is_over: bool = False
    """False if the search was stopped."""

    def run(self, clock: Callable[[], float], on_proposal: Callable[[Proposal], None]) -> None:
        """Use the budget of each sampler, then confirm the worst candidates; `clock` has real seconds.

        A resumed search draws the same values again, and takes the results of the cells that are finished.
        """
        storage = _new_journal(self.objective.run.directory / JOURNAL)
        for name in self.plan.samplers:
            for proposal in self._proposals(name, storage, clock):
                self.proposals.append(proposal)
                on_proposal(proposal)
        self._confirm()
        self.is_over = True

    def _proposals(
        self, name: SamplerName, storage: "optuna.storages.BaseStorage", clock: Callable[[], float]
    ) -> Iterator[Proposal]:
        """Use the budget of a sampler, which gets a new seed for each batch."""
        import optuna

        budget, target = self.plan.space.budget, self.objective.target
        directions = optuna.study.StudyDirection
        direction = directions.MINIMIZE if target.sign > 0 else directions.MAXIMIZE
        study = optuna.create_study(direction=direction)  # in memory: each write to the journal is synced
        record = optuna.create_study(storage=storage, study_name=name, direction=direction)
        until, left, drawn = clock() + budget.for_ns / 1e9, budget.cells, 0
        while left > 0 and drawn < PROPOSALS_PER_CELL * budget.cells:
            if clock() >= until:
                self.is_out_of_time = True
                return
            study.sampler = _sampler(name, self.plan.space, drawn)
            for trial, measured in self._batch(study, left):
                record.add_trial(trial)
                left, drawn = left - measured.cells, drawn + 1
                yield Proposal(name, drawn, measured, target.is_finding(measured.value))

    def _batch(self, study: "optuna.Study", left: int) -> list[tuple["optuna.trial.FrozenTrial", Measured]]:
        """Draw values for at most this number of cells, and measure them."""
        space = self.plan.space
        ranges = {key: each.distribution for key, each in space.keys.items()}
        count = math.ceil(left / (space.seeds.count * len(self.plan.candidates.compared)))
        trials = [study.ask(ranges) for _ in range(min(space.budget.batch, count))]
        values = [
            {key: each.written(trial.params[key]) for key, each in space.keys.items()} for trial in trials
        ]
        finished = []
        for trial, measured in zip(trials, self.objective.measure(values, space.seeds.numbers), strict=True):
            state = None if measured.value is not None else _state_without_number(study, space)
            finished.append((study.tell(trial, measured.value, state), measured))
        return finished

    def _confirm(self) -> None:
        """Try the worst candidates on the held-out seeds, and simplify the first that holds."""
        target, space = self.objective.target, self.plan.space
        found = [each.measured for each in self.proposals if each.is_finding]
        found.sort(key=lambda measured: target.badness(measured.value))
        unique = list({tuple(each.values.items()): each.values for each in found}.values())

        def on_held_out(values: Values) -> Measured:
            return self.objective.measure([values], space.seeds.held_out)[0]

        def holds(values: Values) -> bool:
            (known,) = self.objective.measure([values], space.seeds.numbers)
            return target.is_finding(known.value) and target.is_finding(on_held_out(values).value)

        ends = {key: float(each.shrink == "to") for key, each in space.keys.items() if each.shrink != "none"}
        for values in unique[:CANDIDATES_MAX]:
            if holds(values):
                self.finding = on_held_out(shrink(values, space.keys, ends, holds, space.budget.shrink))
                return
            self.refuted.append(on_held_out(values))


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

    def take_first(candidates: Sequence[dict[str, Scalar]]) -> None:
        nonlocal now, tries
        for candidate in candidates:
            if tries == 0:
                return
            tries -= 1
            if holds(candidate):
                now = candidate
                return

    for key in values:
        if len(now) > 1:
            take_first([{other: value for other, value in now.items() if other != key}])
    for key in [key for key in now if key in ends]:
        own, end, share = ranges[key], ends[key], ranges[key].share_of(now[key])
        if share is not None:
            nearer = [own.at(end + (share - end) * (1 - 0.5**halved)) for halved in range(HALVINGS + 1)]
            take_first([{**now, key: value} for value in dict.fromkeys(nearer) if value != now[key]])
    return now


def _new_journal(file: Path) -> "optuna.storages.BaseStorage":
    """Begin Optuna's record of a search anew; UsageError without Optuna."""
    try:
        import optuna
        from optuna.storages import journal
    except ImportError as error:
        got = "search: got no optuna, expected the package, which proposes values"
        raise UsageError(f"{got}; install it with `pip install 'rogue-testbed[search]'`.") from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    for path in (file, Path(f"{file}.lock")):  # of a process that was killed: the run itself is locked
        path.unlink(missing_ok=True)
    return optuna.storages.JournalStorage(
        journal.JournalFileBackend(str(file), journal.JournalFileOpenLock(str(file)))
    )


def _sampler(name: SamplerName, space: Space, drawn: int) -> "optuna.samplers.BaseSampler":
    """Return a sampler with a seed that follows from the space and the number of trials so far."""
    from optuna import samplers

    seed = int(np.random.SeedSequence([space.sampler_seed, drawn]).generate_state(1)[0])
    if name == "random":
        return samplers.RandomSampler(seed=seed)
    return samplers.TPESampler(seed=seed, n_startup_trials=_startup_trials(space))


def _startup_trials(space: Space) -> int:
    """Return how many trials a sampler draws at random before it learns."""
    return max(1, min(STARTUP_MAX, round(STARTUP_SHARE * space.budget.cells)))


def _state_without_number(study: "optuna.Study", space: Space) -> "optuna.trial.TrialState":
    """Return PRUNED once a sampler learns from numbers: TPE takes such a trial as worse than all others."""
    from optuna.trial import TrialState

    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    return TrialState.PRUNED if len(complete) >= _startup_trials(space) else TrialState.FAIL
