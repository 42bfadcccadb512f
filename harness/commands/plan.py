"""`rogue plan`."""

import sys

import typer

from rogue.harness.counting import CountDisplay
from rogue.harness.exit_codes import ExitCode
from rogue.harness.experiment.load import LoadedExperiment
from rogue.harness.plan.budget import ALLOW, exceeded
from rogue.harness.plan.text import plan_text
from rogue.harness.plan.watched import make_watched_plan
from rogue.harness.provisioning.inventory_file import NamedInventory
from rogue.harness.results.provenance import available_cores
from rogue.harness.results.run_directory import DEFAULT_OUT
from rogue.harness.testbeds import find_testbed


def print_plan(loaded: LoadedExperiment, testbed: NamedInventory, jobs: int | None) -> ExitCode:
    """Print what would be run."""
    with CountDisplay(sys.stderr) as counted:
        plan = make_watched_plan(
            loaded, find_testbed(testbed.argument, is_trusted=testbed.is_trusted), counted
        )
    wanted = jobs or available_cores()
    typer.echo(plan_text(plan, wanted), nl=False)
    if beyond := exceeded(plan.cells, plan.jobs(wanted), DEFAULT_OUT):
        typer.echo(f"note: `rogue run` expects {beyond}, unless {ALLOW} says that it is meant")
    return ExitCode.OK
