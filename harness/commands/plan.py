"""`rogue plan`, which is also `rogue run --dry-run`."""

from __future__ import annotations

import sys

import typer

from rogue.harness.commands import options as opt
from rogue.harness.errors import ExitCode
from rogue.harness.results.named_run import DEFAULT_OUT
from rogue.harness.results.provenance import available_cores
from rogue.harness.terminal import CountDisplay, print_document
from rogue.harness.testbeds import find_testbed


def plan(
    experiment: opt.Experiment,
    testbed: opt.TestbedName = "simulator",
    settings: opt.Settings = None,
    seed: opt.Seed = None,
    jobs: opt.Jobs = None,
    as_json: opt.AsJson = False,
    plugins: opt.Plugins = None,
    trusts_inventory: opt.TrustsInventory = False,
    only_cell: opt.OnlyCell = None,
) -> ExitCode:
    """Print the cells of an experiment and the expected time; run nothing.

    --json prints `experiment`, `testbed`, `networks`, `cells`, `notes`, and what is `expected` with the
    number of `jobs`. A cell that cannot run has the reason as `unsupported`.

    \b
      rogue plan experiments/quickstart.yaml --set 'transports=[rogue]'
    """
    from rogue.harness.experiment.find import load_named
    from rogue.harness.plan.plan import make_chosen_plan
    from rogue.harness.plan.text import ALLOW, exceeded, plan_content, plan_text

    loaded = load_named(experiment, opt.with_seed(settings, seed), tuple(plugins or ()))
    with CountDisplay(sys.stderr) as counted:
        found = find_testbed(testbed, is_trusted=trusts_inventory)
        planned = make_chosen_plan(loaded, found, counted, only_cell)
    jobs_at_once = planned.jobs(jobs or available_cores())
    beyond = exceeded(planned.cells, jobs_at_once, DEFAULT_OUT)
    notes = [f"`rogue run` expects {beyond}, unless you add {ALLOW}"] if beyond else []
    if as_json:
        print_document(plan_content(planned, jobs_at_once, notes))
    else:
        typer.echo(
            plan_text(planned, jobs_at_once) + "".join(f"note: {words}\n" for words in notes), nl=False
        )
    return ExitCode.OK
