"""Search with Optuna: propose values, measure them, and confirm the worst on held-out seeds."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from rogue.harness.data.files import DataFiles
from rogue.harness.errors import UsageError
from rogue.harness.experiment.load import LoadedExperiment
from rogue.harness.plan.plan import Plan
from rogue.harness.results.recorded_run import Run
from rogue.harness.search.candidates import Candidates, check_places, make_candidates
from rogue.harness.search.objective import Measured, Objective, make_target
from rogue.harness.search.ranges import Range, Values, shrink
from rogue.harness.search.space import Aim, Request, SamplerName, Space, check_file
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
        drawn, space = np.random.default_rng(self.space.sampler_seed), self.space
        values = [{key: each.at(drawn.random()) for key, each in space.keys.items()} for _ in range(PLANNED)]
        seconds_max = space.budget.cell_ns / 1e9
        return [self.candidates.plan(each, space.seeds.numbers, seconds_max) for each in values]

    def begun(self, run: Run) -> "Search":
        """Return the search in its run."""
        target, seconds_max = make_target(self.aim), self.space.budget.cell_ns / 1e9
        return Search(self, Objective(run, self.candidates, target, seconds_max, tuple(self.space.keys)))


def check_search(
    request: Request, loaded: LoadedExperiment, testbed: Testbed, files: DataFiles | None
) -> SearchPlan:
    """Check a space file and its experiment; ConfigError or UsageError with a sentence per mistake."""
    space = check_file(request.document, Space)
    if space.aim is None:
        got = f"search: got no aim, neither in {request.file} nor by --worst"
        raise UsageError(f"{got}, expected a measure; `rogue list measures` has them.")
    make_target(space.aim)
    check_places(loaded.document, space.keys)
    candidates = make_candidates(loaded, testbed, space.aim, space.seeds.first, files).checked()
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
            self.is_out_of_time |= not self._sample(name, storage, clock, on_proposal)
        self._confirm()
        self.is_over = True

    def _sample(
        self,
        name: SamplerName,
        storage: "optuna.storages.BaseStorage",
        clock: Callable[[], float],
        on_proposal: Callable[[Proposal], None],
    ) -> bool:
        """Use the budget of a sampler, which gets a new seed for each batch; False if time was too short."""
        import optuna

        space, budget = self.plan.space, self.plan.space.budget
        directions = optuna.study.StudyDirection
        direction = directions.MINIMIZE if self.objective.target.sign > 0 else directions.MAXIMIZE
        study = optuna.create_study(direction=direction)  # in memory: each write to the journal is synced
        record = optuna.create_study(storage=storage, study_name=name, direction=direction)
        until, left, drawn = clock() + budget.for_ns / 1e9, budget.cells, 0
        while left > 0 and drawn < PROPOSALS_PER_CELL * budget.cells:
            if clock() >= until:
                return False
            study.sampler = _sampler(name, space, drawn)
            for trial, measured in self._batch(study, left):
                record.add_trial(trial)
                left, drawn = left - measured.cells, drawn + 1
                is_finding = self.objective.target.is_finding(measured.value)
                self.proposals.append(Proposal(name, drawn, measured, is_finding))
                on_proposal(self.proposals[-1])
        return True

    def _batch(self, study: "optuna.Study", left: int) -> list[tuple["optuna.trial.FrozenTrial", Measured]]:
        """Draw values for at most this number of cells, and measure them."""
        keys, seeds = self.plan.space.keys, self.plan.space.seeds.numbers
        ranges = {key: each.distribution for key, each in keys.items()}
        count = math.ceil(left / (len(seeds) * len(self.objective.candidates.compared)))
        trials = [study.ask(ranges) for _ in range(min(self.plan.space.budget.batch, count))]
        values = [{key: each.written(trial.params[key]) for key, each in keys.items()} for trial in trials]
        found = self.objective.measure(values, seeds)
        finished = []
        for trial, measured in zip(trials, found, strict=True):
            is_known = measured.value is not None
            state = None if is_known else _state_without_number(study, _startup_trials(self.plan.space))
            finished.append((study.tell(trial, measured.value, state), measured))
        return finished

    def _confirm(self) -> None:
        """Try the worst candidates on the held-out seeds, and simplify the first that holds."""
        objective, space = self.objective, self.plan.space
        seeds, held_out = space.seeds.numbers, space.seeds.held_out
        found = [each.measured for each in self.proposals if each.is_finding]
        found.sort(key=lambda measured: objective.target.sign * (measured.value or 0.0))
        unique = list({tuple(each.values.items()): each.values for each in found}.values())

        def holds(values: Values) -> bool:
            measured = (objective.measure([values], some)[0] for some in (seeds, held_out))
            return all(objective.target.is_finding(each.value) for each in measured)

        ends = {key: float(each.shrink == "to") for key, each in space.keys.items() if each.shrink != "none"}
        for values in unique[:CANDIDATES_MAX]:
            if holds(values):
                simple = shrink(values, space.keys, ends, holds, space.budget.shrink)
                (self.finding,) = objective.measure([simple], held_out)
                return
            self.refuted += objective.measure([values], held_out)


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


def _state_without_number(study: "optuna.Study", startup: int) -> "optuna.trial.TrialState":
    """Return PRUNED once a sampler learns from numbers: TPE takes such a trial as worse than all others."""
    from optuna.trial import TrialState

    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    return TrialState.PRUNED if len(complete) >= startup else TrialState.FAIL
