"""Arguments and help of `rogue search`, `sensitivity` and `weaknesses`."""

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
from rogue.harness.errors import ExitCode, UsageError


def check_start(
    command: str, experiment: str, file: tuple[str, Path | None], resume: Path | None, *, is_changed: bool
) -> None:
    """UsageError unless there is an experiment with its file, an option and its value, or a run alone."""
    option, path = file
    if resume is not None and is_changed:
        alone = "search" if command == "search" else "run"
        got = "an experiment or options that change it"
        raise UsageError(f"--resume: got {got}, expected the {alone} alone; it goes on as it was started.")
    if resume is None and (not experiment or path is None):
        missing = option if experiment else "experiment"
        expected = f"an experiment and {option} FILE, or --resume RUN"
        raise UsageError(f"{command}: got no {missing}, expected {expected}; docs/SEARCH.md shows both.")


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


Vary = Annotated[Path | None, typer.Option(metavar="FILE", help="Which keys vary, and within which bounds.")]
Claims = Annotated[
    list[str] | None, typer.Option("--claim", metavar="ID", help="Ask what moves this claim; repeatable.")
]
ResumedScreening = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="RUN",
        help="Go on with one that was stopped; on nodes with --testbed.",
        autocompletion=completion.runs,
    ),
]


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
    """Say which keys of an experiment move a measure or a claim, and what turns the claim.

    Morris's screening moves each key a few times, alone, from random points, with the same seeds before and
    after. The file may ask for Sobol indices of the keys that are left, and for the smallest change of one or
    two keys that turns a claim. The last line on standard output is the directory.

    \b
      rogue sensitivity my.yml --vary vary.yml
      rogue sensitivity controls/dcqcn-delay --set 'factors={}' --claim X-2-10 --vary vary.yml
    """
    is_changed = any((experiment, vary, claims, settings, out, is_plan))
    check_start("sensitivity", experiment, ("--vary", vary), resume, is_changed=is_changed)
    from rogue.harness.commands.experiments import find_experiment, load_named

    files = tuple(plugins or ())
    loaded = load_named(experiment, tuple(settings or ()), files) if resume is None else None
    from rogue.harness.commands.sensitivity import SensitivityOptions, run_sensitivity
    from rogue.harness.plugins.trust import Trust
    from rogue.harness.search.space import read_variation_document

    document = None if vary is None else read_variation_document(find_experiment(str(vary)))
    options = SensitivityOptions(
        loaded=loaded, arguments=tuple(sys.argv[1:]), testbed=testbed, out=out, jobs=jobs, resume=resume,
        dask=dask, trust=Trust(files, trusts_plugins), trusts_inventory=trusts_inventory,
        vary=document, is_plan=is_plan, claims=tuple(claims or ()),
    )  # fmt: skip
    return run_sensitivity(options)


Finds = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FIND]...",
        show_default=False,
        help="Files of finds; by default all that come with this checkout.",
    ),
]
Transport = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Whom the finds are tried with; by default the transports that they were found in.",
    ),
]


def weaknesses(  # noqa: PLR0913  (one parameter per option)
    finds: Finds = None,
    transport: Transport = None,
    testbed: TestbedName = "simulator",
    out: Out = None,
    settings: Settings = None,
    jobs: Jobs = None,
    plugins: Plugins = None,
    trusts_inventory: TrustsInventory = False,
) -> ExitCode:
    """Say which known weaknesses a transport shares, or whether a find holds on another testbed.

    Each find is run on its own seeds, with the transport in the place of the one that it was found in. The
    last line on standard output is the path of a page.

    \b
      rogue weaknesses --transport mine --plugin mine.py
      rogue weaknesses results/mine-search/20261120T101500Z-3f9a1c/find.yml --testbed kernel
    """
    from rogue.harness.commands.weaknesses import WeaknessesOptions, run_weaknesses

    options = WeaknessesOptions(
        finds=tuple(finds or ()), transport=transport, settings=tuple(settings or ()),
        arguments=tuple(sys.argv[1:]), testbed=testbed, out=out, jobs=jobs, plugins=tuple(plugins or ()),
        trusts_inventory=trusts_inventory,
    )  # fmt: skip
    return run_weaknesses(options)
