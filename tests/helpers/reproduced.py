"""Runs of a paper's experiments of which nothing was done but the plan."""

from pathlib import Path
from typing import Final

from rogue.harness.commands.experiments import find_experiment
from rogue.harness.experiment.load import LoadedExperiment, load_experiment
from rogue.harness.plan.plan import make_plan
from rogue.harness.run import start_run
from rogue.harness.testbeds import find_testbed
from rogue.workloads.manifest import Git

NAMES: Final = ["irn-paper/figure-7", "irn-paper/figures-1-6"]


def loaded(name: str, *settings: str) -> LoadedExperiment:
    """Return a shipped experiment, read and checked."""
    return load_experiment(find_experiment(name), settings)


def present(
    out: Path,
    name: str,
    *settings: str,
    status: str = "complete",
    command: str = "x",
    commit: str = "c",
) -> Path:
    """Write the directory of a run."""
    run = start_run(make_plan(loaded(name, *settings), find_testbed("simulator")), out, [command])
    run.manifest.status = status  # type: ignore[assignment]
    run.manifest.git = Git(commit=commit, dirty=False)
    run.write()
    return run.directory
