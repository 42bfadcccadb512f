"""`rogue plan`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from rogue.harness.commands.options import Experiment, Jobs, Plugins, Settings, TestbedName, TrustsInventory
from rogue.harness.errors import ExitCode
from rogue.harness.terminal import CountDisplay

if TYPE_CHECKING:
    pass


def plan(  # noqa: PLR0913  (one parameter per option)
    experiment: Experiment,
    testbed: TestbedName = "simulator",
    settings: Settings = None,
    jobs: Jobs = None,
    plugins: Plugins = None,
    trusts_inventory: TrustsInventory = False,
) -> ExitCode:
    """Print the cells of an experiment, what cannot run and why, and the expected time; run nothing.

    \b
      rogue plan experiments/quickstart.yaml --set 'transports=[rogue]'
    """
    from rogue.harness.experiment.find import load_named
    from rogue.harness.plan.plan import make_plan
    from rogue.harness.plan.text import ALLOW, exceeded, plan_text
    from rogue.harness.results.provenance import available_cores
    from rogue.harness.results.run_directory import DEFAULT_OUT
    from rogue.harness.testbeds import find_testbed

    loaded = load_named(experiment, tuple(settings or ()), tuple(plugins or ()))
    with CountDisplay(sys.stderr) as counted:
        planned = make_plan(loaded, find_testbed(testbed, is_trusted=trusts_inventory), counted)
    wanted = jobs or available_cores()
    typer.echo(plan_text(planned, wanted), nl=False)
    if beyond := exceeded(planned.cells, planned.jobs(wanted), DEFAULT_OUT):
        typer.echo(f"note: `rogue run` expects {beyond}, unless {ALLOW} says that it is meant")
    return ExitCode.OK
