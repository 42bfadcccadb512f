"""A run's directory and its manifest, whoever works on it."""

import subprocess
import sys
from pathlib import Path

import pytest
from helpers.cell_records import cell_record
from helpers.manifests import manifest_of

from rogue.harness.results.cell_directory import store_cell
from rogue.harness.results.manifest import read_manifest, write_manifest
from rogue.harness.results.recorded_run import Run, present_manifest
from rogue.workloads.records import CellStatus

HEAVY = {"numpy", "pandas", "pyarrow", "rogue.harness.execution", "rogue.harness.testbeds"}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A run of two cells, of which one has ended since its manifest was written."""
    begun = Run(tmp_path, manifest_of([cell_record("rogue-r1"), cell_record("rogue-r2")]))
    begun.write()
    begun.cells.mkdir()
    store_cell(begun.cells, cell_record("rogue-r1", status=CellStatus.OK), {"flows.parquet": b"flows"})
    return begun


def test_what_a_killed_run_left_is_read_and_nothing_is_written(run: Run) -> None:
    before = read_manifest(run.directory)
    present = present_manifest(run.directory)
    assert [cell.status for cell in present.cells] == [CellStatus.OK, CellStatus.PENDING]
    assert {path.split("/")[-1] for path in present.files} == {"flows.parquet", "cell.json"}
    assert read_manifest(run.directory) == before


def test_a_record_that_is_listed_stays_as_the_manifest_has_it(run: Run) -> None:
    run.note_stored()
    run.manifest.cells[0].message = "as it was written"
    write_manifest(run.directory, run.manifest)
    assert present_manifest(run.directory).cells[0].message == "as it was written"


def test_whoever_reads_a_run_loads_nothing_that_runs_cells() -> None:
    """Every command about runs begins with this module, and each would take half a second more."""
    code = "import sys, rogue.harness.commands.opening; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stdout.split())
