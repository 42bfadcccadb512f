"""`rogue watch`, and the page of `rogue run --live`."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rogue.harness.commands.options import RunDirectory
from rogue.harness.errors import ExitCode, StoppedError, termination_as_interrupt
from rogue.harness.results.recorded_run import Run, present_manifest
from rogue.harness.results.run_directory import is_locked, read_manifest

if TYPE_CHECKING:
    from rogue.harness.execution.scheduler import Watcher
    from rogue.harness.live.run_page import RunState
    from rogue.harness.plan.plan import Plan

LOCK_POLL_SECONDS: Final = 1.0
CREATED: Final = "%Y-%m-%dT%H:%M:%SZ"


def watch(
    run: RunDirectory,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the page.", show_default="a free one")
    ] = 0,
) -> ExitCode:
    """Show a run in progress as a page on this computer.

    The page has cells, failures, the time left and the figures so far. The command prints its address. The
    page refreshes itself and ends as the report of the run; so does this command. Ctrl-C ends the page alone,
    because the run is only read. `rogue run --live` also shows the progress of each cell.

    \b
      rogue watch latest
      rogue watch quickstart --port 8642
    """
    from rogue.harness.live.run_page import RunPage

    read_manifest(run)
    if is_locked(run):
        try:
            with termination_as_interrupt(), RunPage(run, lambda: run_state_of(run), port) as page:
                typer.echo(page.url)
                while is_locked(run):
                    Event().wait(LOCK_POLL_SECONDS)
                page.over()
        except KeyboardInterrupt as stop:
            raise StoppedError(f"stopped watching {run}; the run continues.", stop) from stop
    typer.echo(_ended(run), err=True)
    return ExitCode.OK


def run_state_of(run: Path) -> RunState:
    """Return the state of a run that another process works on, from its files."""
    from rogue.harness.live.run_page import RunState

    manifest = present_manifest(run)
    begun = datetime.strptime(manifest.sessions[-1].created_utc, CREATED).replace(tzinfo=UTC)
    elapsed = (datetime.now(UTC) - begun).total_seconds()
    return RunState(manifest, None, max(0.0, elapsed), {})


def _ended(run: Path) -> str:
    """Return a sentence with the status of a run that no process works on."""
    manifest = read_manifest(run)
    report = run / "report.html"
    where = f"; its report: {report}" if report.is_file() else ""
    status = "was killed" if manifest.status == "running" else f"is {manifest.status}"
    return f"rogue: no process works on {run}: it {status}{where}"


@contextlib.contextmanager
def show_live(run: Run, plan: Plan) -> Iterator[Callable[[Watcher], Watcher]]:
    """Show a run of this process; yield a function that wraps another watcher."""
    from rogue.harness.live.run_page import LiveWatcher, RunPage, RunState

    running: dict[str, float] = {}
    started = time.monotonic()
    seconds = {each.cell.id: each.seconds for each in plan.runnable}

    def state() -> RunState:
        manifest = run.manifest.model_copy(update={"cells": list(run.manifest.cells)})
        return RunState(manifest, running.copy(), time.monotonic() - started, seconds)

    with RunPage(run.directory, state) as page:
        typer.echo(f"live: {page.url}", err=True)
        yield lambda watcher: LiveWatcher(watcher, running)
        with contextlib.suppress(KeyboardInterrupt), termination_as_interrupt():
            page.over()
