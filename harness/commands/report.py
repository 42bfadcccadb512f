"""Build reports and export tables, captures and timelines."""

import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from rogue.harness.commands.manage_runs import update_index_of
from rogue.harness.commands.opening import open_runs
from rogue.harness.errors import BusyRunError, ExitCode, UsageError
from rogue.harness.plugins.loading import plugin_sentence
from rogue.harness.plugins.trust import NOBODY, Trust
from rogue.harness.results.files import write_whole
from rogue.harness.results.manifest import read_manifest, write_manifest
from rogue.harness.results.run_directory import locked, partial_report
from rogue.harness.terminal import CountDisplay, call_again, notify
from rogue.reports.reading.files import checksum
from rogue.workloads.manifest import Manifest
from rogue.workloads.printable import printable
from rogue.workloads.records import CellStatus

if TYPE_CHECKING:
    from rogue.reports.results import Results

TRACEBACK: Final = "report-error.txt"
REPORT_FILES: Final = ("claims.json", "report.html", TRACEBACK)
"""All that a report adds to a run. A report over several stands in a directory of its own."""

Going = Mapping[Path, Manifest]
"""Runs that another process works on, with what they have so far; nothing is written into them."""


def build_report(
    runs: Sequence[Path], out: Path | None = None, trust: Trust = NOBODY, *, accepts_damage: bool = False
) -> ExitCode:
    """Build the report of one or several runs, and print where it is."""
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


def _lock(runs: Sequence[Path], locks: ExitStack) -> dict[Path, Manifest]:
    """Lock each run once; return the runs in progress. Another report holds the lock of a finished run."""
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
    manifest = read_manifest(run)
    others = {path: digest for path, digest in manifest.files.items() if path not in REPORT_FILES}
    added = {name: checksum(run / name) for name in REPORT_FILES if (run / name).is_file()}
    manifest.files = {**others, **added}
    write_manifest(run, manifest)


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What `rogue export` was asked for: tables as CSV, or a file of one of the kinds for each cell."""

    run: Path
    kinds: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    out: Path | None = None
    trust: Trust = NOBODY
    accepts_damage: bool = False


def export_run(options: ExportOptions) -> ExitCode:
    """Write files beside a run, or where `out` says; the run itself stays as it is."""
    kinds = options.kinds
    if len(kinds) > 1:
        got = " and ".join(f"--{kind}" for kind in kinds)
        raise UsageError(f"export: got {got}, expected one of them; call it once for each.")
    if options.cells and not kinds:
        raise UsageError("export: got --cell alone, expected --pcap or --timeline with it; add one.")
    directory = _new_directory(options)
    from rogue.reports.reading.load import Run
    from rogue.reports.results import Results

    results = Results(Run(options.run))
    return _write_cells(results, options, directory) if kinds else _write_tables(results, directory)


def _new_directory(options: ExportOptions) -> Path:
    """Where the files go: a directory that is not there yet."""
    (manifest,) = open_runs([options.run], options.trust, accepts_damage=options.accepts_damage)
    suffix = (*options.kinds, "csv")[0]
    directory = options.out or options.run.resolve().with_name(f"{manifest.run_id}-{suffix}")
    if directory.exists():
        raise UsageError(
            f"export: {directory} is there already, expected a new directory; name one with --out."
        )
    return directory


def _write_tables(results: "Results", directory: Path) -> ExitCode:
    from rogue.reports.export.csv_files import export

    names = export(results, directory)
    return _say(results.run.problems, names, directory)


def _write_cells(results: "Results", options: ExportOptions, directory: Path) -> ExitCode:
    """A capture of each cell's packets, or a timeline."""
    from rogue.reports.errors import ReportError
    from rogue.reports.export.cell_files import write_cell_files

    try:
        names, notes = write_cell_files(results, options.kinds[0], directory, options.cells)
    except ReportError as error:
        raise UsageError(f"export: {error}.") from error
    return _say([*results.run.problems, *notes], names, directory)


def _say(problems: Sequence[str], names: Sequence[str], directory: Path) -> ExitCode:
    for problem in problems:
        notify(problem)
    typer.echo(printable(f"{len(names)} file{'s' * (len(names) != 1)}: {', '.join(names)}"), err=True)
    typer.echo(directory)
    return ExitCode.OK
