"""`rogue search`: its arguments and its help."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from rogue.harness.command_line import completion
from rogue.harness.command_line.experiments import (
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
from rogue.harness.command_line.growing_run import check_start
from rogue.harness.exit_codes import ExitCode

Space = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="What may change, what is looked for, and for how long.",
        autocompletion=completion.spaces,
    ),
]
Worst = Annotated[
    str | None,
    typer.Option(metavar="METRIC", help="The measure whose worst value is looked for, if FILE has no aim."),
]
Against = Annotated[
    str | None, typer.Option(metavar="TRANSPORT", help="Divide by the same measure of this transport.")
]
IsPlan = Annotated[bool, typer.Option("--plan", help="Say what it should take; run nothing.")]
HasBaseline = Annotated[
    bool, typer.Option("--baseline/--no-baseline", help="Also draw random values with the same budget.")
]
Confirm = Annotated[
    str | None,
    typer.Option(
        metavar="TESTBED",
        help="Run the find on this testbed, too, for example on the kernel.",
        autocompletion=completion.testbeds,
    ),
]
ResumedSearch = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="RUN",
        help="Go on with a search that was stopped; on nodes with --testbed.",
        autocompletion=completion.runs,
    ),
]


def search(  # noqa: PLR0913  (one parameter per option)
    experiment: OptionalExperiment = "",
    space: Space = None,
    worst: Worst = None,
    against: Against = None,
    is_plan: IsPlan = False,
    has_baseline: HasBaseline = True,
    confirm: Confirm = None,
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

    The space file has a range for each key of the experiment that may change. The same file and seeds give
    the same cells with any number of jobs. The last line on standard output is the search's directory.

    \b
      rogue search experiments/found/start/livelock.yml --space experiments/found/spaces/livelock.yml --plan
      rogue search --resume results/livelock-search/20261120T101500Z-3f9a1c
    """
    is_changed = any((experiment, space, settings, worst, against, out, is_plan, not has_baseline))
    check_start("search", experiment, ("--space", space), resume, is_changed=is_changed)
    from rogue.harness.commands.experiments import find_experiment, load_named

    files = tuple(plugins or ())
    loaded = load_named(experiment, tuple(settings or ()), files) if resume is None else None
    from rogue.harness.commands.search import SearchOptions, run_search
    from rogue.harness.plugins.trust import Trust
    from rogue.harness.search.space import read_space_document

    document = None if space is None else read_space_document(find_experiment(str(space)))
    options = SearchOptions(
        loaded=loaded, arguments=tuple(sys.argv[1:]), testbed=testbed, out=out, jobs=jobs, resume=resume,
        dask=dask, trust=Trust(files, trusts_plugins), trusts_inventory=trusts_inventory,
        space=document, worst=worst, against=against, has_baseline=has_baseline, is_plan=is_plan,
        confirm=confirm,
    )  # fmt: skip
    return run_search(options)
