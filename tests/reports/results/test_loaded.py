"""Tests: a run in a notebook: cells, measures and tables as pandas frames."""

from pathlib import Path

import pytest
from helpers.sample_run import write_manifest, write_sample_run, write_table
from helpers.small_runs import cell, filled, manifest, transfer

import rogue
from rogue.reports.quantities import Unit
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.reports.results.loaded import BASE_UNITS, rows_of_cells, rows_of_metrics, tables_of_cells
from rogue.workloads.records import TABLES


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return write_sample_run(tmp_path / "run")


def test_frames_have_all_cells_and_say_which(directory: Path) -> None:
    run, plain = rogue.load(directory), Run(directory)
    cells = run.manifest.cells
    assert list(run.cells["cell"]) == [cell.id for cell in cells]
    assert list(run.cells["status"]) == [cell.status.value for cell in cells]
    flows = run.table("flows")
    key = ["cell", "cell_transport", *(f"factor.{name}" for name in cells[0].factors), "cell_repetition"]
    assert list(flows) == [*key, *TABLES["flows"].column_names()]
    for name, rows in flows.groupby("cell"):
        frame = plain.table(str(name), "flows")
        assert frame is not None
        assert list(rows["end_ns"].dropna()) == list(frame["end_ns"].dropna())
    assert set(run.metrics["metric"]) >= {"aggregate_bps", "jain"}
    assert set(run.metrics["unit"]) >= {"bps", "index"}


def test_it_says_what_it_is_and_what_was_recorded(directory: Path) -> None:
    run = rogue.load(str(directory))
    count, run_id = len(run.manifest.cells), run.manifest.run_id
    recorded = [name for name in TABLES if list(directory.glob(f"cells/*/{name}.parquet"))]
    assert list(run.recorded) == recorded
    assert set(recorded) < set(TABLES)
    assert repr(run) == f"<run {run_id}: {count} cells; tables recorded: {', '.join(recorded)}>"
    assert run.recorded["flows"] == len(list(directory.glob("cells/*/flows.parquet")))


def test_a_notebook_shows_the_cells_and_no_markup_of_the_run(directory: Path) -> None:
    run = rogue.load(directory)
    run.manifest.experiment["name"] = "<script>"
    shown = run._repr_html_()
    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown
    assert all(cell.id in shown for cell in run.manifest.cells[:5])


def test_a_table_is_an_attribute(directory: Path) -> None:
    run = rogue.load(directory)
    assert run.flows.equals(run.table("flows"))
    assert "flows" in dir(run)
    with pytest.raises(AttributeError, match="a run has no 'flow'; its tables are flows, throughput, "):
        run.flow  # noqa: B018


def test_a_table_without_rows_has_its_columns(directory: Path) -> None:
    run = rogue.load(directory)
    for path in directory.glob("cells/*/events.parquet"):
        path.unlink()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_args, **_named: None)
        assert list(run.table("events")) == list(TABLES["events"].column_names())


def test_an_unknown_table_names_those_that_there_are(directory: Path) -> None:
    with pytest.raises(ValueError, match="table: got 'flow', expected one of flows, throughput, "):
        rogue.load(directory).table("flow")


def test_a_file_that_is_not_as_it_was_is_left_out_with_one_warning(directory: Path) -> None:
    run = rogue.load(directory)
    path = min(directory.glob("cells/*/flows.parquet"))
    cell = path.parent.name
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.warns(UserWarning, match=f"{cell}/flows.parquet is not the file that the run wrote"):
        assert cell not in set(run.table("flows")["cell"])
    assert cell not in set(run.table("flows")["cell"]), "and the second time without a word"


def test_what_is_no_run_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(rogue.ReportError, match="manifest"):
        rogue.load(tmp_path)


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
