"""Delete runs for `rogue rm`, after asking."""

import contextlib
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import typer

from rogue.harness.commands.manage_runs import update_index
from rogue.harness.errors import ExitCode, StoppedError, StorageError, UsageError
from rogue.harness.results.run_directory import locked, partial_report
from rogue.harness.terminal import notify
from rogue.reports.reading.files import read_regular
from rogue.workloads.json_text import parse_json
from rogue.workloads.manifest import MANIFEST
from rogue.workloads.printable import printable

DELETING_PREFIX: Final = ".deleting-"
"""A directory with such a name is no run any more; what is left of it goes with the next `rogue rm`."""


COMBINED: Final = "runs.json"


_KEYS: Final = {MANIFEST: {"run_id", "cells", "experiment"}, COMBINED: {"schema", "runs"}}


_RUN_NAME: Final = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{6}")


@dataclass(frozen=True, slots=True)
class _Doomed:
    """A directory that will be deleted, and what it is in a line."""

    directory: Path
    line: str


def remove_runs(runs: Sequence[Path], yes: bool) -> ExitCode:
    """Delete runs and reports over several, after asking; each is gone from sight before its files go."""
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
    if _RUN_NAME.fullmatch(run.name):
        return True
    try:
        content = parse_json(read_regular(run / mark))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and _KEYS[mark] <= set(content)


def _remove(run: Path) -> None:
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
