"""A directory with a file for each cell: captures, timelines."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from rogue.reports.cells.view import CellView
from rogue.reports.errors import ReportError
from rogue.reports.export.captures.capture import Written, missed_text, recorded, write_capture
from rogue.reports.export.csv_files import new_directory
from rogue.reports.export.timeline import write_timeline
from rogue.reports.quantities import counted
from rogue.reports.results import Results


class CellFormat(NamedTuple):
    """A file format for the tables of a cell."""

    suffix: str
    write: Callable[[CellView, Path], list[str]]
    """Writes the file and returns notes for its reader; ReportError if the cell lacks a table."""


def _pcap(view: CellView, path: Path) -> list[str]:
    entry = view.entry
    table = recorded(view.table("packets"), entry.facts.get("framing"), entry.id)
    written = write_capture(table, path, f"{view.run.manifest.run_id}, {entry.id}")
    return [_in_words(entry.id, written), *_missed(view)]


def _in_words(cell_id: str, written: Written) -> str:
    left_out = [f"{counted(written.refused, 'packet')} that a queue refused" if written.refused else ""]
    left_out.append(f"{counted(written.copies, 'packet')} that a switch flooded" if written.copies else "")
    without = " and ".join(filter(None, left_out))
    return f"{cell_id}: {counted(written.frames, 'frame')}" + (f", without {without}" if without else "")


def _missed(view: CellView) -> list[str]:
    missed = view.entry.number("packets_missed")
    if not missed:
        return []
    return [f"{view.entry.id}: {missed_text(int(missed))}"]


def _timeline(view: CellView, path: Path) -> list[str]:
    events, end_ns = write_timeline(view, path)
    note = f"{view.entry.id}: {counted(events, 'event')}"
    return [note if end_ns is None else f"{note}; events after {end_ns / 1e9:.6g} s are left out"]


FORMATS: Final[dict[str, CellFormat]] = {
    "pcap": CellFormat("pcapng", _pcap),
    "timeline": CellFormat("json", _timeline),
}
"""Formats of `rogue export` for single cells."""


def write_cell_files(
    results: Results, kind: str, directory: Path, cells: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Write the cells' files into a new directory, all or none; return their names and notes.

    Without named cells it writes all cells that have the tables; ReportError if there is none.
    """
    unknown = [cell for cell in cells if cell not in results.views]
    if unknown:
        known = ", ".join(list(results.views)[:5])
        raise ReportError(f"{unknown[0]} has no result in this run; expected a cell such as {known}")
    names, notes = [], []
    problem = ReportError("the run has no cell with a result")
    with new_directory(directory) as partial:
        for cell_id in cells or results.views:
            name = f"{cell_id}.{FORMATS[kind].suffix}"
            try:
                notes += FORMATS[kind].write(results.views[cell_id], partial / name)
                names.append(name)
            except ReportError as error:
                if cells:
                    raise
                problem = error
        if not names:
            raise problem
    return names, notes
