"""The command line: reads arguments, calls a command, turns errors into messages and exit codes."""

import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

import typer

from harness import claims_cli, completion, inventory_cli, node_cli, runs_cli, testbed_cli
from harness.errors import HarnessError, UsageError
from harness.exit_codes import ExitCode

app: Final = typer.Typer(
    name="rogue",
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

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
    typer.Option(metavar="RUN", help="Go on with a run that was stopped.", autocompletion=completion.runs),
]
IsLive = Annotated[
    bool, typer.Option("--live", help="Show it as a page on this computer; the address is printed.")
]
RunDirectory = Annotated[
    Path, typer.Argument(metavar="RUN", help="Directory of a run.", autocompletion=completion.runs)
]


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"rogue {version('rogue-testbed')}")
        raise typer.Exit


@app.callback()
def rogue(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Check claims about RDMA congestion control: one experiment file, any testbed.

    \b
    A first run, its plan, and what came of it:
      rogue plan experiments/quickstart.yaml
      rogue run experiments/quickstart.yaml
      rogue report results/quickstart/20261120T101500Z-3f9a1c

    \b
    Exit codes: 0 done; 1 a cell failed; 2 wrong command or experiment, nothing written;
    3 results without a report; 4 nothing can run on this testbed; 5 damaged run;
    6 results cannot be written; 7 machines of a testbed fail; 70 a bug of ours; 130 Ctrl-C;
    143 ended by the system.
    """


@app.command()
def run(  # noqa: PLR0913  (one parameter per option)
    experiment: OptionalExperiment = "",
    testbed: TestbedName = "simulator",
    out: Annotated[
        Path | None,
        typer.Option(help="Directory in which the run's directory is made.", show_default="results"),
    ] = None,
    settings: Settings = None,
    jobs: Jobs = None,
    resume: ResumedRun = None,
    only_failed: Annotated[
        bool, typer.Option("--only-failed", help="With --resume: only what failed.")
    ] = False,
    only_cell: Annotated[str | None, typer.Option(metavar="ID", help="Run one cell of the plan.")] = None,
    dask: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run cells on the workers of this Dask scheduler."),
    ] = None,
    is_live: IsLive = False,
) -> ExitCode:
    """Run an experiment, store what it measures and build the report.

    The last line on standard output is the run's directory; everything else goes to standard error.

    \b
      rogue run experiments/quickstart.yaml
      rogue run quickstart --set workload.senders=4 --set repetitions=1
      rogue run --resume results/quickstart/20261120T101500Z-3f9a1c
    """
    from harness.commands.experiments import load_named

    # Before what runs it is imported: a wrong experiment is told at once.
    loaded = load_named(experiment, tuple(settings or ())) if experiment and resume is None else None
    from harness.commands.run import RunOptions, run_experiment

    options = RunOptions(
        experiment,
        loaded,
        testbed,
        out,
        tuple(settings or ()),
        jobs,
        resume,
        only_failed,
        only_cell,
        dask,
        is_live,
        tuple(sys.argv[1:]),
    )
    return run_experiment(options)


@app.command()
def plan(
    experiment: Experiment, testbed: TestbedName = "simulator", settings: Settings = None, jobs: Jobs = None
) -> ExitCode:
    """Print the cells of an experiment, what cannot run and why, and the expected time; run nothing.

    \b
      rogue plan experiments/quickstart.yaml --set 'transports=[rogue]'
    """
    from harness.commands.experiments import load_named

    loaded = load_named(experiment, tuple(settings or ()))
    from harness.commands.plan import print_plan

    return print_plan(loaded, testbed, jobs)


@app.command()
def report(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Directories of runs.", autocompletion=completion.runs),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the page goes instead.", dir_okay=False)
    ] = None,
) -> ExitCode:
    """Build report.html again, for one run or for several together.

    The report of several runs stands in a directory of its own, below results/reports; that of a run that
    is still going stands beside the run, and has the cells that are finished.

    \b
      rogue report results/quickstart/20261120T101500Z-3f9a1c
      rogue report results/quickstart/* --out both.html
    """
    from harness.commands.report import build_report

    return build_report(runs, out)


@app.command()
def compare(
    run_a: Annotated[
        Path,
        typer.Argument(metavar="RUN_A", help="Directory of a run.", autocompletion=completion.runs),
    ],
    run_b: Annotated[
        Path,
        typer.Argument(metavar="RUN_B", help="Directory of another.", autocompletion=completion.runs),
    ],
    everything: Annotated[bool, typer.Option("--all", help="Also what does not differ.")] = False,
) -> ExitCode:
    """Say how two runs differ, measure by measure, and whether that is more than chance.

    Each repetition counts as one value. Runs differ if the Mann-Whitney test says so at 5 % and the
    bootstrap interval of the difference leaves zero out; "not enough runs" is an answer.

    \b
      rogue compare results/quickstart/20261120T101500Z-3f9a1c results/quickstart/20261121T093000Z-77d02e
    """
    from harness.commands.compare import compare_runs

    return compare_runs(run_a, run_b, everything=everything)


@app.command()
def export(
    run: RunDirectory,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A directory that is not there yet.")
    ] = None,
) -> ExitCode:
    """Write a run's tables and measures as CSV files, in base units, into a directory beside the run.

    The last line on standard output is that directory; columns.csv in it says what each column is.

    \b
      rogue export results/quickstart/20261120T101500Z-3f9a1c
    """
    from harness.commands.export import export_run

    return export_run(run, out)


@app.command()
def figures(  # noqa: PLR0913  (one parameter per option)
    run: RunDirectory,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="NAME",
            help="A name of `rogue list figures`; repeatable.",
            autocompletion=completion.figures,
        ),
    ] = None,
    formats: Annotated[str, typer.Option("--format", help="Some of these, with commas.")] = "pdf,svg,png,csv",
    width: Annotated[str, typer.Option(help="Width of each figure, in in, cm, mm or pt.")] = "3.3in",
    style: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A matplotlib style sheet, put over the report's look."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A directory that is not there yet.")
    ] = None,
) -> ExitCode:
    """Write a run's figures for a paper: as PDF, SVG, PNG, with their data and captions, beside the run.

    Fonts are embedded, text in SVG is outlined. NAME.csv has what is drawn; NAME.tex is a caption for LaTeX,
    NAME.txt the same as text. The last line on standard output is the directory.

    \b
      rogue figures results/quickstart/20261120T101500Z-3f9a1c
      rogue figures results/quickstart/20261120T101500Z-3f9a1c --only throughput --width 84mm --format pdf
    """
    from harness.commands.figures import FigureOptions, write_run_figures

    return write_run_figures(FigureOptions(run, tuple(only or ()), formats, width, style, out))


@app.command()
def verify(run: RunDirectory) -> ExitCode:
    """Compare every file of a run with the checksums in its manifest.

    \b
      rogue verify results/quickstart/20261120T101500Z-3f9a1c
    """
    from harness.commands.verify import verify_run

    return verify_run(run)


@app.command("list")
def list_(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="transports, workloads, topologies, faults, probes, experiments, figures or runs.",
            autocompletion=completion.lists,
        ),
    ],
    directory: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="Where the runs are.", show_default="results"),
    ] = None,
    experiment: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of the runs only those of this experiment.")
    ] = None,
) -> ExitCode:
    """List what an experiment file can name, with its parameters; or the runs that are there.

    \b
      rogue list workloads
      rogue list runs
      rogue list runs elsewhere --experiment quickstart
    """
    if what == "runs":
        from harness.commands.runs import print_runs

        return print_runs(directory, experiment)
    if directory is not None or experiment is not None:
        got = "a directory or --experiment"
        raise UsageError(f"list {what}: got {got}, expected neither; `rogue list runs` takes them.")
    from harness.commands.listing import print_list

    return print_list(what)


app.add_typer(testbed_cli.app, name="testbed")
app.add_typer(inventory_cli.app, name="inventory")
node_cli.register(app)
runs_cli.register(app)
claims_cli.register(app)


def main() -> None:
    """Entry point of `rogue`."""
    sys.exit(run_guarded(lambda: app(sys.argv[1:], prog_name="rogue", standalone_mode=False)))


def run_guarded(command: Callable[[], object]) -> ExitCode:
    """Call a command; whatever it raises becomes a message on standard error and an exit code."""
    try:
        code = command()
    except SystemExit:  # typer exits by itself in one case: whoever read our output has gone
        return ExitCode.OK
    except (Exception, KeyboardInterrupt) as error:
        message, failed = _explain(error)
        typer.echo(f"rogue: {message}", err=True)
        return failed
    return ExitCode(code) if isinstance(code, int) else ExitCode.OK


def _explain(error: BaseException) -> tuple[str, ExitCode]:
    match error:
        case HarnessError():
            explained = str(error), error.exit_code
        case typer.TyperException():
            explained = f"{error.format_message()} `rogue --help` shows how.", ExitCode.USAGE
        case KeyboardInterrupt():
            explained = "stopped before anything ran.", ExitCode.INTERRUPTED
        case OSError():
            explained = f"{error.filename or 'the run'}: {error.strerror or error}.", ExitCode.STORAGE
        case _:
            traceback.print_exception(error)
            explained = "this is a bug of rogue; please report the lines above.", ExitCode.BUG
    return explained
