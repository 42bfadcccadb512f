"""Read the command line, call a command, and turn errors into messages and exit codes."""

import errno
import logging
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer.core import TyperGroup

from rogue.harness.errors import ExitCode, HarnessError
from rogue.harness.limits import limit_reading
from rogue.harness.streams import keep_standard_streams
from rogue.harness.terminal import notify, set_verbosity
from rogue.remote.errors import NodeError
from rogue.start_up import prepare

if TYPE_CHECKING:
    from typer._click.core import Command, Context, Parameter
    from typer._click.formatting import HelpFormatter

_SHORT: Final = ("failed to map segment", "cannot allocate memory", "Cannot allocate memory", "new thread")
_READS_RUNS: Final = frozenset({"claims", "compare", "export", "figures", "list", "report", "verify"})
"""Commands under limits of memory and time; `watch` lasts as long as its run."""
_HELP: Final = "NoArgsIsHelpError"
"""The error of Typer, which does not export it, for a group that is called without a command."""

PANELS: Final = {
    "Run": {
        "run": ("run:run", "Run an experiment, store what it measures and build the report."),
        "plan": ("plan:plan", "Print the cells of an experiment and the expected time; run nothing."),
        "watch": ("watch:watch", "Show a run in progress as a page on this computer."),
        "search": ("search:search", "Find values at which a measure is worst; confirm them on new seeds."),
        "sensitivity": ("search:sensitivity", "Print which keys of an experiment move a measure or a claim."),
        "weaknesses": ("search:weaknesses", "Print which known weaknesses a transport shares."),
        "reproduce": ("reproduce:reproduce", "Run all experiments of a paper, and write the claims board."),
    },
    "Look at results": {
        "list": ("list:list_", "List what an experiment file can name, with its parameters; or runs."),
        "show": ("show:show", "Print the file of an experiment."),
        "report": ("report:report", "Build report.html again, for one run or for several together."),
        "figures": ("export:figures", "Write a run's figures for a paper, with their data and captions."),
        "export": ("export:export", "Write a run's tables, packets or timelines for other programs."),
        "verify": ("verify:verify", "Compare every file of runs with the checksums in their manifests."),
        "rm": ("runs:rm", "Delete runs, or reports over several, for good."),
    },
    "Compare": {
        "compare": ("report:compare", "Print how two runs differ, and whether that is more than chance."),
        "gate": ("gate:gate", "Fail if a run is worse than its baseline, or a control has a new weakness."),
        "conformance": ("conformance:conformance", "Test how NICs react to one lost, marked or late packet."),
        "claims": ("claims:claims", "Compare all runs with all claims, and write the claims board."),
    },
    "Machines": {
        "testbed": ("testbed:app", "Start and stop virtual machines; build the kernel testbed."),
        "inventory": ("inventory:app", "Print and check the files that list nodes and their SSH access."),
        "provision": ("provision:provision", "Install and set up what experiments need on nodes."),
        "doctor": ("doctor:doctor", "Check whether nodes can measure, and print what prevents it."),
        "teardown": ("provision:teardown", "Restore what provisioning changed on nodes."),
        "switch": ("switch:app", "Plan, set, read back and undo the settings of hardware switches."),
    },
    "Extend": {
        "new": ("plugins:new", "Write an experiment, or a plug-in and its test, to start from."),
        "check-plugin": ("plugins:check_plugin", "Test a plug-in with the contract of its kind."),
        "import": ("plugins:import_", "Convert a file of another simulator to a trace or a network."),
    },
}
"""Commands in the order of the help: a module of `rogue.harness.commands` with a function, or with a Typer
app that has subcommands, and the first line of the command's help. Only the module of the command that is
called, or whose arguments a shell completes, is imported."""
COMMANDS: Final = {name: entry for commands in PANELS.values() for name, entry in commands.items()}
SYNONYMS: Final = {
    "cat": "show", "clean": "rm", "create": "new", "delete": "rm", "diff": "compare", "draw": "figures",
    "exec": "run", "execute": "run", "init": "new", "install": "provision", "ls": "list", "open": "report",
    "plot": "figures", "remove": "rm", "resume": "run --resume", "runs": "list runs", "setup": "provision",
    "start": "run", "status": "list runs", "validate": "plan", "view": "report",
}  # fmt: skip
"""Commands of other programs, and ours with that meaning."""


