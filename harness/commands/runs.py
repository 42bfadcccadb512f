"""Keep the list of runs up to date, and tag runs."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from rogue.harness.commands import completion
from rogue.harness.errors import ExitCode, StoppedError, StorageError, UsageError
from rogue.harness.terminal import notify
from rogue.reports.errors import ReportError
from rogue.workloads.printable import printable


def tag(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Directory of the run.", autocompletion=completion.runs)
    ],
    tags: Annotated[
        list[str] | None, typer.Argument(metavar="[TAG]...", help="Words; without any it has none.")
    ] = None,
) -> ExitCode:
    """Give a run tags, in place of those that it has, for the list of runs to show.

    They stand in tags.json beside the runs of a results directory; the run stays as it is.

    \b
      rogue tag results/quickstart/20261120T101500Z-3f9a1c submitted figure-3
    """
    return tag_run(run, tags or [])


def rm(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Directories of runs.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")] = False,
) -> ExitCode:
    """Delete runs, or reports over several, without a way back.

    Says what will be deleted, and asks. A run that a process works on, and a directory that is no run, are
    refused. What Ctrl-C leaves is no run any more and goes with the next call.

    \b
      rogue rm results/quickstart/20261120T101500Z-3f9a1c
      rogue rm results/quickstart/20261120T* --yes
    """
    return remove_runs(runs, yes)


PATIENCE_SECONDS: Final = 5.0
"""For how long one process waits for another that writes the same page."""


def update_index_of(runs: Iterable[Path]) -> None:
    """Write the page of each results directory that has one of these runs."""
    from rogue.harness.results.manifest import read_manifest
    from rogue.harness.results.run_directory import results_directory

    places: dict[Path | None, None] = {}
    for run in runs:
        with contextlib.suppress(Exception):  # what is wrong with a run is told elsewhere
            experiment = read_manifest(run).experiment.get("name")
            places[results_directory(run, str(experiment))] = None
    for place in places:
        if place is not None:
            update_index(place)


def update_index(results: Path) -> None:
    """Write the page of a results directory; a failure costs a message and nothing else."""
    from rogue.harness.results.run_directory import is_locked

    try:
        from rogue.reports.index import find_entries, write_index

        with _one_at_a_time(results):
            write_index(results, find_entries(results, is_locked))
    except Exception as error:
        text = f"the list of runs was not written ({type(error).__name__}: {error})"
        notify(text)


@contextlib.contextmanager
def _one_at_a_time(results: Path) -> Iterator[None]:
    """Writers take turns, so that the newest page stays; one that hangs delays others for seconds only."""
    descriptor = os.open(results, os.O_RDONLY | os.O_DIRECTORY)
    try:
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.05)
            except OSError:  # a file system without locks
                break
        yield
    finally:
        os.close(descriptor)


def tag_run(run: Path, tags: Sequence[str]) -> ExitCode:
    """Note the tags of a run beside it, and write the list of runs anew."""
    from rogue.harness.results.manifest import read_manifest
    from rogue.harness.results.run_directory import results_directory
    from rogue.reports.index.tags import write_tags

    manifest = read_manifest(run)
    place = results_directory(run, str(manifest.experiment.get("name")))
    if place is None:
        expected = "one below a directory of results, RESULTS/EXPERIMENT/RUN, which is where tags are kept"
        raise UsageError(f"tag: got {run}, a run that was moved, expected {expected}; move it back.")
    try:
        write_tags(place, manifest.run_id, tags)
    except ReportError as error:
        raise UsageError(str(error)) from error
    update_index(place)
    return ExitCode.OK


DELETING_PREFIX: Final = ".deleting-"
"""A directory with such a name is no run any more; what is left of it goes with the next `rogue rm`."""


COMBINED: Final = "runs.json"


_KEYS: Final = {"manifest.json": {"run_id", "cells", "experiment"}, COMBINED: {"schema", "runs"}}


_RUN_NAME: Final = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{6}")


@dataclass(frozen=True, slots=True)
class _Doomed:
    """A directory that will be deleted, and what it is in a line."""

    directory: Path
    line: str


def remove_runs(runs: Sequence[Path], yes: bool) -> ExitCode:
    """Delete runs and reports over several, after asking; each is gone from sight before its files go."""
    from rogue.harness.results.run_directory import locked

    doomed = [_checked(run) for run in dict.fromkeys(_real(run) for run in runs)]
    for each in doomed:
        with locked(each.directory):
            typer.echo(printable(each.line), err=True)
    if not yes:
        _ask(doomed)
    places = dict.fromkeys(_results_of(each.directory) for each in doomed)
    try:
        for each in doomed:
            _remove(each.directory)
        for place in places:
            _finish_earlier(place)
    except KeyboardInterrupt as stop:
        text = "stopped; what is half deleted is no run any more and goes with the next `rogue rm`."
        raise StoppedError(text, stop) from stop
    finally:
        for place in places:
            if (place / "index.html").exists():
                update_index(place)
    return ExitCode.OK


def _ask(doomed: Sequence[_Doomed]) -> None:
    what = f"{len(doomed)} director{'y' if len(doomed) == 1 else 'ies'}"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"rm: got no terminal to ask on, expected --yes; add it to delete {what} for good.")
    if not typer.confirm(f"Delete {what} for good?", err=True):
        raise UsageError("rm: got no yes, so nothing was deleted.")


def _real(run: Path) -> Path:
    """Where a run stands; a link to a run is not the run."""
    if run.is_symlink():
        raise UsageError(f"rm: {run} is a link, expected the directory of a run; name what it leads to.")
    return run.resolve()


def _checked(run: Path) -> _Doomed:
    """Make sure that a directory is what rogue made, whole or damaged, and nothing else."""
    from rogue.workloads.manifest import MANIFEST

    marks = [name for name in _KEYS if (run / name).is_file() and not (run / name).is_symlink()]
    if not marks:
        got = "no directory" if not run.is_dir() else f"a directory without {MANIFEST}"
        raise UsageError(f"rm: {run}: got {got}, expected that of a run; `rogue list runs` names them.")
    if not _is_from_rogue(run, marks[0]):
        raise UsageError(
            f"rm: {run}: got a {marks[0]} that rogue did not write, expected a run; nothing was deleted."
        )
    from rogue.reports.index import find_entries

    entries = find_entries(run, lambda _: False)
    if not entries:
        raise UsageError(f"rm: {run}: got a directory that is no run; nothing was deleted.")
    from rogue.reports.quantities import size_text

    entry, size = entries[0], size_text(entries[0].size_bytes).replace("\u202f", " ")
    return _Doomed(run, f"{entry.directory}: {entry.experiment or 'unknown'}, {entry.status}, {size}")


def _is_from_rogue(run: Path, mark: str) -> bool:
    """Its name says so, or what stands in its manifest."""
    from rogue.reports.reading.files import read_regular
    from rogue.workloads.json_text import parse_json

    if _RUN_NAME.fullmatch(run.name):
        return True
    try:
        content = parse_json(read_regular(run / mark))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and _KEYS[mark] <= set(content)


def _remove(run: Path) -> None:
    from rogue.harness.results.run_directory import locked, partial_report

    hidden = run.with_name(f"{DELETING_PREFIX}{run.name}")
    try:
        _make_way(hidden)
        with locked(run):
            run.rename(hidden)
        partial_report(run).unlink(missing_ok=True)
        shutil.rmtree(hidden)
    except OSError as error:
        where = printable(str(error.filename or run))
        raise StorageError(
            f"rm: {where}: {error.strerror}; the rest of {printable(str(run))} is left."
        ) from error
    with contextlib.suppress(OSError):  # other runs are there
        run.parent.rmdir()


def _make_way(hidden: Path) -> None:
    """Delete what an earlier call had begun to, or what somebody else has put there; no link is followed."""
    if hidden.is_dir() and not hidden.is_symlink():
        shutil.rmtree(hidden)
    else:
        hidden.unlink(missing_ok=True)


def _results_of(run: Path) -> Path:
    """Where its index stands: beside the experiments, whatever the run says that it is."""
    return run.parent.parent


def _finish_earlier(results: Path) -> None:
    """Delete what an earlier call had begun to; what cannot be deleted is told and keeps nobody from work."""
    for leftover in _leftovers(results):
        try:
            shutil.rmtree(leftover)
        except OSError as error:
            notify(f"rm: {leftover}: {error.strerror}; it stays.")


def _leftovers(results: Path) -> Iterable[Path]:
    for leftover in results.glob(f"*/{DELETING_PREFIX}*"):
        name = leftover.name.removeprefix(DELETING_PREFIX)
        if _RUN_NAME.fullmatch(name) and leftover.is_dir() and not leftover.is_symlink():
            yield leftover
