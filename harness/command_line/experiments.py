"""`rogue run`, `rogue plan`, `rogue list`: their arguments and their help."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from rogue.harness.command_line import completion
from rogue.harness.errors import ExitCode, UsageError

Experiment = Annotated[
    str,
    typer.Argument(
        help="File of the experiment, or the name of one in experiments/.",
        autocompletion=completion.experiments,
    ),
]
OptionalExperiment = Annotated[
    str,
    typer.Argument(
        help="File or name of the experiment; left out with --resume.",
        autocompletion=completion.experiments,
    ),
]
TestbedName = Annotated[
    str, typer.Option("--testbed", help="Where to run it.", autocompletion=completion.testbeds)
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change the experiment, e.g. workload.senders=4; repeatable."
    ),
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, max=1024, help="Cells at once; by default one per core.")
]
ResumedRun = Annotated[
    Path | None,
    typer.Option(
        metavar="RUN",
        help="Go on with a run that was stopped; on nodes with --testbed.",
        autocompletion=completion.runs,
    ),
]
Plugins = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        metavar="FILE",
        help="Load a plug-in (Python, or a control of NICs or of switches in C++); repeatable.",
        dir_okay=False,
    ),
]
TrustsPlugins = Annotated[
    bool,
    typer.Option("--trust-plugins", help="Run the code that a run keeps; read it in manifest.json first."),
]
TrustsInventory = Annotated[
    bool, typer.Option("--trust-inventory", help="Run the inventory if it is a program; read it first.")
]
Out = Annotated[
    Path | None,
    typer.Option(help="Directory in which the run's directory is made.", show_default="results"),
]
OnlyFailed = Annotated[bool, typer.Option("--only-failed", help="With --resume: only what failed.")]
Dask = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Run cells on the workers of this Dask scheduler.")
]
IsLive = Annotated[
    bool, typer.Option("--live", help="Show it as a page on this computer; the address is printed.")
]
AllowsLong = Annotated[
    bool, typer.Option("--allow-long", help="Run it even if it should take over a day, or over 20 GB.")
]


def run(  # noqa: PLR0913  (one parameter per option)
    experiment: OptionalExperiment = "",
    testbed: TestbedName = "simulator",
    out: Out = None,
    settings: Settings = None,
    jobs: Jobs = None,
    resume: ResumedRun = None,
    only_failed: OnlyFailed = False,
    only_cell: Annotated[str | None, typer.Option(metavar="ID", help="Run one cell of the plan.")] = None,
    dask: Dask = None,
    is_live: IsLive = False,
    plugins: Plugins = None,
    trusts_plugins: TrustsPlugins = False,
    is_long_meant: AllowsLong = False,
    trusts_inventory: TrustsInventory = False,
) -> ExitCode:
    """Run an experiment, store what it measures and build the report.

    The last line on standard output is the run's directory; everything else goes to standard error.

    \b
      rogue run experiments/quickstart.yaml
      rogue run quickstart --set workload.senders=4 --set repetitions=1
      rogue run --resume results/quickstart/20261120T101500Z-3f9a1c
    """
    from rogue.harness.commands.experiments import load_named

    # Before what runs it is imported: a wrong experiment is told at once.
    files = tuple(plugins or ())
    loaded = load_named(experiment, tuple(settings or ()), files) if experiment and resume is None else None
    from rogue.harness.commands.run import RunOptions, run_experiment
    from rogue.harness.plugins.trust import Trust

    options = RunOptions(
        experiment, loaded, testbed, out, tuple(settings or ()), jobs, resume, only_failed, only_cell, dask,
        is_live, tuple(sys.argv[1:]), is_long_meant, Trust(files, trusts_plugins), trusts_inventory,
    )  # fmt: skip
    return run_experiment(options)


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
    from rogue.harness.commands.experiments import load_named

    loaded = load_named(experiment, tuple(settings or ()), tuple(plugins or ()))
    from rogue.harness.commands.experiments import print_plan
    from rogue.harness.provisioning.named_inventory import NamedInventory

    return print_plan(loaded, NamedInventory(testbed, trusts_inventory), jobs)


def list_(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="transports, controls, switch-controls, receiver-controls, estimators, workloads, sizes, "
            "topologies, faults, probes, experiments, spaces, measures, formats, figures or runs.",
            autocompletion=completion.lists,
            show_default=False,
        ),
    ] = "",
    directory: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="Where the runs are.", show_default="results"),
    ] = None,
    experiment: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of the runs only those of this experiment.")
    ] = None,
    plugins: Plugins = None,
) -> ExitCode:
    """List what an experiment file can name, with its parameters; or the runs that are there.

    \b
      rogue list workloads
      rogue list runs
      rogue list runs elsewhere --experiment quickstart
    """
    if what == "runs":
        from rogue.harness.commands.listing import print_runs

        return print_runs(directory, experiment)
    if directory is not None or experiment is not None:
        got = "a directory or --experiment"
        raise UsageError(f"list {what}: got {got}, expected neither; `rogue list runs` takes them.")
    from rogue.harness.commands.listing import print_list

    return print_list(what, tuple(plugins or ()))
