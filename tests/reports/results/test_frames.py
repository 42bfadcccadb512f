"""Rows of a run that say which cell they belong to."""

from pathlib import Path

import pytest
from helpers.sample_run import write_manifest, write_table
from helpers.tiny_run import cell, filled, manifest, transfer

from rogue.reports.quantities import Unit
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.reports.results.loaded import BASE_UNITS, rows_of_cells, rows_of_metrics, tables_of_cells


@pytest.fixture
def tiny(tmp_path: Path) -> Results:
    """One finished cell of two transfers, and one that failed."""
    done = cell("rogue-2-r1", factors={"workload.senders": 2}, facts={"answer": 42})
    failed = cell("rogue-4-r1", factors={"workload.senders": 4}, status="failed")
    rows = filled("flows", [transfer("main/h0->h1"), transfer("main/h0->h1", end_ns=None, fct_ns=None)])
    write_table(tmp_path / "cells/rogue-2-r1/flows.parquet", "flows", rows)
    write_manifest(tmp_path, manifest([done, failed]))
    return Results(Run(tmp_path))


def test_every_cell_has_a_row_and_every_fact_a_column(tiny: Results) -> None:
    rows = list(rows_of_cells(tiny))
    assert [(row["factor.workload.senders"], row["status"]) for row in rows] == [(2, "ok"), (4, "failed")]
    assert [row["fact.answer"] for row in rows] == [42, None]


def test_measures_are_those_of_finished_cells_in_base_units(tiny: Results) -> None:
    rows = list(rows_of_metrics(tiny))
    assert rows
    assert {row["cell"] for row in rows} == {"rogue-2-r1"}
    assert {row["unit"] for row in rows} <= set(BASE_UNITS.values())
    assert set(BASE_UNITS) == set(Unit)


def test_whole_numbers_stay_whole_beside_missing_ones(tiny: Results) -> None:
    (frame,) = tables_of_cells(tiny, "flows")
    assert list(frame["cell"]) == ["rogue-2-r1"] * 2
    assert str(frame["end_ns"].dtype) == "Int64"
    assert list(frame["end_ns"].isna()) == [False, True]
    assert list(tables_of_cells(tiny, "events")) == []
