"""`rogue plan`."""

import typer

from harness.commands.experiments import load_named
from harness.exit_codes import ExitCode
from harness.plan.plan import make_plan
from harness.plan.text import plan_text
from harness.results.provenance import available_cores
from harness.testbeds import find_testbed


def print_plan(experiment: str, testbed: str, settings: tuple[str, ...], jobs: int | None) -> ExitCode:
    """Print what would be run."""
    plan = make_plan(load_named(experiment, settings), find_testbed(testbed))
    typer.echo(plan_text(plan, jobs or available_cores()), nl=False)
    return ExitCode.OK
