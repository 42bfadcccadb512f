"""`rogue list runs`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from rogue.harness.columns import align
from rogue.harness.errors import UsageError
from rogue.harness.exit_codes import ExitCode
from rogue.harness.results.run_directory import is_locked
from rogue.harness.telling import tell

if TYPE_CHECKING:
    from rogue.reports.index import Entry

RESULTS: Final = Path("results")
HEAD: Final = ("started (UTC)", "experiment", "testbed", "status", "verdicts", "size", "directory")
STYLES: Final = {
    "complete": "green",
    "partial": "yellow",
    "running": "cyan",
    "killed": "red",
    "damaged": "red",
}


def print_runs(directory: Path | None, experiment: str | None) -> ExitCode:
    """Print the runs of a results directory, newest first: a table on a terminal, columns elsewhere."""
    results = directory or RESULTS
    if not results.is_dir():
        advice = "name the directory of runs, or make one with `rogue run quickstart`"
        raise UsageError(f"list runs: got no directory {results}, expected one with runs; {advice}.")
    from rogue.reports.index import find_entries

    entries = find_entries(results, is_locked, experiment)
    if not entries:
        of_it = f" of experiment {experiment!r}" if experiment is not None else ""
        tell(f"no run{of_it} in {results}")
    elif sys.stdout.isatty():
        _print_table(entries)
    else:
        typer.echo("\n".join(align([HEAD, *map(_row, entries)])))
    return ExitCode.OK


def _row(entry: "Entry") -> Sequence[str]:
    from rogue.reports.index.text import shown
    from rogue.reports.quantities import size_text

    size = size_text(entry.size_bytes).replace("\u202f", " ") if entry.size_bytes else ""
    where = shown(entry.directory) + (f": {entry.problem}" if entry.problem else "")
    more = "" if entry.is_size_whole else "> "
    return (
        entry.created, entry.experiment, entry.testbed, entry.status, entry.verdicts, f"{more}{size}", where
    )  # fmt: skip


def _print_table(entries: Sequence["Entry"]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in HEAD:
        table.add_column(name, justify="right" if name == "size" else "left", overflow="fold")
    for entry in entries:
        cells = [Text(text) for text in _row(entry)]
        cells[3].stylize(STYLES.get(entry.state.value, ""))
        table.add_row(*cells)
    Console().print(table)
