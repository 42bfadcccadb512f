"""Try a finding again, with its transport or with another one, and judge the result."""

from dataclasses import dataclass
from enum import StrEnum
from math import inf
from pathlib import Path
from typing import Final

from rogue.harness.errors import ConfigError, HarnessError
from rogue.harness.execution.scheduler import Watcher
from rogue.harness.experiment.load import LoadedExperiment
from rogue.harness.plan.plan import Plan
from rogue.harness.results.recorded_run import Run
from rogue.harness.run import Workers
from rogue.harness.search.candidates import (
    CONTROL_FREE,
    Candidates,
    checked_candidates,
    make_candidates,
    problem_text,
    with_subject,
)
from rogue.harness.search.finding import read_criterion
from rogue.harness.search.objective import Measured, Objective
from rogue.harness.search.target import Target, make_target
from rogue.harness.testbeds.base import Testbed
from rogue.reports.quantities import counted


@dataclass(frozen=True, slots=True)
class Weakness:
    """A finding that is tried, with the plan of its cells."""

    name: str
    title: str
    target: Target
    candidates: Candidates | None
    plan: Plan | str
    """A text says why the transport cannot be tried."""
    seeds: range

    def measure(self, run: Run, workers: Workers, watcher: Watcher) -> Measured:
        """Run the cells in a run without any."""
        assert self.candidates is not None, "it was planned"
        objective = Objective(run, self.candidates, self.target, inf, workers=workers, watcher=watcher)
        (measured,) = objective.measure([{}], self.seeds)
        return measured


def read_weakness(file: Path, loaded: LoadedExperiment, testbed: Testbed, transport: str | None) -> Weakness:
    """Read a finding, with another transport in the place of its own unless that is None."""
    aim, experiment = read_criterion(file), loaded.experiment
    target = make_target(aim, is_ratio=aim.against is not None)
    seeds = range(experiment.seed, experiment.seed + experiment.repetitions)
    candidates: Candidates | None = None
    plan: Plan | str
    try:
        own = make_candidates(loaded, testbed, aim, experiment.seed)
        candidates = checked_candidates(own if transport is None else with_subject(own, transport))
        plan = candidates.plan({}, seeds, inf)
    except ConfigError as error:
        plan = problem_text(error)
    except HarnessError as error:
        plan = str(error)
    return Weakness(file.stem, experiment.title or experiment.name, target, candidates, plan, seeds)


class Verdict(StrEnum):
    """Whether a transport shares a finding."""

    SHARED = "shares it"
    PARTLY = "shares it on some seeds"
    NOT_SHARED = "does not share it"
    NO_WEAKNESS = "is no weakness of the control"
    UNKNOWN = "cannot be tried"


SUMMED: Final = {
    Verdict.SHARED: "shared",
    Verdict.PARTLY: "shared on some seeds",
    Verdict.NOT_SHARED: "not shared",
    Verdict.NO_WEAKNESS: "shared without congestion control as well",
    Verdict.UNKNOWN: "that cannot be tried",
}


def judge(measured: Measured, target: Target) -> Verdict:
    """Return whether a transport shares a finding, on all seeds or on some."""
    if measured.is_shared:
        return Verdict.NO_WEAKNESS
    if not measured.known or len(measured.known) < len(measured.by_seed):
        return Verdict.UNKNOWN
    findings = sum(target.is_finding(number) for number in measured.known)
    if findings == len(measured.known):
        return Verdict.SHARED
    return Verdict.PARTLY if findings else Verdict.NOT_SHARED


def judged_text(measured: Measured, target: Target) -> str:
    """Return the numbers on all seeds and the bound, or why there are none."""
    if not measured.known or None in measured.by_seed:
        return measured.problem or "no number"
    seeds = counted(len(measured.by_seed), "seed")
    own = f"{target.metric.name} is {target.range_text(measured.by_seed)} on {seeds}"
    other = target.range_text(measured.control_free)
    return f"{own}{f', {CONTROL_FREE}: {other}' if measured.control_free else ''}; {target.bound_text}"
