"""`rogue search`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rogue.harness.commands import completion
from rogue.harness.commands.options import (
    Dask,
    Jobs,
    OptionalExperiment,
    Out,
    Plugins,
    Settings,
    TestbedName,
    TrustsInventory,
    TrustsPlugins,
)
from rogue.harness.errors import ExitCode
from rogue.workloads.printable import printable

if TYPE_CHECKING:
    from rogue.harness.commands.growing_run import GrowingOptions
    from rogue.harness.search.study import Proposal, Search, SearchPlan

SpaceOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="What may change, what is looked for, and for how long.",
        autocompletion=completion.spaces,
    ),
]
Worst = Annotated[
    str | None,
    typer.Option(metavar="METRIC", help="The measure whose worst value is looked for; replaces FILE's."),
]
Against = Annotated[
    str | None, typer.Option(metavar="TRANSPORT", help="Divide by the same measure of this transport.")
]
IsPlan = Annotated[bool, typer.Option("--plan", help="Print what it should take; run nothing.")]
HasBaseline = Annotated[
    bool, typer.Option("--baseline/--no-baseline", help="Also draw random values with the same budget.")
]
ResumedSearch = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="RUN",
        help="Continue a search that was stopped; on nodes with --testbed.",
        autocompletion=completion.runs,
    ),
]
PAGE: Final = "search.html"


def search(  # noqa: PLR0913  (one parameter per option)
    experiment: OptionalExperiment = "",
    space: SpaceOption = None,
    worst: Worst = None,
    against: Against = None,
    is_plan: IsPlan = False,
    has_baseline: HasBaseline = True,
    testbed: TestbedName = "simulator",
    out: Out = None,
    settings: Settings = None,
    jobs: Jobs = None,
    resume: ResumedSearch = None,
    dask: Dask = None,
    plugins: Plugins = None,
    trusts_plugins: TrustsPlugins = False,
    trusts_inventory: TrustsInventory = False,
) -> ExitCode:
    """Look for values at which a measure is worst, and keep the simplest that hold on other seeds.

    The space file has a range for each key of the experiment that may change. A finding that the network
    shows without congestion control as well is left out. The same file and seeds give the same cells with
    any number of jobs. The last line on standard output is the search's directory.

    \b
      rogue search experiments/found/start/livelock.yml --space experiments/found/spaces/livelock.yml --plan
      rogue search --resume results/livelock-search/20261120T101500Z-3f9a1c
    """
    from rogue.harness.commands.growing_run import GrowingOptions, opened
    from rogue.harness.search.study import check_search

    aim = {"metric": worst, "against": against}
    options = GrowingOptions(
        command="search", experiment=experiment, ranges=space, settings=settings, testbed=testbed, out=out,
        jobs=jobs, resume=resume, dask=dask, plugins=plugins, trusts_plugins=trusts_plugins,
        trusts_inventory=trusts_inventory, is_plan=is_plan, has_baseline=has_baseline,
        aim={key: value for key, value in aim.items() if value is not None},
    )  # fmt: skip

    with opened(options, check_search) as (plan, run):
        return _print_plan(plan, options) if run is None else _work(plan.begun(run), options)


def _print_plan(plan: SearchPlan, options: GrowingOptions) -> ExitCode:
    from rogue.harness.commands.run import jobs_at_once
    from rogue.harness.search.summary import plan_lines

    jobs = min(plan.cells_at_once, jobs_at_once(plan.candidates.testbed, options.jobs, None))
    typer.echo(printable(f"{plan.aim.metric} of {plan.candidates.measure_text}"))
    for line in plan_lines(plan.space.keys, plan.some_plans(), plan.cells_max, jobs):
        typer.echo(printable(line))
    return ExitCode.OK


def _work(search: Search, options: GrowingOptions) -> ExitCode:
    """Search, then print and write the outcome; Ctrl-C leaves the finished trials."""
    from rogue.harness.commands.growing_run import growing

    run, testbed = search.objective.run, search.objective.candidates.testbed
    with growing(run, testbed, options, lambda: _finish(search)) as workers:
        search.objective.workers = workers
        search.run(time.monotonic, lambda proposal: _show(proposal, search))
    _finish(search)
    return ExitCode.OK


def _show(proposal: Proposal, search: Search) -> None:
    """Print a proposal, and write the state of the search for `rogue watch`."""
    from rogue.harness.results.files import write_whole
    from rogue.harness.results.recorded_run import SO_FAR
    from rogue.harness.search.summary import outcome_lines, proposal_line

    line = proposal_line(proposal, search.objective)
    typer.echo(printable(line), err=True)
    text = "\n".join(map(printable, [*outcome_lines(search), line]))
    write_whole(search.objective.run.directory / SO_FAR, text.encode())


def _finish(search: Search) -> None:
    """Write the page and the finding, and print the summary; the run's directory is the last line."""
    from rogue.harness.commands.growing_run import write_files
    from rogue.harness.results.recorded_run import SO_FAR
    from rogue.harness.search.finding import FILE, finding_file
    from rogue.harness.search.study import JOURNAL
    from rogue.harness.search.summary import outcome_lines, search_page

    run, outcome, lines = search.objective.run, search.outcome, outcome_lines(search)
    run.manifest.status = "complete" if outcome.is_over and not outcome.is_out_of_time else "partial"
    held_out = search.space.seeds.held_out
    best = outcome.finding
    found = None if best is None else finding_file(best, search.objective, search.aim, held_out)
    (run.directory / SO_FAR).unlink(missing_ok=True)
    write_files(run, {PAGE: search_page(lines, search), FILE: found}, JOURNAL)
    for line in lines:
        typer.echo(printable(line))
    if found is not None:
        typer.echo(f"finding: {run.directory / FILE}", err=True)
    typer.echo(f"page: {run.directory / PAGE}", err=True)
    typer.echo(run.directory)
