"""Build reports and export tables, captures and timelines."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rogue.harness.commands import completion
from rogue.harness.commands.call_again import call_again
from rogue.harness.commands.opening import open_runs
from rogue.harness.commands.options import AcceptsDamage, Plugins, TrustsPlugins
from rogue.harness.commands.runs import update_index_of
from rogue.harness.errors import BusyRunError, ExitCode
from rogue.harness.terminal import CountDisplay, notify
from rogue.workloads.printable import printable
from rogue.workloads.records import CellStatus

if TYPE_CHECKING:
    from rogue.workloads.manifest import Manifest


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Directories of runs.", autocompletion=completion.runs),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the page goes instead.", dir_okay=False)
    ] = None,
    plugins: Plugins = None,
    trusts_plugins: TrustsPlugins = False,
    accepts_damage: AcceptsDamage = False,
) -> ExitCode:
    """Build report.html again, for one run or for several together.

    The report of several runs stands in a directory of its own, below results/reports; that of a run that
    is still going stands beside the run, and has the cells that are finished.

    \b
      rogue report results/quickstart/20261120T101500Z-3f9a1c
      rogue report results/quickstart/* --out both.html
    """
    from rogue.harness.plugins.trust import Trust
    from rogue.harness.results.run_directory import partial_report

    trust = Trust(tuple(plugins or ()), trusts_plugins)
    open_runs(runs, trust, accepts_damage=accepts_damage)
    with ExitStack() as locks:
        going = _lock(runs, locks)
        if going and out is None and len(runs) == 1:
            out = partial_report(runs[0])
        path = try_to_report(runs, out, going)
    if path is None:
        return ExitCode.REPORT_FAILED
    for run, manifest in going.items():
        _tell_of(run, manifest)
    typer.echo(path)
    return ExitCode.OK


TRACEBACK: Final = "report-error.txt"
REPORT_FILES: Final = ("claims.json", "report.html", TRACEBACK)
"""All that a report adds to a run. A report over several stands in a directory of its own."""

Going = Mapping[Path, "Manifest"]
"""Runs that another process works on, with what they have so far; nothing is written into them."""


def _lock(runs: Sequence[Path], locks: ExitStack) -> dict[Path, Manifest]:
    """Lock each run once; return the runs in progress. Another report holds the lock of a finished run."""
    from rogue.harness.results.run_directory import locked

    going: dict[Path, Manifest] = {}
    taken: set[Path] = set()
    for run in runs:
        if run.resolve() in taken:
            continue
        try:
            locks.enter_context(locked(run.resolve()))
            taken.add(run.resolve())
        except BusyRunError:
            from rogue.harness.results.recorded_run import present_manifest

            going[run] = present_manifest(run)
            if going[run].status == "complete":
                raise
    return going


def _tell_of(run: Path, manifest: Manifest) -> None:
    finished = sum(cell.status is CellStatus.OK for cell in manifest.cells)
    text = (
        f"{run}: another process works on this run; the report has {finished} of {len(manifest.cells)} cells"
    )
    notify(f"{text}. To follow it: {call_again('watch', run)}")


def try_to_report(runs: Sequence[Path], out: Path | None = None, going: Going | None = None) -> Path | None:
    """Build a report; a failure costs a message and leaves the traceback in the first run, never a result.

    The caller holds the locks of all runs that are not going.
    """
    from rogue.harness.results.run_directory import partial_report

    still = [run for run in runs if run not in (going or {})]
    result: list[str] = []
    try:
        from rogue.reports.pages.build import build

        with CountDisplay(sys.stderr) as counted:
            path = build(runs[0] if len(runs) == 1 else runs, out, going, counted, result.append)
    except (Exception, SystemExit) as error:
        _tell_failure(runs, still, error)
        path = None
    else:
        for run in still[:1]:
            (run / TRACEBACK).unlink(missing_ok=True)
        for sentence in result:
            typer.echo(printable(sentence), err=True)
    for run in still:
        note_report_files(run)
        partial_report(run).unlink(missing_ok=True)
    update_index_of(runs)
    return path


def _tell_failure(runs: Sequence[Path], still: Sequence[Path], error: BaseException) -> None:
    from rogue.harness.plugins.loading import plugin_sentence
    from rogue.harness.results.files import write_whole

    where = ""
    for run in still[:1]:
        write_whole(run / TRACEBACK, "".join(traceback.format_exception(error)).encode("utf-8", "replace"))
        where = f"; see {run / TRACEBACK}"
    again = call_again("report", *runs)
    what = plugin_sentence(error) or f"{type(error).__name__}: {error}"
    text = f"the results are stored, but the report failed ({what}){where}"
    notify(f"{text}; to try again: {again}")


def note_report_files(run: Path) -> None:
    """Put the files that a report adds to a run into its manifest."""
    from rogue.harness.results.manifest import read_manifest, write_manifest
    from rogue.reports.reading.files import checksum

    manifest = read_manifest(run)
    others = {path: digest for path, digest in manifest.files.items() if path not in REPORT_FILES}
    added = {name: checksum(run / name) for name in REPORT_FILES if (run / name).is_file()}
    manifest.files = {**others, **added}
    write_manifest(run, manifest)