class _Commands(TyperGroup):
    """The commands of `rogue`, whose errors become messages before Typer turns them into an exit code."""

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write the commands in groups, each with its whole description."""
        for panel, commands in PANELS.items():
            with formatter.section(panel):
                formatter.write_dl([(name, text) for name, (_, text) in commands.items()])

    def resolve_command(
        self, ctx: "Context", args: list[str]
    ) -> "tuple[str | None, Command | None, list[str]]":
        """Import the command that is called; until then it has a name and a line of help alone."""
        if args and args[0] in SYNONYMS:
            ctx.fail(f"No such command {args[0]!r}. Did you mean '{SYNONYMS[args[0]]}'?")
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None:
            command = _import_command(name)
            _add_options(command, [each for each in self.params if each.name in ("verbose", "quiet")])
        return name, command, rest

    def invoke(self, ctx: "Context") -> object:
        """Call a command, and explain errors that Typer would take for a broken pipe, an abort or an exit."""
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


def _add_options(command: "Command", options: "Sequence[Parameter]") -> None:
    """Accept options of `rogue` after a command, and after each of its subcommands."""
    for option in map(copy, options):
        option.expose_value = False
        command.params.append(option)
    for subcommand in command.commands.values() if isinstance(command, TyperGroup) else ():
        _add_options(subcommand, options)


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


def _log(wanted: bool) -> None:
    if wanted:
        set_verbosity(logging.DEBUG)


def _silence(wanted: bool) -> None:
    if wanted:
        set_verbosity(logging.WARNING)


@app.callback()
def rogue(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", callback=_log, help="Also print what is read, loaded and sent."),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", callback=_silence, help="Print results and errors alone.")
    ] = False,
) -> None:
    """Check claims about RDMA congestion control: one experiment file, any testbed.

    \b
    Plan an experiment, run it, and build its report again:
      rogue plan experiments/quickstart.yaml
      rogue run experiments/quickstart.yaml
      rogue report latest

    \b
    Exit codes: 0 done; 1 a cell failed; 2 wrong command or experiment, nothing written;
    3 results without a report; 4 nothing can run on this testbed; 5 damaged run;
    6 results or standard output cannot be written; 7 machines of a testbed fail; 8 too little memory;
    9 a regression; 70 a bug of ours; 130 Ctrl-C; 143 ended by the system.
    """


for _name, (_, _help) in COMMANDS.items():
    app.command(_name, help=_help)(lambda: None)


def main() -> None:
    """Entry point of `rogue`."""
    output = keep_standard_streams()
    prepare()
    command = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    if command in _READS_RUNS:
        limit_reading()
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # those of libraries are for programmers
    code = run_guarded(_call)
    sys.exit(code or run_guarded(output.check))


def _call() -> object:
    try:
        return app(sys.argv[1:], prog_name="rogue", standalone_mode=False)
    except SystemExit as ended:  # Typer completed words for a shell, or installed the completion
        return ended.code


def run_guarded(command: Callable[[], object]) -> ExitCode:
    """Call a command; an error becomes a message on standard error and an exit code."""
    try:
        code = command()
    except BaseException as error:  # a plug-in may raise SystemExit
        return _failed(error)
    return ExitCode(code) if isinstance(code, int) else ExitCode.OK


def _failed(error: BaseException) -> ExitCode:
    """Print what went wrong; return the exit code."""
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
            advice = "end other programs, run less at once, or raise the limit (`ulimit -v`)"
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
    """Return the message of wrong arguments, and the command whose help explains them."""
    context = getattr(error, "ctx", None)
    command = "rogue" if context is None else context.command_path
    message = error.format_message()
    end = "" if message.endswith((".", "?")) else "."
    return f"{message}{end} See `{command} --help`."


def _plugin_sentence(error: BaseException) -> str | None:
    from rogue.harness.plugins.loading import plugin_sentence  # takes long to import

    return plugin_sentence(error)


def _is_no_path(error: ValueError) -> bool:
    """True if two hosts of a plug-in's topology are not joined."""
    from rogue.workloads.topologies.shortest_paths import NoPathError  # takes long to import

    return isinstance(error, NoPathError)


def _is_lack_of_memory(error: BaseException) -> bool:
    """True if an error or a cause of it is a lack of memory; the loader of libraries has words alone."""
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
