"""Who proposes values: Optuna's samplers, with one seed and told in one order.

This module alone imports Optuna, and only while a search is running.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Final

from rogue.harness.errors import UsageError
from rogue.harness.experiment.choices import Scalar
from rogue.harness.search.ranges import Range
from rogue.harness.search.space import Direction, SamplerName

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
