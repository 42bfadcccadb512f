"""`rogue report`."""

import traceback
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import typer

from harness.exit_codes import ExitCode
from harness.program import call_again
from harness.results.files import checksum
from harness.results.manifest import read_manifest, write_manifest
from harness.results.run_directory import locked

TRACEBACK: Final = "report-error.txt"
REPORT_FILES: Final = ("claims.json", "report.html", TRACEBACK)
"""All that a report adds to a run."""


def build_report(runs: Sequence[Path]) -> ExitCode:
    """Build the report of one or several runs, and print where it is."""
    for run in runs:
        read_manifest(run)
    with ExitStack() as locks:
        for run in dict.fromkeys(run.resolve() for run in runs):
            locks.enter_context(locked(run))
        path = try_to_report(runs)
    if path is None:
        return ExitCode.REPORT_FAILED
    typer.echo(path)
    return ExitCode.OK


def try_to_report(runs: Sequence[Path]) -> Path | None:
    """Build a report; a failure costs a message and leaves the traceback in the first run, never a result.

    The caller holds the runs' locks.
    """
    try:
        from reports import build

        path = build(runs[0] if len(runs) == 1 else runs)
    except Exception as error:
        trace = runs[0] / TRACEBACK
        trace.write_text(traceback.format_exc())
        again = call_again("report", *runs)
        text = f"the results are stored, but the report failed ({type(error).__name__}: {error}); see {trace}"
        typer.echo(f"rogue: {text}; to try again: {again}", err=True)
        path = None
    else:
        (runs[0] / TRACEBACK).unlink(missing_ok=True)
    for run in runs:
        _note_files(run)
    return path


def _note_files(run: Path) -> None:
    """Put the files that a report adds to a run into its manifest."""
    manifest = read_manifest(run)
    others = {path: digest for path, digest in manifest.files.items() if path not in REPORT_FILES}
    added = {name: checksum(run / name) for name in REPORT_FILES if (run / name).is_file()}
    manifest.files = {**others, **added}
    write_manifest(run, manifest)
