"""Search with Optuna: propose values, measure them, and confirm the worst on held-out seeds."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from rogue.harness.data.files import DataFiles
from rogue.harness.errors import DamagedRunError, UsageError
from rogue.harness.experiment.load import LoadedExperiment
from rogue.harness.plan.plan import Plan
from rogue.harness.results.recorded_run import Run
from rogue.harness.search.candidates import (
    Candidates,
    Values,
    check_places,
    checked_candidates,
    make_candidates,
)
from rogue.harness.search.objective import Measured, Objective
from rogue.harness.search.shrink import shrink
from rogue.harness.search.space import Aim, Request, SamplerName, Space, check_file
from rogue.harness.search.target import make_target
from rogue.harness.testbeds.base import Testbed

if TYPE_CHECKING:
    import optuna

JOURNAL: Final = "optuna.journal"
"""Optuna's record of a search, in the directory of its run; `optuna-dashboard` opens it."""
STARTUP_SHARE: Final = 0.25
"""Part of the budget that is drawn at random before a sampler learns from it; at most STARTUP_MAX values."""
STARTUP_MAX: Final = 10
PROPOSALS_PER_CELL: Final = 20
"""A sampler gives up after this many proposals for each cell of the budget: nearly none of them can run."""
MEASURED: Final = "measured"
"""Attribute of a trial with its result."""
_UNREADABLE: Final = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
PLANNED: Final = 24
"""How many values are planned to say how long a search takes."""
CANDIDATES_MAX: Final = 3
"""How many candidates are tried on the held-out seeds, the worst first."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """The values that a sampler proposed, and their measure."""

    sampler: SamplerName
    number: int
    """From 1, for each sampler separately."""
    measured: Measured
    is_finding: bool


@dataclass(slots=True)
class Outcome:
    """The state of a search."""

    proposals: list[Proposal] = field(default_factory=list)
    front: list[Proposal] = field(default_factory=list)
    """With two aims: the proposals of the sampler that no other one beats in both."""
    refuted: list[Measured] = field(default_factory=list)
    """Candidates that are no finding on the held-out seeds."""
    finding: Measured | None = None
    """The simplest values that meet the bound, on the held-out seeds."""
    is_out_of_time: bool = False
    is_over: bool = False
    """False if the search was stopped."""


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """A search that can run."""

    space: Space
    aim: Aim
    candidates: Candidates
    samplers: Sequence[SamplerName]

    @property
    def cells_max(self) -> int:
        """Return the budget of all samplers."""
        return self.space.budget.cells * len(self.samplers)

    @property
    def cells_at_once(self) -> int:
        """Return the number of cells in a batch."""
        seeds, compared = self.space.seeds.count, self.candidates.compared
        return self.space.budget.batch * seeds * len(compared)

    def some_plans(self) -> list[Plan | str]:
        """Return the plans of some values of the space, or why they cannot run."""
        drawn, space = np.random.default_rng(self.space.sampler_seed), self.space
        values = [{key: each.at(drawn.random()) for key, each in space.keys.items()} for _ in range(PLANNED)]
        seconds_max = space.budget.cell_ns / 1e9
        return [self.candidates.plan(each, space.seeds.numbers, seconds_max) for each in values]

    def begun(self, run: Run) -> "Search":
        """Return the search in its run."""
        space, is_ratio = self.space, self.aim.against is not None
        also = None if space.also is None else make_target(space.also, is_ratio=is_ratio)
        target, seconds_max = make_target(self.aim, is_ratio=is_ratio), space.budget.cell_ns / 1e9
        objective = Objective(run, self.candidates, target, seconds_max, tuple(space.keys), also)
        return Search(objective, space, self.aim, self.samplers)


def check_search(
    request: Request, loaded: LoadedExperiment, testbed: Testbed, files: DataFiles | None
) -> SearchPlan:
    """Check a space file and its experiment; ConfigError or UsageError with a sentence per mistake."""
    space = check_file(request.document, Space)
    if space.aim is None:
        got = f"search: got no aim, neither in {request.file} nor by --worst"
        raise UsageError(f"{got}, expected a measure; `rogue list measures` has them.")
    for aim in (space.aim, space.also or space.aim):
        make_target(aim)
    check_places(loaded.document, space.keys)
    candidates = checked_candidates(make_candidates(loaded, testbed, space.aim, space.seeds.first, files))
    return SearchPlan(space, space.aim, candidates, space.samplers(has_baseline=request.has_baseline))


@dataclass(frozen=True, slots=True)
class Search:
    """A search in its run."""

    objective: Objective
    space: Space
    aim: Aim
    samplers: Sequence[SamplerName]
    outcome: Outcome = field(default_factory=Outcome)
    """Has everything so far whenever the search is stopped."""

    def run(self, clock: Callable[[], float], on_proposal: Callable[[Proposal], None]) -> None:
        """Use the budget of each sampler, then confirm the worst candidates; `clock` has real seconds."""
        storage = open_journal(self.objective.run.directory / JOURNAL)
        for name in self.samplers:
            self.outcome.is_out_of_time |= not self._sample(name, storage, clock, on_proposal)
        self._confirm()
        self.outcome.is_over = True

    def _sample(
        self,
        name: SamplerName,
        storage: "optuna.storages.BaseStorage",
        clock: Callable[[], float],
        on_proposal: Callable[[Proposal], None],
    ) -> bool:
        """Use the budget of a sampler; False if its time was too short.

        Proposals come from a study in memory, whose sampler gets a seed for each batch. The journal has
        finished trials alone: a resumed search draws the same values again and takes the results from there.
        """
        import optuna

        budget, proposals, ends = self.space.budget, self.outcome.proposals, optuna.study.StudyDirection
        directions = [ends.MINIMIZE if aim.sign > 0 else ends.MAXIMIZE for aim in self.objective.targets]
        record = optuna.create_study(
            storage=storage, study_name=name, directions=directions, load_if_exists=True
        )
        done, study, first = record.get_trials(), optuna.create_study(directions=directions), len(proposals)
        until = clock() + budget.for_ns / 1e9
        while len(study.trials) < PROPOSALS_PER_CELL * budget.cells:
            left = budget.cells - sum(each.measured.cells for each in proposals[first:])
            if left <= 0:
                break
            if len(study.trials) >= len(done) and clock() >= until:
                return False
            study.sampler = make_sampler(name, self.space, len(study.trials))
            for trial, measured in self._batch(study, left, done):
                proposals.append(
                    Proposal(name, trial.number + 1, measured, self.objective.is_finding(measured))
                )
                if trial.number >= len(done):
                    record.add_trial(trial)
                    on_proposal(proposals[-1])
        if len(directions) > 1:
            best = {trial.number + 1 for trial in study.best_trials}
            self.outcome.front += [each for each in proposals[first:] if each.number in best]
        return True

    def _batch(
        self, study: "optuna.Study", left: int, done: Sequence["optuna.trial.FrozenTrial"]
    ) -> list[tuple["optuna.trial.FrozenTrial", Measured]]:
        """Draw values for at most this number of cells, and measure those that are not done."""
        keys, seeds, start = self.space.keys, self.space.seeds.numbers, len(study.trials)
        ranges = {key: each.distribution for key, each in keys.items()}
        count = math.ceil(left / (len(seeds) * len(self.objective.candidates.compared)))
        trials = [study.ask(ranges) for _ in range(min(self.space.budget.batch, count))]
        found = [_recorded(*pair) for pair in zip(trials, done[start:], strict=False)]
        values = [{key: each.written(trial.params[key]) for key, each in keys.items()} for trial in trials]
        found += self.objective.measure(values[len(found) :], seeds)
        finished = []
        for trial, measured in zip(trials, found, strict=True):
            trial.set_user_attr(MEASURED, asdict(measured))
            numbers = [value for value in (measured.value, measured.also) if value is not None]
            state = None if numbers else _state_without_number(study, startup_trials(self.space))
            finished.append((study.tell(trial, numbers or None, state), measured))
        return finished

    def _confirm(self) -> None:
        """Try the worst candidates on the held-out seeds, and simplify the first that holds."""
        objective, space = self.objective, self.space
        seeds, held_out = space.seeds.numbers, space.seeds.held_out
        found = [each.measured for each in self.outcome.proposals if each.is_finding]
        found.sort(key=lambda measured: objective.target.sign * (measured.value or 0.0))
        unique = list({tuple(each.values.items()): each.values for each in found}.values())

        def holds(values: Values) -> bool:
            return all(
                objective.is_finding(objective.measure([values], some)[0]) for some in (seeds, held_out)
            )

        ends = {key: float(each.shrink == "to") for key, each in space.keys.items() if each.shrink != "none"}
        for values in unique[:CANDIDATES_MAX]:
            if holds(values):
                simple = shrink(values, space.keys, ends, holds, space.budget.shrink)
                (self.outcome.finding,) = objective.measure([simple], held_out)
                return
            self.outcome.refuted += objective.measure([values], held_out)


def open_journal(file: Path) -> "optuna.storages.BaseStorage":
    """Open Optuna's record of a search; UsageError without Optuna, DamagedRunError if it cannot be read."""
    try:
        import optuna
        from optuna.storages import journal
    except ImportError as error:
        got = "search: got no optuna, expected the package, which proposes values"
        raise UsageError(f"{got}; install it with `pip install 'rogue-testbed[search]'`.") from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        Path(f"{file}.lock").unlink(missing_ok=True)  # of a process that was killed: the run itself is locked
        if file.exists() and not (content := file.read_bytes()).endswith(b"\n"):
            file.write_bytes(content[: content.rfind(b"\n") + 1])  # a line that a crash has cut off
        backend = journal.JournalFileBackend(str(file), journal.JournalFileOpenLock(str(file)))
        return optuna.storages.JournalStorage(backend)
    except _UNREADABLE as error:
        raise _damaged(file, error) from error


