"""`rogue rm`, `rogue watch`: what one does with runs besides making them; arguments and help."""

from pathlib import Path
from typing import Annotated

import typer

from harness.exit_codes import ExitCode


def rm(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Directories of runs.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")] = False,
) -> ExitCode:
    """Delete runs, or reports over several, for good.

    Says what will be deleted, and asks. A run that a process works on, and a directory that is no run, are
    refused. What Ctrl-C leaves is no run any more and goes with the next call.

    \b
      rogue rm results/quickstart/20261120T101500Z-3f9a1c
      rogue rm results/quickstart/20261120T* --yes
    """
    from harness.commands.remove import remove_runs

    return remove_runs(runs, yes)


def watch(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Directory of a run that is going.")],
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the page.", show_default="one that is free")
    ] = 0,
) -> ExitCode:
    """Show a run that is going as a page on this computer: cells, failures, time left, figures so far.

    Prints the address. The page fetches itself again; it ends with the run as its report, and so does this
    command. The run is only read: Ctrl-C ends the page, and the run goes on. `rogue run --live` shows
    the same from the start, and how far each cell is.

    \b
      rogue watch results/quickstart/20261120T101500Z-3f9a1c
      rogue watch results/quickstart/20261120T101500Z-3f9a1c --port 8642
    """
    from harness.commands.watch import watch_run

    return watch_run(run, port)


def register(app: typer.Typer) -> None:
    """Add these commands to `rogue`."""
    for command in (rm, watch):
        app.command()(command)
