"""`rogue plan`."""

import sys

import typer

from harness.counting import CountDisplay
from harness.exit_codes import ExitCode
from harness.experiment.load import LoadedExperiment
from harness.plan.budget import ALLOW, exceeded
from harness.plan.plan import make_plan
from harness.plan.text import plan_text
from harness.results.provenance import available_cores
from harness.results.run_directory import DEFAULT_OUT
from harness.testbeds import find_testbed


def print_plan(loaded: LoadedExperiment, testbed: str, jobs: int | None) -> ExitCode:
    """Print what would be run."""
    with CountDisplay(sys.stderr) as counted:
        plan = make_plan(loaded, find_testbed(testbed), counted)
    wanted = jobs or available_cores()
    typer.echo(plan_text(plan, wanted), nl=False)
    if beyond := exceeded(plan.cells, plan.jobs(wanted), DEFAULT_OUT):
        typer.echo(f"note: `rogue run` expects {beyond}, unless {ALLOW} says that it is meant")
    return ExitCode.OK
