"""Cells that ran, for their timelines."""

from pathlib import Path

from helpers.captured import result_of_cell
from helpers.sample_run import write_manifest
from helpers.tiny_run import cell, manifest

from rogue.harness.results.cell_directory import encode
from rogue.reports.cells.view import CellView
from rogue.reports.reading.load import Run
from rogue.reports.results import Results

MEASURE = "measure=[throughput, queues, pauses, rtt, control, packets]"


def view_of(directory: Path, transport: str) -> CellView:
    """A cell of this transport with every table that a timeline shows."""
    result = result_of_cell(directory, f"transports=[{transport}]", "topology.buffer=1MB", MEASURE)
    run = directory / "run"
    (run / "cells" / "c-r1").mkdir(parents=True)
    for name, content in encode(result.tables).items():
        (run / "cells" / "c-r1" / name).write_bytes(content)
    write_manifest(run, manifest([cell("c-r1")]))
    return Results(Run(run)).views["c-r1"]
