"""A shipped experiment, run in this process, and what its numbers say to its claims."""

from pathlib import Path
from typing import NamedTuple

import pytest

from rogue.harness.execution.slot import InlineSlot
from rogue.harness.execution.task import Task
from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan.plan import make_plan
from rogue.harness.run import Workers, cells_left, start_run, work
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.reports.claims import evaluate
from rogue.reports.claims.claim import read_claims
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.workloads.manifest import CellRecord
from rogue.workloads.records import CellStatus

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


class Judged(NamedTuple):
    """What the numbers say to a claim, whatever the seeds and the length of the run allow to say."""

    found: str
    mean: float


class _Attentive:
    """Watches a run of which every cell must finish."""

    def on_started(self, task: Task) -> None:
        pass

    def on_progress(self, task: Task, fraction: float) -> None:
        pass

    def on_finished(self, record: CellRecord) -> None:
        assert record.status is CellStatus.OK, record.message


def judged(
    monkeypatch: pytest.MonkeyPatch, directory: Path, experiment: str, *settings: str
) -> dict[str, Judged]:
    """Run an experiment with settings; per claim that has a number, what is found."""
    monkeypatch.setattr("rogue.harness.execution.scheduler.Slot", InlineSlot)
    plan = make_plan(load_experiment(str(EXPERIMENTS / f"{experiment}.yaml"), settings), SimulatorTestbed())
    run = start_run(plan, directory / "results", ["rogue", "run"], None)
    work(run, plan, cells_left(run, plan, False), Workers(1), _Attentive())
    claims = [claim for claim in read_claims() if experiment in claim.experiments]
    outcomes = evaluate(claims, Results(Run(run.directory)))
    return {
        each.claim.id: Judged(each.found.value, each.measured.mean)
        for each in outcomes
        if each.measured is not None
    }
