"""Search from the first proposal to a confirmed finding."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Final

from rogue.harness.errors import UsageError
from rogue.harness.experiment.choices import Scalar
from rogue.harness.search.bench import Bench, Measured
from rogue.harness.search.flip import simplest
from rogue.harness.search.question import Target
from rogue.harness.search.ranges import Range
from rogue.harness.search.space import Direction, SamplerName, Space

if TYPE_CHECKING:
    import optuna

STARTUP_SHARE: Final = 0.25
"""Of the cells of a search, TPE draws so many at random before it learns from them; ten at most."""
STARTUP_MAX: Final = 10
_DIRECTIONS: Final = {"least": "minimize", "most": "maximize"}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a sampler proposed, and its own record of it."""

    values: Mapping[str, Scalar]
    trial: "optuna.trial.Trial"


class Sampler:
    """Proposes values of the keys, and learns from what they gave.

    The same seed, and the same values told in the same order, give the same proposals.
    """

    def __init__(
        self,
        name: SamplerName,
        keys: Mapping[str, Range],
        directions: Sequence[Direction],
        seed: int,
        cells: int,
    ) -> None:
        optuna = _package("optuna")
        if name == "cmaes":
            _package("cmaes")  # Optuna would look for it at the first proposal
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._keys = keys
        self._distributions = {
            key: optuna.distributions.FloatDistribution(0.0, 1.0)
            if each.choices is None
            else optuna.distributions.CategoricalDistribution(each.choices)
            for key, each in keys.items()
        }
        self._states = optuna.trial.TrialState
        self._startup = startup = max(1, min(STARTUP_MAX, round(STARTUP_SHARE * cells)))
        self._numbers = 0
        self._has_two_aims = len(directions) > 1
        samplers = optuna.samplers
        made = {
            "tpe": lambda: samplers.TPESampler(seed=seed, n_startup_trials=startup),
            "random": lambda: samplers.RandomSampler(seed=seed),
            "cmaes": lambda: samplers.CmaEsSampler(
                seed=seed,
                n_startup_trials=startup,
                independent_sampler=samplers.RandomSampler(seed=seed),  # of choices, which have no distance
                warn_independent_sampling=False,
            ),
            "nsga2": lambda: samplers.NSGAIISampler(seed=seed, population_size=max(2, startup)),
        }
        self._study = optuna.create_study(
            directions=[_DIRECTIONS[each] for each in directions], sampler=made[name]()
        )

    def ask(self) -> Asked:
        """Return the next proposal."""
        trial = self._study.ask(self._distributions)
        values = {
            key: trial.params[key] if each.choices is not None else each.at(trial.params[key])
            for key, each in self._keys.items()
        }
        return Asked(values, trial)

    def tell(self, asked: Asked, values: Sequence[float]) -> None:
        """Say what a proposal gave, a number for each aim; nothing where it gave none.

        Once there are enough numbers to learn from, a proposal without one is worse than all of them to TPE.
        """
        if values:
            self._numbers += 1
            self._study.tell(asked.trial, values)
            return
        can_learn = self._numbers >= self._startup and not self._has_two_aims  # Optuna does not prune those
        self._study.tell(asked.trial, state=self._states.PRUNED if can_learn else self._states.FAIL)


