"""The timeline of a cell as a file."""

from pathlib import Path
from typing import Final

from rogue.reports.cells.view import CellView
from rogue.reports.export.timeline.trace import Trace
from rogue.reports.export.timeline.tracks import TRACKS

EVENTS_MAX: Final = 1_000_000
"""More make a file that a browser takes minutes to open."""


def write_timeline(view: CellView, path: Path) -> tuple[int, float | None]:
    """Write what the cell's tables have; return how many events, and from when on they are left out."""
    trace = Trace()
    for name, add in TRACKS.items():
        table = view.table(name)
        if table is None:
            continue
        if name == "flows":  # a transfer without an end lasts until the end of the run
            table = table.assign(end_ns=table["end_ns"].fillna(view.end_ns))
        add(table, trace)
    about = {"run": view.run.manifest.run_id, "cell": view.entry.id, "transport": view.entry.transport}
    end_ns = trace.write(path, EVENTS_MAX, about)
    return min(len(trace), EVENTS_MAX), end_ns
