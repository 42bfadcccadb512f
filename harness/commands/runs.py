"""`rogue tag` and `rogue rm`, and the page that lists the runs of a results directory."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

from rogue.harness.commands.options import RunDirectory, SpelledRunDirectories
from rogue.harness.errors import ExitCode, StoppedError, StorageError, UsageError
from rogue.harness.results.manifest import read_manifest
from rogue.harness.results.run_directory import (
    is_locked,
    locked,
    partial_report,
    results_directory,
    takes_lock,
)
from rogue.harness.terminal import notify
from rogue.reports.errors import ReportError
from rogue.reports.quantities import size_text
from rogue.reports.reading.files import read_regular
from rogue.workloads.printable import parse_json, printable


def tag(
    run: RunDirectory,
    tags: Annotated[
        list[str] | None, typer.Argument(metavar="[TAG]...", help="Words; without any, all tags are removed.")
    ] = None,
) -> ExitCode:
    """Replace the tags of a run, which the list of runs shows.

    Tags are kept in tags.json in the directory of results; the run itself does not change.

    \b
      rogue tag quickstart submitted figure-3
    """
    from rogue.reports.index.run_files import write_tags

    manifest = read_manifest(run)
    place = results_directory(run, str(manifest.experiment.get("name")))
    if place is None:
        expected = "one below a directory of results, RESULTS/EXPERIMENT/RUN, which keeps the tags"
        raise UsageError(f"tag: got {run}, a run that was moved, expected {expected}; move it back.")
    try:
        write_tags(place, manifest.run_id, tags or [])
    except ReportError as error:
        raise UsageError(str(error)) from error
    update_index(place)
    return ExitCode.OK


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
    places = dict.fromkeys(run.parent.parent for run in doomed)
    try:
        for run in doomed:
            _remove(run)
    except KeyboardInterrupt as stop:
        raise StoppedError("stopped; the same `rogue rm` deletes the rest.", stop) from stop
    finally:
        for place in places:
            if (place / "index.html").exists():
                update_index(place)
    return ExitCode.OK


PATIENCE_SECONDS: Final = 5.0
"""Time that one process waits for another that writes the same page."""


def update_index_of(runs: Iterable[Path]) -> None:
    """Write the page of each results directory that has one of these runs."""
    places: dict[Path | None, None] = {}
    for run in runs:
        with contextlib.suppress(Exception):  # another message explains what is wrong with the run
            experiment = read_manifest(run).experiment.get("name")
            places[results_directory(run, str(experiment))] = None
    for place in places:
        if place is not None:
            update_index(place)


def update_index(results: Path) -> None:
    """Write the page of a results directory; print a message if that fails."""
    try:
        from rogue.reports.index import find_entries, write_index

        with _one_at_a_time(results):
            write_index(results, find_entries(results, is_locked))
    except Exception as error:
        notify(f"the list of runs was not written ({type(error).__name__}: {error})")


@contextlib.contextmanager
def _one_at_a_time(results: Path) -> Iterator[None]:
    """Let writers take turns, so that the newest page stays; wait for a few seconds at most."""
    descriptor = os.open(results, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            takes_lock(descriptor, fcntl.LOCK_EX, PATIENCE_SECONDS)
        yield
    finally:
        os.close(descriptor)


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
    from rogue.reports.index import find_entries
    from rogue.reports.index.run_entries import is_run_name

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