def _package(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        got = f"search: got no {name}, expected the package, which proposes values"
        raise UsageError(f"{got}; install it with `pip install 'rogue-testbed[search]'`.") from error


ASKS_PER_CELL: Final = 20
"""After so many proposals for each cell of the budget a sampler gives up: nearly all values cannot be."""
UNMEASURED_MAX: Final = 20
"""After so many values that ran and gave no number a search is over: its workload has no such measure."""
CANDIDATES_MAX: Final = 3
"""So many values that look like a find are tried on the held-out seeds, the worst first."""


@dataclass(frozen=True, slots=True)
class Told:
    """One proposal and what it gave."""

    sampler: SamplerName
    number: int
    """From 1, for each sampler on its own."""
    measured: Measured
    is_find: bool


@dataclass(frozen=True, slots=True)
class Find:
    """Values that meet the criterion on the held-out seeds."""

    told: Told
    held_out: Measured
    simple: Measured
    """The simplest values that still do, on the same seeds."""


@dataclass(slots=True)
class Outcome:
    """What came of a search."""

    told: list[Told] = field(default_factory=list)
    refuted: list[Measured] = field(default_factory=list)
    """What looked like a find and was none on the held-out seeds."""
    find: Find | None = None
    is_out_of_time: bool = False
    is_over: bool = False
    """Whether nobody stopped it."""

    @property
    def ran(self) -> list[Measured]:
        """Return values of which all cells ran; a cell that failed says nothing about the measure."""
        found = (each.measured for each in self.told)
        return [measured for measured in found if measured.cells and not measured.has_failed]

    @property
    def is_unmeasured(self) -> bool:
        """Return whether enough values ran to see that none has a number."""
        return len(self.ran) >= UNMEASURED_MAX and all(each.value is None for each in self.ran)

    def of(self, sampler: SamplerName) -> list[Told]:
        """Return what one sampler proposed, in its order."""
        return [each for each in self.told if each.sampler == sampler]


@dataclass(frozen=True, slots=True)
class Campaign:
    """What a search needs beside its bench."""

    bench: Bench
    space: Space
    has_baseline: bool
    """Whether random values follow, with the same budget."""
    clock: Callable[[], float]
    """Real time in seconds."""
    on_told: Callable[[Told], None]

    def run(self, outcome: Outcome) -> None:
        """Fill an outcome in; what was told so far stands in it whenever this is stopped."""
        for sampler in self.space.samplers(has_baseline=self.has_baseline):
            outcome.is_out_of_time |= not self._search(sampler, outcome)
        self._confirm(outcome)
        outcome.is_over = True

    def _search(self, name: SamplerName, outcome: Outcome) -> bool:
        """Let one sampler use its budget; whether its time was enough."""
        space, bench = self.space, self.bench
        directions = [each.direction for each in (bench.target, bench.also) if each is not None]
        sampler = Sampler(name, space.keys, directions, space.sampler_seed, space.budget.cells)
        until = self.clock() + space.budget.for_ns / 1e9
        cells = number = 0
        while cells < space.budget.cells and number < ASKS_PER_CELL * space.budget.cells:
            if outcome.is_unmeasured:
                return True
            if self.clock() >= until:
                return False
            asked = [sampler.ask() for _ in range(self._batch(cells))]
            for proposal, measured in self._measured(asked):
                sampler.tell(proposal, _numbers(measured))
                number, cells = number + 1, cells + measured.cells
                told = Told(name, number, measured, bench.is_find(measured))
                outcome.told.append(told)
                self.on_told(told)
        return True

    def _batch(self, cells: int) -> int:
        """Return how many values come next after so many cells: no more than the budget needs."""
        per_value = self.bench.base.cells_per_value(self.space.seeds.numbers)
        return min(self.space.budget.batch, math.ceil((self.space.budget.cells - cells) / per_value))

    def _measured(self, asked: Sequence[Asked]) -> Iterator[tuple[Asked, Measured]]:
        found = self.bench.measure([each.values for each in asked], self.space.seeds.numbers)
        return zip(asked, found, strict=True)

    def _confirm(self, outcome: Outcome) -> None:
        for told in self._candidates(outcome.told):
            held_out = self._held_out(told.measured.values)
            if self.bench.is_find(held_out):
                outcome.find = Find(told, held_out, self._simplified(told.measured.values, held_out))
                return
            outcome.refuted.append(held_out)

    def _candidates(self, told: Sequence[Told]) -> list[Told]:
        """Return what looks like a find, the worst first, each once."""
        sign = 1 if self.bench.target.direction == "least" else -1
        finds = [each for each in told if each.is_find]
        finds.sort(key=lambda each: sign * (each.measured.value or 0.0))
        unique = {tuple(each.measured.values.items()): each for each in reversed(finds)}
        return list(reversed(unique.values()))[:CANDIDATES_MAX]

    def _held_out(self, values: Mapping[str, Scalar]) -> Measured:
        return self.bench.measure([values], self.space.seeds.held_out)[0]

    def _simplified(self, values: Mapping[str, Scalar], held_out: Measured) -> Measured:
        """Return the simplest values that meet the criterion on all seeds, of the search and held out."""
        found = {tuple(values.items()): held_out}

        def holds(tried: Mapping[str, Scalar]) -> bool:
            if not self.bench.is_find(self.bench.measure([tried], self.space.seeds.numbers)[0]):
                return False
            found[tuple(tried.items())] = measured = self._held_out(tried)
            return self.bench.is_find(measured)

        return found[tuple(simplest(values, self.space, holds).items())]


def _numbers(measured: Measured) -> list[float]:
    """Return what a sampler learns from: a number for each aim, or none."""
    return [number for number in (measured.value, measured.also) if number is not None]


def front_of(told: Sequence[Told], target: Target, also: Target) -> list[Told]:
    """Return the proposals of which no other is worse in one aim and as bad in the other."""

    def as_bad(one: Measured, other: Measured) -> bool:
        pairs = ((target, one.value, other.value), (also, one.also, other.also))
        return all(not each.is_worse(theirs or 0.0, own or 0.0) for each, own, theirs in pairs)

    found: list[Told] = []
    for each in (one for one in told if one.measured.value is not None):
        if any(as_bad(kept.measured, each.measured) for kept in found):
            continue
        found = [kept for kept in found if not as_bad(each.measured, kept.measured)] + [each]
    return found