def _damaged(file: Path, error: Exception) -> DamagedRunError:
    got = f"{file}: got what Optuna cannot read ({type(error).__name__}: {error})"
    return DamagedRunError(f"{got}, expected its record of the search; start a new search.")


def _recorded(trial: "optuna.Trial", done: "optuna.trial.FrozenTrial") -> Measured:
    """Return the result of a finished trial; DamagedRunError if it is not that of the same values."""
    try:
        if trial.params == done.params:
            return Measured(**done.user_attrs[MEASURED])
    except _UNREADABLE as error:
        raise DamagedRunError(
            f"{JOURNAL}: got trial {done.number} without its result; start a new search."
        ) from error
    got = f"{JOURNAL}: got other values of trial {done.number} than Optuna draws now"
    expected = "expected the version of Optuna that began the search"
    raise DamagedRunError(f"{got}, {expected}; start a new search.")


def startup_trials(space: Space) -> int:
    """Return how many trials a sampler draws at random."""
    return max(1, min(STARTUP_MAX, round(STARTUP_SHARE * space.budget.cells)))


def make_sampler(name: SamplerName, space: Space, batch: int) -> "optuna.samplers.BaseSampler":
    """Return a sampler with a seed that follows from the space and the number of the batch's first trial."""
    from optuna import samplers

    seed = int(np.random.SeedSequence([space.sampler_seed, batch]).generate_state(1)[0])
    startup = startup_trials(space)
    if name == "tpe":
        return samplers.TPESampler(seed=seed, n_startup_trials=startup)
    if name == "nsga2":
        return samplers.NSGAIISampler(seed=seed, population_size=max(2, startup))
    return samplers.RandomSampler(seed=seed)


def _state_without_number(study: "optuna.Study", startup: int) -> "optuna.trial.TrialState":
    """Return PRUNED once a sampler learns from numbers: TPE takes such a trial as worse than all others."""
    from optuna.trial import TrialState

    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    is_pruned = len(complete) >= startup and len(study.directions) == 1
    return TrialState.PRUNED if is_pruned else TrialState.FAIL
