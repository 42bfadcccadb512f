"""Cells of a plug-in's own kinds cannot be unpickled before the plug-in is loaded."""

from pathlib import Path

from helpers.cell_records import cell_record
from helpers.fake_testbed import FakeTestbed
from helpers.plugin_files import FOLDER

from rogue.harness.execution.cell import Task
from rogue.harness.execution.parcel import Parcel, pack
from rogue.harness.execution.slot import Slot
from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan.cells import plan_cells
from rogue.harness.plugins.loading import unload_plugins
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
        task = parcel.unpack()
        assert task.cell.experiment.topology.kind == "racks"
        assert "opposite" in WORKLOADS
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
