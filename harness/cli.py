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
    "run": "run:run",
    "plan": "plan:plan",
    "search": "search:search",
    "sensitivity": "sensitivity:sensitivity",
    "weaknesses": "weaknesses:weaknesses",
    "report": "report:report",
    "compare": "compare:compare",
    "export": "export:export",
    "figures": "figures:figures",
    "verify": "verify:verify",
    "list": "list:list_",
    "provision": "provision:provision",
    "doctor": "doctor:doctor",
    "teardown": "provision:teardown",
    "tag": "runs:tag",
    "rm": "runs:rm",
    "watch": "watch:watch",
    "claims": "claims:claims",
    "reproduce": "reproduce:reproduce",
    "new": "plugins:new",
    "check-plugin": "plugins:check_plugin",
    "import": "import_file:import_",
    "testbed": "testbed:app",
    "inventory": "inventory:app",
    "switch": "switch:app",
}
"""Commands in the order of the help, each with a module of `rogue.harness.commands` and, in it, a function
or a Typer app with subcommands. A module is imported when its command is looked up."""


class _Commands(TyperGroup):
    """The commands of `rogue`; some of their errors would make typer end the program with another code."""

    def list_commands(self, ctx: "Context") -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: "Context", cmd_name: str) -> "Command | None":
        """Import a command, as Click's documentation of lazy subcommands shows; None for an unknown name."""
        if cmd_name in COMMANDS:
            return _import_command(cmd_name)
        self.commands = {name: _import_command(name) for name in COMMANDS}  # Typer suggests one of them
        return None

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
    module, _, attribute = COMMANDS[name].partition(":")
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
