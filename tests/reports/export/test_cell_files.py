"""A file for each cell."""

from pathlib import Path

import pytest
from helpers.experiments import result_of_cell
from helpers.sample_run import write_manifest, write_table
from helpers.small_runs import cell, filled, manifest, transfer

from rogue.harness.results.tables import encode
from rogue.reports.errors import ReportError
from rogue.reports.export.cell_files import write_cell_files
from rogue.reports.reading.load import Run
from rogue.reports.results import Results

FACTS = {"framing": "rocev2", "packets_missed": 7}


def two_cells(directory: Path) -> Results:
    """One cell with packets, and one without."""
    cells = [cell("roce-r1", facts=FACTS), cell("roce-r2", repetition=2, facts={"framing": "rocev2"})]
    for entry in cells:
        rows = filled("flows", [transfer("main/h0->h1")])
        write_table(directory / "cells" / str(entry["id"]) / "flows.parquet", "flows", rows)
    tables = {"packets": result_of_cell(directory).tables["packets"]}
    (directory / "cells" / "roce-r1" / "packets.parquet").write_bytes(encode(tables)["packets.parquet"])
    write_manifest(directory, manifest(cells))
    return Results(Run(directory))


def test_cells_with_packets_become_captures(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    names, notes = write_cell_files(two_cells(run), "pcap", tmp_path / "out", ())
    assert names == ["roce-r1.pcapng"]
    assert (tmp_path / "out" / "roce-r1.pcapng").read_bytes()[:4] == bytes.fromhex("0a0d0d0a")
    assert "that a queue refused" in notes[0]
    assert notes[1].startswith("roce-r1: the bound was hit: 7 more packets")


def test_a_cell_that_was_named_must_have_packets(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    results = two_cells(run)
    with pytest.raises(ReportError, match="roce-r2 recorded no packets"):
        write_cell_files(results, "pcap", tmp_path / "out", ("roce-r2",))
    with pytest.raises(
        ReportError, match="nonsense has no result in this run; expected a cell such as roce-r1"
    ):
        write_cell_files(results, "pcap", tmp_path / "out", ("nonsense",))
    assert not list(tmp_path.glob("*out*"))
