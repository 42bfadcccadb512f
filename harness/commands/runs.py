"""`rogue rm`."""

from __future__ import annotations

import contextlib
import shutil
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from rogue.harness.commands.options import SpelledRunDirectories
from rogue.harness.errors import ExitCode, StoppedError, StorageError, UsageError
from rogue.harness.results.run_directory import (
    locked,
    partial_report,
)
from rogue.reports.quantities import size_text
from rogue.reports.reading.files import read_regular
from rogue.workloads.printable import parse_json, printable


def rm(
    runs: SpelledRunDirectories,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")] = False,
    is_dry: Annotated[bool, typer.Option("--dry-run", help="Print what would be deleted.")] = False,
) -> ExitCode:
    """Delete runs, or reports over several, for good.

    Prints what will be deleted, and asks. Takes no `latest`, experiment or beginning of an id. Refuses a run
    that a process works on, and a directory that is no run. After Ctrl-C the same command deletes the rest.

    \b
      rogue rm 20261120T101500Z-3f9a1c
      rogue rm results/quickstart/20261120T* --yes
    """
    doomed = {run.resolve(): _described(run) for run in runs}
    for run, line in doomed.items():
        with locked(run):
            typer.echo(printable(line), err=not is_dry)
    if is_dry:
        return ExitCode.OK
    if not yes:
        _ask(len(doomed))
    try:
        for run in doomed:
            _remove(run)
    except KeyboardInterrupt as stop:
        raise StoppedError("stopped; the same `rogue rm` deletes the rest.", stop) from stop
    return ExitCode.OK


_KEYS: Final = {"manifest.json": {"run_id", "cells", "experiment"}, "runs.json": {"schema", "runs"}}
"""Files that a run and a report over several have, and keys of them."""


def _ask(count: int) -> None:
    what = f"{count} director{'y' if count == 1 else 'ies'}"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"rm: got no terminal to ask on, expected --yes; add it to delete {what} for good.")
    if not typer.confirm(f"Delete {what} for good?", err=True):
        raise UsageError("rm: got no yes, so nothing was deleted.")


def _described(run: Path) -> str:
    """Return a line about a directory that rogue made, which may be damaged; UsageError for any other."""
    from rogue.reports.run_index import find_entries, is_run_name

    if run.is_symlink():
        raise UsageError(f"rm: {run} is a link, expected the directory of a run; name its target.")
    run = run.resolve()
    if not run.is_dir() or not (is_run_name(run.name) or _is_from_rogue(run)):
        got = "a directory that rogue did not write" if run.is_dir() else "no directory"
        raise UsageError(f"rm: {run}: got {got}, expected that of a run; `rogue list runs` names them.")
    entry = find_entries(run, lambda _: False)[0]
    size = size_text(entry.size_bytes).replace("\u202f", " ")
    return f"{entry.directory}: {entry.experiment or 'unknown'}, {entry.status}, {size}"


def _is_from_rogue(run: Path) -> bool:
    """True if a file of the directory has the keys of a manifest or of a report over several runs."""
    for name, keys in _KEYS.items():
        with contextlib.suppress(OSError, ValueError):
            content = parse_json(read_regular(run / name))
            if isinstance(content, dict) and keys <= set(content) and not (run / name).is_symlink():
                return True
    return False


def _remove(run: Path) -> None:
    try:
        with locked(run):
            shutil.rmtree(run)
        partial_report(run).unlink(missing_ok=True)
    except (OSError, RecursionError) as error:
        where, why = getattr(error, "filename", None) or run, getattr(error, "strerror", None) or error
        raise StorageError(f"rm: {where}: {why}; the rest of {run} is left.") from error
    with contextlib.suppress(OSError):  # other runs are there
        run.parent.rmdir()
