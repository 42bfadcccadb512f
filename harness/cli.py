"""The command line: reads arguments, calls a command, turns errors into messages and exit codes."""

import errno
import io
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Final

import typer

from rogue.harness.command_line import (
    claims,
    experiments,
    importing,
    inventory,
    nodes,
    plugins,
    runs,
    search,
    sensitivity,
    switch,
    testbed,
    weaknesses,
)
from rogue.harness.errors import HarnessError
from rogue.harness.exit_codes import ExitCode
from rogue.harness.leaving import leave
from rogue.harness.telling import tell
from rogue.remote.errors import NodeError
from rogue.start_up import prepare

_SHORT: Final = ("failed to map segment", "cannot allocate memory", "Cannot allocate memory", "new thread")
_HELP: Final = "NoArgsIsHelpError"
"""What typer raises for a group that is called without a command; it exports no such name."""
app: Final = typer.Typer(
    name="rogue",
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
    6 results cannot be written; 7 machines of a testbed fail; 8 too little memory; 70 a bug of ours;
    130 Ctrl-C; 143 ended by the system.
    """


for _command in (
    experiments.run,
    experiments.plan,
    search.search,
    sensitivity.sensitivity,
    weaknesses.weaknesses,
    runs.report,
    runs.compare,
    runs.export,
    runs.figures,
    runs.verify,
    runs.sign,
    experiments.list_,
    nodes.provision,
    nodes.doctor,
    nodes.teardown,
    runs.tag,
    runs.rm,
    runs.watch,
    claims.claims,
    claims.reproduce,
    plugins.new,
    plugins.check_plugin,
    importing.import_,
):
    app.command(_command.__name__.rstrip("_").replace("_", "-"))(_command)
app.add_typer(testbed.app, name="testbed")
app.add_typer(inventory.app, name="inventory")
app.add_typer(switch.app, name="switch")


def main() -> None:
    """Entry point of `rogue`."""
    prepare()
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # warnings of Python and its libraries are for programmers
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    leave(run_guarded(lambda: app(sys.argv[1:], prog_name="rogue", standalone_mode=False)))


def run_guarded(command: Callable[[], object]) -> ExitCode:
    """Call a command; an error becomes a message on standard error and an exit code."""
    try:
        code = command()
    except SystemExit:  # typer exits by itself in one case: whoever read our output has gone
        return ExitCode.OK
    except (Exception, KeyboardInterrupt) as error:
        if isinstance(error, typer.TyperException) and type(error).__name__ == _HELP:
            typer.echo(error.format_message(), err=True)
            return ExitCode.USAGE
        lines, failed = _explain(error)
        tell(*lines)
        return failed
    return ExitCode(code) if isinstance(code, int) else ExitCode.OK


def _explain(error: BaseException) -> tuple[Sequence[str], ExitCode]:
    explained: tuple[Sequence[str], ExitCode]
    match error:
        case HarnessError():
            explained = error.lines, error.exit_code
        case NodeError():
            explained = str(error).splitlines(), ExitCode.TESTBED
        case typer.TyperException():
            explained = [f"{error.format_message()} `rogue --help` shows how."], ExitCode.USAGE
        case KeyboardInterrupt():
            explained = ["stopped before anything ran."], ExitCode.INTERRUPTED
        case _ if _is_lack_of_memory(error):
            advice = "end other programs, ask for less at once, or raise the limit (`ulimit -v`)"
            explained = [f"this process could get no more memory; {advice}."], ExitCode.MEMORY
        case ValueError() if _is_no_path(error):
            explained = [f"{error}."], ExitCode.USAGE
        case OSError():
            explained = [f"{error.filename or 'the run'}: {error.strerror or error}."], ExitCode.STORAGE
        case _:
            traceback.print_exception(error)
            explained = ["this is a bug of rogue; please report the lines above."], ExitCode.BUG
    return explained


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
