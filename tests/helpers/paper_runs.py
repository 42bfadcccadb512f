"""Published experiments, run and judged as a user would."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
import pytest

from rogue.harness.execution.scheduler import Watcher
from rogue.harness.execution.slot import InlineSlot
from rogue.harness.experiment.find import find_experiment
from rogue.harness.experiment.load import LoadedExperiment, load_experiment
from rogue.harness.plan.plan import make_plan
from rogue.harness.run import Workers, cells_left, start_run, work
from rogue.harness.testbeds import find_testbed
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.reports.claims import evaluate
from rogue.reports.claims.claim import read_claims
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.workloads.manifest import CellRecord, Git
from rogue.workloads.records import CellStatus

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


class Judged(NamedTuple):
    """Judge a claim by the numbers, for any seeds and length of the run."""

    found: str
    mean: float


class _Attentive(Watcher):
    """Watches a run of which every cell must finish."""

    def on_finished(self, record: CellRecord) -> None:
        assert record.status is CellStatus.OK, record.message


def judged(
    monkeypatch: pytest.MonkeyPatch, directory: Path, experiment: str, *settings: str
) -> dict[str, Judged]:
    """Run an experiment with settings; per claim that has a number, what is found."""
    monkeypatch.setattr("rogue.harness.execution.scheduler.Slot", InlineSlot)
    plan = make_plan(load_experiment(str(EXPERIMENTS / f"{experiment}.yaml"), settings), SimulatorTestbed())
    run = start_run(plan, directory / "results", ["rogue", "run"])
    work(run, plan, cells_left(run, plan, False), Workers(1), _Attentive())
    claims = [claim for claim in read_claims() if experiment in claim.experiments]
    outcomes = evaluate(claims, Results(Run(run.directory)))
    return {
        each.claim.id: Judged(each.found.value, each.measured.mean)
        for each in outcomes
        if each.measured is not None
    }


ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class ExperimentRun:
    """The finished cells of one run."""

    directory: Path
    cells: list[dict[str, Any]]

    def table(self, name: str, transport: str = "rogue") -> pd.DataFrame:
        """One data frame over a transport's cells, with a column `seed` and one per factor."""
        frames = []
        for cell in self.cells:
            if cell["transport"] == transport:
                file = self.directory / "cells" / str(cell["id"]) / f"{name}.parquet"
                frames.append(pd.read_parquet(file).assign(seed=cell["seed"], **cell["factors"]))
        return pd.concat(frames, ignore_index=True)

    def seeds(self) -> set[int]:
        """Seeds of the finished cells."""
        return {cell["seed"] for cell in self.cells}


MTU_OF_BOUNDS = "topology.mtu=1024"
"""Bounds that were fixed before the paper's experiments took packets of 2048 bytes.

The shipped experiments miss some of them, as the claims board says of R-17 and R-20.
"""


def run_experiment(name: str, out: Path, *settings: str) -> ExperimentRun:
    """Run an experiment of the checkout; every cell must finish."""
    command = [sys.executable, "-m", "rogue", "run", name, "--out", str(out), "--jobs", str(jobs())]
    command += [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    run = Path(done.stdout.strip().splitlines()[-1])
    manifest = json.loads((run / "manifest.json").read_text())
    unfinished = {cell["id"]: cell["message"] for cell in manifest["cells"] if cell["status"] != "ok"}
    assert not unfinished, f"{name}: {unfinished}"
    return ExperimentRun(run, manifest["cells"])


def jobs() -> int:
    """Return this process's share of the cores, if the tests run in several."""
    return max(1, len(os.sched_getaffinity(0)) // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def nearest_rank(values: pd.Series, percent: float) -> float:
    """Percentile as one of the values."""
    return float(np.sort(values)[int(np.ceil(percent / 100 * len(values))) - 1])


def jain(rates: pd.Series) -> float:
    """Jain's fairness index."""
    return float(rates.sum() ** 2 / (len(rates) * (rates**2).sum()))


NAMES: Final = ["irn-paper/figure-7", "irn-paper/figures-1-6"]


def loaded(name: str, *settings: str) -> LoadedExperiment:
    """Return a shipped experiment, read and checked."""
    return load_experiment(find_experiment(name), settings)


def present(
    out: Path, name: str, *settings: str, status: str = "complete", command: str = "x", commit: str = "c"
) -> Path:
    """Write the directory of a run."""
    run = start_run(make_plan(loaded(name, *settings), find_testbed("simulator")), out, [command])
    run.manifest.status = status  # type: ignore[assignment]
    run.manifest.git = Git(commit=commit, dirty=False)
    run.write()
    return run.directory
