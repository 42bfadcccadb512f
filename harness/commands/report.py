"""`rogue report` and `rogue compare`: pages about one run or several."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rogue.harness.commands.opening import open_runs
from rogue.harness.commands.options import (
    AcceptsDamage,
    AsJson,
    Margin,
    Plugins,
    RunDirectories,
    TrustsPlugins,
    run_argument,
)
from rogue.harness.errors import BusyRunError, ExitCode, UsageError
from rogue.harness.plugins.loading import plugin_sentence
from rogue.harness.plugins.trust import Trust
from rogue.harness.results.recorded_run import present_manifest
from rogue.harness.results.run_directory import (
    locked,
    partial_report,
    read_manifest,
    write_manifest,
    write_whole,
)
from rogue.harness.terminal import (
    CountDisplay,
    align,
    call_again,
    inform,
    notify,
    print_document,
    print_table,
)
from rogue.reports.quantities import counted
from rogue.reports.reading.files import CLAIMS, REPORT, checksum
from rogue.workloads.manifest import Manifest
from rogue.workloads.printable import printable
from rogue.workloads.records import CellStatus

if TYPE_CHECKING:
    from rogue.reports.pages.answer import Answered
    from rogue.reports.pages.tables import Value

TRACEBACK: Final = "report-error.txt"
REPORT_FILES: Final = (CLAIMS, REPORT, TRACEBACK)
"""All that a report adds to a run. A report over several runs has its own directory."""
BEST: Final = "*"
"""Marks in a terminal what is bold on the page."""
Going = Mapping[Path, "Manifest"]
"""Runs that another process works on, with what they have so far; nothing is written into them."""


def report(
    runs: RunDirectories,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the page to FILE.", dir_okay=False)
    ] = None,
    as_json: AsJson = False,
    plugins: Plugins = None,
    trusts_plugins: TrustsPlugins = False,
    accepts_damage: AcceptsDamage = False,
) -> ExitCode:
    """Build report.html again, for one run or for several together.

    The report of several runs gets a directory below results/reports. The report of a run in progress is
    written beside the run, and has the cells that are finished. --json prints the path of the page as
    `report`, and in `runs` the directory, the id and the judged claims of each run.

    \b
      rogue report latest
      rogue report results/quickstart/* --out both.html
    """
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
        finished = sum(cell.status is CellStatus.OK for cell in manifest.cells)
        text = f"another process works on this run; the report has {finished} of {len(manifest.cells)} cells"
        notify(f"{run}: {text}. To follow it: {call_again('watch', run)}")
    if as_json:
        print_document({"report": path, "runs": [_run_content(run) for run in runs]})
    else:
        typer.echo(path)
    return ExitCode.OK


def _run_content(run: Path) -> dict[str, object]:
    from rogue.reports.run_index import judged_outcomes

    claims = judged_outcomes(run / CLAIMS)
    return {"run": run, "run_id": read_manifest(run).run_id, "claims": claims}


def compare(
    run_a: Annotated[Path, run_argument(metavar="RUN_A")],
    run_b: Annotated[Path, run_argument(metavar="RUN_B")],
    margin: Margin = 0.05,
    everything: Annotated[
        bool, typer.Option("--all", help="Also print the measures that do not differ.")
    ] = False,
    packets: Annotated[
        bool, typer.Option("--packets", help="Print instead the first packet at which the runs part.")
    ] = False,
    as_json: AsJson = False,
    plugins: Plugins = None,
    trusts_plugins: TrustsPlugins = False,
    accepts_damage: AcceptsDamage = False,
) -> ExitCode:
    """Print how two runs differ, and whether that is more than chance.

    Each repetition counts as one value of a measure; equal seeds are compared in pairs. Runs differ if
    t-tests find more than the margin, and are equivalent if they find less; of the rows that differ on
    average at most 1 % do so by chance. "Not decided" and "not enough runs" are answers.
    --json prints all comparisons, with the values of each run in base units; infinite values are null.
    --packets compares the recorded packets of each flow by direction, kind, number and transmission.

    \b
      rogue compare 20261120T101500Z-3f9a1c quickstart
      rogue compare results/inside/A results/inside/B --packets
    """
    from rogue.reports.comparison import two_runs
    from rogue.reports.reading.load import Run
    from rogue.reports.results import Results

    open_runs([run_a, run_b], Trust(tuple(plugins or ()), trusts_plugins), accepts_damage=accepts_damage)
    if packets:
        return _compare_packets(run_a, run_b, as_json=as_json)
    results = Results(Run(run_a)), Results(Run(run_b))
    compared = two_runs.compare(*results, margin)
    for each in results:
        for problem in each.run.problems:
            notify(f"{each.run.directory}: {problem}")
    if not compared:
        expected = "two runs with a transport and factor point in common that finished in both"
        raise UsageError(f"compare: got {run_a} and {run_b}, expected {expected}.")
    apart, conclusions = two_runs.other_differences(*results), two_runs.conclusions(compared)
    if as_json:
        content = [each.content for each in compared]
        document = {"a": run_a, "b": run_b, "apart": apart, "comparisons": content}
        print_document({**document, "conclusions": conclusions})
    else:
        rows = [each.row for each in two_runs.shown(compared, results[0], everything=everything)]
        lines = [f"A: {run_a}", f"B: {run_b}", *apart, "", *align([two_runs.HEAD, *rows]), "", *conclusions]
        if len(rows) < len(compared):
            lines.append(f"{len(compared) - len(rows)} comparisons are not shown; --all shows them.")
        typer.echo("\n".join(map(printable, lines)))
    return ExitCode.OK


def _compare_packets(run_a: Path, run_b: Path, *, as_json: bool) -> ExitCode:
    """Print the first packet at which each cell of two runs parts, and those before it."""
    from rogue.reports.comparison.packets import HEAD, compare_packets
    from rogue.reports.errors import ReportError
    from rogue.reports.reading.load import Run

    try:
        compared = compare_packets(Run(run_a), Run(run_b))
    except ReportError as error:
        raise UsageError(f"{error}.") from error
    if as_json:
        print_document({"a": run_a, "b": run_b, "cells": [each.content for each in compared]})
        return ExitCode.OK
    lines = [f"A: {run_a}", f"B: {run_b}"]
    for each in compared:
        same = f"{each.cell}: {counted(each.packets, 'packet')} the same"
        if each.parting is None:
            lines.append(f"{same}, and no other")
        else:
            lines += [f"{same}; {each.parting.flow_id} parts here:", *align([HEAD, *each.parting.rows])]
    typer.echo("\n".join(map(printable, lines)))
    return ExitCode.OK


def _lock(runs: Sequence[Path], locks: ExitStack) -> dict[Path, Manifest]:
    """Lock each run once; return the runs in progress. BusyRunError if another report is being built."""
    going: dict[Path, Manifest] = {}
    taken: set[Path] = set()
    for run in (each for each in runs if each.resolve() not in taken):
        try:
            locks.enter_context(locked(run.resolve()))
            taken.add(run.resolve())
        except BusyRunError:
            going[run] = present_manifest(run)
            if going[run].status == "complete":
                raise
    return going


def try_to_report(runs: Sequence[Path], out: Path | None = None, going: Going | None = None) -> Path | None:
    """Build a report; if that fails, print a message and keep the traceback in the first run.

    The caller holds the locks of all runs that are not going.
    """
    still = [run for run in runs if run not in (going or {})]
    answers: list[Answered] = []
    try:
        from rogue.reports.pages.build import build

        with CountDisplay(sys.stderr) as counted:
            path = build(runs[0] if len(runs) == 1 else runs, out, going, counted, answers.append)
    except (Exception, SystemExit) as error:
        _notify_of_failure(runs, still, error)
        path = None
    else:
        for run in still[:1]:
            (run / TRACEBACK).unlink(missing_ok=True)
        for answered in answers:
            _print_answer(answered)
    for run in still:
        note_report_files(run)
        partial_report(run).unlink(missing_ok=True)
    return path


def _print_answer(answered: Answered) -> None:
    """Print the answer that the page has: sentences and the table, then claims and missing cells."""
    answer, notes = answered
    inform(*answer.sentences)
    if answer.table is not None:
        heads = [", ".join(filter(None, (head.text, head.unit))) for head in answer.table.head]
        rows = [[_field(value) for value in row] for row in answer.table.rows]
        print_table(heads, rows)
        inform(answer.table.caption.replace("Bold:", f"{BEST}:"))
    inform(*notes)


def _field(value: Value) -> str:
    text = f"{value.text} {BEST}" if value.is_best else value.text
    return "\n".join(filter(None, (text, value.note)))


def _notify_of_failure(runs: Sequence[Path], still: Sequence[Path], error: BaseException) -> None:
    where = ""
    for run in still[:1]:
        write_whole(run / TRACEBACK, "".join(traceback.format_exception(error)).encode("utf-8", "replace"))
        where = f"; see {run / TRACEBACK}"
    what = plugin_sentence(error) or f"{type(error).__name__}: {error}"
    text = f"the results are stored, but the report failed ({what}){where}"
    notify(f"{text}; to try again: {call_again('report', *runs)}")


def note_report_files(run: Path) -> None:
    """Put the files that a report adds to a run into its manifest."""
    manifest = read_manifest(run)
    others = {path: digest for path, digest in manifest.files.items() if path not in REPORT_FILES}
    added = {name: checksum(run / name) for name in REPORT_FILES if (run / name).is_file()}
    manifest.files = {**others, **added}
    write_manifest(run, manifest)
