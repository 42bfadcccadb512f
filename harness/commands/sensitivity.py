"""`rogue sensitivity`."""

from __future__ import annotations

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
    from rogue.harness.results.recorded_run import Run
    from rogue.harness.search.objective import Measured
    from rogue.harness.search.sensitivity import Analysis, AnalysisPlan

Vary = Annotated[Path | None, typer.Option(metavar="FILE", help="Which keys vary, and within which bounds.")]


Claims = Annotated[
    list[str] | None, typer.Option("--claim", metavar="ID", help="Ask what moves this claim; repeatable.")
]


IsPlan = Annotated[bool, typer.Option("--plan", help="Print what it should take; run nothing.")]


ResumedScreening = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="RUN",
        help="Continue one that was stopped; on nodes with --testbed.",
        autocompletion=completion.runs,
    ),
]


PAGE: Final = "sensitivity.html"


def sensitivity(  # noqa: PLR0913  (one parameter per option)
    experiment: OptionalExperiment = "",
    vary: Vary = None,
    claims: Claims = None,
    is_plan: IsPlan = False,
    testbed: TestbedName = "simulator",
    out: Out = None,
    settings: Settings = None,
    jobs: Jobs = None,
    resume: ResumedScreening = None,
    dask: Dask = None,
    plugins: Plugins = None,
    trusts_plugins: TrustsPlugins = False,
    trusts_inventory: TrustsInventory = False,
) -> ExitCode:
    """Print which keys of an experiment move a measure or a claim, and what turns the claim.

    Morris's screening moves each key a few times, alone, from random points, with the same seeds before and
    after. The file may ask for Sobol indices of the leading keys, and for a small change that turns a claim.
    The last line on standard output is the directory.

    \b
      rogue sensitivity my.yml --vary vary.yml
      rogue sensitivity controls/dcqcn-delay --set 'factors={}' --claim X-2-10 --vary vary.yml
    """
    from rogue.harness.commands.growing_run import GrowingOptions, opened
    from rogue.harness.search.sensitivity import check_analysis

    options = GrowingOptions(
        command="sensitivity", experiment=experiment, ranges=vary, settings=settings, testbed=testbed,
        out=out, jobs=jobs, resume=resume, dask=dask, plugins=plugins, trusts_plugins=trusts_plugins,
        trusts_inventory=trusts_inventory, is_plan=is_plan, claims=claims or (),
    )  # fmt: skip

    with opened(options, check_analysis) as (plan, run):
        return _print_plan(plan, options) if run is None else _work(plan, run, options)


def _print_plan(plan: AnalysisPlan, options: GrowingOptions) -> ExitCode:
    from rogue.harness.commands.run import jobs_at_once
    from rogue.harness.search.summary import plan_lines

    jobs = jobs_at_once(plan.candidates.testbed, options.jobs, None)
    for line in plan_lines(plan.variation.keys, plan.some_plans(), plan.cells_max, jobs):
        typer.echo(printable(line))
    return ExitCode.OK


def _work(plan: AnalysisPlan, run: Run, options: GrowingOptions) -> ExitCode:
    """Analyse, then print and write the results; Ctrl-C leaves the finished cells."""
    from rogue.harness.commands.growing_run import growing, write_files
    from rogue.harness.search.summary import analysis_lines, sensitivity_page

    testbed = plan.candidates.testbed
    with growing(run, testbed, options, lambda: typer.echo(run.directory)) as workers:
        analyses = plan.analyse(run, workers, _show)
    run.manifest.status = "complete"
    write_files(run, {PAGE: sensitivity_page(analyses)})
    for analysis in analyses:
        for line in analysis_lines(analysis):
            typer.echo(printable(line))
    typer.echo(f"page: {run.directory / PAGE}", err=True)
    typer.echo(run.directory)
    return ExitCode.OK


def _show(analysis: Analysis, measured: Measured) -> None:
    from rogue.harness.search.summary import point_line

    typer.echo(printable(point_line(analysis, measured)), err=True)
