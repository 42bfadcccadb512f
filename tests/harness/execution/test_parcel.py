"""Cells of a plug-in's own kinds cannot be unpickled before the plug-in is loaded."""

from dataclasses import replace
from pathlib import Path

from helpers.cell_records import cell_record
from helpers.fake_testbed import FakeTestbed
from helpers.plugin_files import FOLDER

from rogue.harness.execution.dask_slot import run_here
from rogue.harness.execution.slot import Slot
from rogue.harness.execution.task import Parcel, Task, pack
from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan.cells import plan_cells
from rogue.harness.plugins.loading import load_plugins, loaded_plugins, unload_plugins
from rogue.workloads.records import CellStatus
from rogue.workloads.traffic import WORKLOADS


def parcel_task(directory: Path) -> Task:
    loaded = load_experiment(str(FOLDER / "rack.yaml"), ["transports=[{name: rogue, label: ok}]"])
    cell = plan_cells(loaded)[0]
    sources = tuple(each.source for each in loaded.plugins)
    return Task(cell, FakeTestbed(), directory, cell_record(cell.id), plugins=sources)


def test_a_process_that_never_heard_of_a_plugin_unpacks_its_cell(tmp_path: Path) -> None:
    try:
        parcel: Parcel = pack(parcel_task(tmp_path))
        unload_plugins()
        assert "opposite" not in WORKLOADS
        with parcel.unpacked() as task:
            assert task.cell.experiment.topology.kind == "racks"
            assert "opposite" in WORKLOADS
    finally:
        unload_plugins()


def test_a_worker_that_ran_an_older_version_runs_the_cell_with_its_own(tmp_path: Path) -> None:
    """Workers of a cluster stay while a plug-in is edited between two runs."""
    try:
        task = parcel_task(tmp_path)
        parcel = pack(task)
        unload_plugins()
        older = [replace(each, text=f"# older\n{each.text}") for each in task.plugins]
        load_plugins(older)
        record = run_here(parcel)
        assert record.status is CellStatus.OK, record.message
        assert [each.source for each in loaded_plugins()] == [*task.plugins]
    finally:
        unload_plugins()


def test_a_worker_process_runs_such_a_cell(tmp_path: Path) -> None:
    slot = Slot()
    try:
        record = slot.result(slot.start(parcel_task(tmp_path)))
        assert record.status is CellStatus.OK, record.message
    finally:
        slot.close()
        unload_plugins()
