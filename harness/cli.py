"""The command line: reads arguments, calls a command, turns errors into messages and exit codes."""

import errno
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer.core import TyperGroup

from rogue.harness.errors import ExitCode, HarnessError
from rogue.harness.limits import limit_reading
from rogue.harness.streams import keep_standard_streams
from rogue.harness.terminal import notify
from rogue.remote.errors import NodeError
from rogue.start_up import prepare

if TYPE_CHECKING:
    from typer._click.core import Command, Context

_SHORT: Final = ("failed to map segment", "cannot allocate memory", "Cannot allocate memory", "new thread")
_READS_RUNS: Final = frozenset({"claims", "compare", "export", "figures", "list", "report", "verify"})
"""Commands under limits of memory and time; `watch` lasts as long as its run."""
_HELP: Final = "NoArgsIsHelpError"
"""What typer raises for a group that is called without a command; it exports no such name."""


COMMANDS: Final = {
    "run": ("run:run", "Run an experiment, store what it measures and build the report."),
    "plan": (
        "plan:plan",
        "Print the cells of an experiment, what cannot run and why, and the expected time; run nothing.",
    ),
    "search": (
        "search:search",
        "Look for values at which a measure is worst, and keep the simplest that hold on other seeds.",
    ),
    "sensitivity": (
        "sensitivity:sensitivity",
        "Print which keys of an experiment move a measure or a claim, and what turns the claim.",
    ),
    "weaknesses": (
        "weaknesses:weaknesses",
        "Print which known weaknesses a transport shares, or whether a finding holds on another testbed.",
    ),
    "report": ("report:report", "Build report.html again, for one run or for several together."),
    "compare": (
        "compare:compare",
        "Say how two runs differ, measure by measure, and whether that is more than chance.",
    ),
    "export": (
        "export:export",
        "Write a run's tables and measures as CSV files, in base units, into a directory beside the run.",
    ),
    "figures": (
        "figures:figures",
        "Write a run's figures for a paper: as PDF, SVG, PNG, with their data and captions, beside the run.",
    ),
    "verify": ("verify:verify", "Compare every file of runs with the checksums in their manifests."),
    "list": (
        "list:list_",
        "List what an experiment file can name, with its parameters; or the runs that are there.",
    ),
    "provision": (
        "provision:provision",
        "Bring every node of an inventory into the state that experiments need.",
    ),
    "doctor": (
        "doctor:doctor",
        "Look whether the nodes of an inventory can measure, and say what is in the way; change nothing.",
    ),
    "teardown": ("provision:teardown", "Put back what provisioning changed on the nodes of an inventory."),
    "tag": ("runs:tag", "Give a run tags, in place of those that it has, for the list of runs to show."),
    "rm": ("runs:rm", "Delete runs, or reports over several, without a way back."),
    "watch": (
        "watch:watch",
        "Show a run that is going as a page on this computer: cells, failures, time left, figures so far.",
    ),
    "claims": (
        "claims:claims",
        "Compare all runs with all claims, and write a page with the best evidence for each claim.",
    ),
    "reproduce": (
        "reproduce:reproduce",
        "Run the shipped experiments of a paper, or of all, and write the claims board.",
    ),
    "new": ("plugins:new", "Write a plug-in to start from, with comments, and its test."),
    "check-plugin": (
        "plugins:check_plugin",
        "Try what a plug-in registers as everything that is shipped is tried, and say what is wrong.",
    ),
    "import": ("import_file:import_", "Make a trace or a network of a file of another simulator."),
    "testbed": (
        "testbed:app",
        "Virtual machines with soft-RoCE and a switch machine between them, for everyone without RDMA NICs.",
    ),
    "inventory": ("inventory:app", "Files that say which nodes there are, and how SSH reaches them."),
    "switch": (
        "switch:app",
        "What hardware switches mark and pause: plan it, set it, read it back, undo it.",
    ),
}
"""Commands in the order of the help: a module of `rogue.harness.commands` with a function, or with a Typer
app that has subcommands, and the first line of the command's help. Only the module of the command that is
called, or whose arguments a shell completes, is imported."""


