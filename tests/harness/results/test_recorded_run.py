"""Tests: a run's directory: manifest, data files and records of cells."""

import os
from pathlib import Path

import pytest
from helpers.experiments import FLOWS, load_text
from helpers.fake_testbed import FakeTestbed
from helpers.small_runs import cell_record, check_files, manifest_of

from rogue.harness.data.files import kept_files
from rogue.harness.data.source import SIZE_BYTES_MAX
from rogue.harness.errors import DamagedRunError
from rogue.harness.plan.plan import make_plan
from rogue.harness.results.recorded_run import Run, changed_data, kept_data, present_manifest
from rogue.harness.results.run_directory import read_manifest, store_cell, write_manifest
from rogue.harness.run import replan, start_run
from rogue.workloads.records import CellStatus


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A run of two cells, of which one has ended since its manifest was written."""
    begun = Run(tmp_path, manifest_of([cell_record("rogue-r1"), cell_record("rogue-r2")]))
    begun.write()
    begun.cells.mkdir()
    store_cell(begun.cells, cell_record("rogue-r1", status=CellStatus.OK), {"flows.parquet": b"flows"})
    return begun


def test_finished_cells_of_a_killed_run_are_read(run: Run) -> None:
    before = read_manifest(run.directory)
    present = present_manifest(run.directory)
    assert [cell.status for cell in present.cells] == [CellStatus.OK, CellStatus.PENDING]
    assert {path.split("/")[-1] for path in present.files} == {"flows.parquet", "cell.json"}
    assert read_manifest(run.directory) == before


def test_listed_record_is_kept(run: Run) -> None:
    run.note_stored()
    run.manifest.cells[0].message = "as it was written"
    write_manifest(run.directory, run.manifest)
    assert present_manifest(run.directory).cells[0].message == "as it was written"


TEXT = """\
name: traced
topology: {kind: star, hosts: 4, rate: 10Gbps}
workload: {kind: trace, file: flows.csv}
transports: [rogue]
"""


@pytest.fixture
def run_of_data(tmp_path: Path) -> Run:
    (tmp_path / "flows.csv").write_text(FLOWS.read_text())
    return start_run(make_plan(load_text(tmp_path, TEXT), FakeTestbed()), tmp_path / "results", ["rogue"])


def test_run_keeps_its_data_files(run_of_data: Run, tmp_path: Path) -> None:
    manifest = read_manifest(run_of_data.directory)
    (record,) = manifest.data
    assert record.file == "flows.csv"
    assert (run_of_data.directory / record.kept).read_text() == FLOWS.read_text()
    assert manifest.experiment["workload"]["file"] == "flows.csv"  # type: ignore[index,call-overload]
    assert check_files(run_of_data.directory, manifest.files) == []
    (run_of_data.directory / record.kept).write_text("other")
    assert check_files(run_of_data.directory, manifest.files) == [f"{record.kept}: changed"]


def test_resumed_run_uses_its_copy_of_the_data(run_of_data: Run, tmp_path: Path) -> None:
    manifest = read_manifest(run_of_data.directory)
    assert changed_data(manifest) == []
    (tmp_path / "flows.csv").write_text("other")
    assert changed_data(manifest) == [str(tmp_path / "flows.csv")]
    os.truncate(tmp_path / "flows.csv", SIZE_BYTES_MAX + 1)
    assert changed_data(manifest) == [], "what is larger than any file of data is not read"
    plan = replan(manifest, FakeTestbed(), files=kept_files(kept_data(run_of_data.directory, manifest)))
    assert len(plan.cells[0].cell.groups[0].flows) == 5
    (tmp_path / "flows.csv").unlink()
    assert changed_data(manifest) == []


def test_damaged_copy_of_the_data_is_an_error(run_of_data: Run) -> None:
    manifest = read_manifest(run_of_data.directory)
    kept = run_of_data.directory / manifest.data[0].kept
    kept.write_text("other")
    with pytest.raises(DamagedRunError, match="expected the run's copy"):
        kept_data(run_of_data.directory, manifest)
    kept.unlink()
    with pytest.raises(DamagedRunError, match="No such file"):
        kept_data(run_of_data.directory, manifest)