class _Commands(TyperGroup):
    """The commands of `rogue`; some of their errors would make typer end the program with another code."""

    def resolve_command(
        self, ctx: "Context", args: list[str]
    ) -> "tuple[str | None, Command | None, list[str]]":
        """Import the command that is called; before that, it has a name and a line of help alone."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else _import_command(name), rest

    def invoke(self, ctx: "Context") -> object:
        """Call a command, and explain what typer would take for a broken pipe, an abort or an exit."""
        try:
            return super().invoke(ctx)
        except (SystemExit, KeyboardInterrupt, OSError, EOFError) as error:
            return _failed(error)
        except typer.Exit as error:  # our own commands leave by it after --help and --version
            if _plugin_sentence(error) is None:
                raise
            return _failed(error)


def _import_command(name: str) -> "Command":
    """Import the module of a command, and return the command."""
    module, _, attribute = COMMANDS[name][0].partition(":")
    found = getattr(import_module(f"rogue.harness.commands.{module}"), attribute)
    if isinstance(found, typer.Typer):
        group = found
    else:
        group = typer.Typer(add_completion=False, rich_markup_mode=None)
        group.command()(found)
    command = typer.main.get_command(group)
    command.name = name
    return command


app: Final = typer.Typer(
    name="rogue",
    cls=_Commands,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


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
    6 results or standard output cannot be written; 7 machines of a testbed fail; 8 too little memory;
    70 a bug of ours; 130 Ctrl-C; 143 ended by the system.
    """


for _name, (_, _help) in COMMANDS.items():
    app.command(_name, help=_help)(lambda: None)


def main() -> None:
    """Entry point of `rogue`."""
    output = keep_standard_streams()
    prepare()
    if _READS_RUNS.intersection(sys.argv[1:2]):
        limit_reading()
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # warnings of Python and its libraries are for programmers
    code = run_guarded(_call)
    sys.exit(code or run_guarded(output.check))


def _call() -> object:
    try:
        return app(sys.argv[1:], prog_name="rogue", standalone_mode=False)
    except SystemExit as ended:  # typer has completed words for a shell, or installed that
        return ended.code


def run_guarded(command: Callable[[], object]) -> ExitCode:
    """Call a command; an error becomes a message on standard error and an exit code."""
    try:
        code = command()
    except BaseException as error:  # a plug-in may raise what is no Exception
        return _failed(error)
    return ExitCode(code) if isinstance(code, int) else ExitCode.OK


def _failed(error: BaseException) -> ExitCode:
    """Say what went wrong; return the exit code."""
    if isinstance(error, typer.TyperException) and type(error).__name__ == _HELP:
        typer.echo(error.format_message(), err=True)
        return ExitCode.USAGE
    lines, code = _explain(error)
    notify(*lines)
    return code


def _explain(error: BaseException) -> tuple[Sequence[str], ExitCode]:
    explained: tuple[Sequence[str], ExitCode]
    match error:
        case HarnessError():
            explained = error.lines, error.exit_code
        case NodeError():
            explained = str(error).splitlines(), ExitCode.TESTBED
        case typer.TyperException():
            explained = [_usage_sentence(error)], ExitCode.USAGE
        case KeyboardInterrupt():
            explained = ["stopped by Ctrl-C."], ExitCode.INTERRUPTED
        case _ if _is_lack_of_memory(error):
            advice = "end other programs, ask for less at once, or raise the limit (`ulimit -v`)"
            explained = [f"this process could get no more memory; {advice}."], ExitCode.MEMORY
        case ValueError() if _is_no_path(error):
            explained = [f"{error}."], ExitCode.USAGE
        case _ if (sentence := _plugin_sentence(error)) is not None:
            explained = [f"{sentence}."], ExitCode.USAGE
        case OSError():
            explained = [f"{error.filename or 'the run'}: {error.strerror or error}."], ExitCode.STORAGE
        case _:
            traceback.print_exception(error)
            explained = ["this is a bug of rogue; please report the lines above."], ExitCode.BUG
    return explained


def _usage_sentence(error: typer.TyperException) -> str:
    """Return what typer says of wrong arguments, and the help of the command that they are for."""
    context = getattr(error, "ctx", None)
    command = "rogue" if context is None else context.command_path
    message = error.format_message()
    end = "" if message.endswith((".", "?")) else "."
    return f"{message}{end} `{command} --help` shows how."


def _plugin_sentence(error: BaseException) -> str | None:
    from rogue.harness.plugins.loading import plugin_sentence  # only here, for the same reason as below

    return plugin_sentence(error)


def _is_no_path(error: ValueError) -> bool:
    """Two hosts of a topology that a plug-in brought are not joined."""
    from rogue.workloads.topologies.shortest_paths import (
        NoPathError,  # only here, for importing it takes as long as a short command
    )

    return isinstance(error, NoPathError)


def _is_lack_of_memory(error: BaseException) -> bool:
    """It failed for want of memory, or because something did; the loader of libraries has words alone."""
    return any(
        isinstance(each, MemoryError)
        or (isinstance(each, OSError) and each.errno == errno.ENOMEM)
        or (isinstance(each, ImportError | RuntimeError) and any(words in str(each) for words in _SHORT))
        for each in _chain(error)
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
