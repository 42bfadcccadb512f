"""Tests: run one cell, store its result, and pickle cells for other processes."""

import errno
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.experiments import SMALL, cell_of
from helpers.fake_testbed import FakeTestbed
from helpers.plugin_files import FOLDER
from helpers.small_runs import cell_record

from rogue.harness.cell.cell import Cell
from rogue.harness.execution.dask_slot import run_here
from rogue.harness.execution.task import PickledTask, Task, execute, pack, program_facts
from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan.plan import plan_cells
from rogue.harness.plugins.loading import load_plugins, loaded_plugins, unload_plugins
from rogue.harness.results.run_directory import read_cell_record
from rogue.harness.testbeds.base import CellResult, Progress
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.workloads.records import CellStatus, FailureKind
from rogue.workloads.traffic import WORKLOADS


class Raising(FakeTestbed):
    """Raises what it was given."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def run(self, cell: Cell, progress: Progress) -> CellResult:
        raise self.error


def task(directory: Path, label: str, testbed: FakeTestbed | None = None) -> Task:
    cell = cell_of(directory, f"transports=[{{name: rogue, label: {label}}}]", text=SMALL)
    cells = directory / "cells"
    cells.mkdir()
    return Task(cell, testbed or FakeTestbed(), cells, cell_record(cell.id, facts={"reproduce": "x"}))


def test_finished_cell(tmp_path: Path) -> None:
    fractions: list[float] = []
    record = execute(task(tmp_path, "ok"), fractions.append)
    assert (record.status, record.failure_kind, record.message) == (CellStatus.OK, None, None)
    assert record.facts == {"reproduce": "x", "answer": 42}
    assert record.not_measured == {"cpu": "nothing is computed"}
    assert fractions == [0.5, 1.0]
    assert read_cell_record(tmp_path / "cells/ok-r1") == record
    assert (tmp_path / "cells/ok-r1/flows.parquet").exists()


def test_exception_is_a_bug_with_its_traceback(tmp_path: Path) -> None:
    record = execute(task(tmp_path, "throws"), lambda _fraction: None)
    assert (record.status, record.failure_kind) == (CellStatus.FAILED, FailureKind.BUG)
    assert record.message == "ZeroDivisionError: as asked"
    assert record.failed_attempts == ["throws-r1.failed-1"]
    trace = (tmp_path / "cells/throws-r1.failed-1/raw/traceback.txt").read_text()
    assert 'raise ZeroDivisionError("as asked")' in trace


def test_failure_that_the_testbed_knows_keeps_what_was_measured(tmp_path: Path) -> None:
    record = execute(task(tmp_path, "timeout"), lambda _fraction: None)
    assert (record.failure_kind, record.message) == (FailureKind.TIMEOUT, "it took too long")
    assert (tmp_path / "cells/timeout-r1.failed-1/flows.parquet").exists()
    assert not (tmp_path / "cells/timeout-r1").exists()


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), FailureKind.OUT_OF_SPACE),
        (MemoryError(), FailureKind.OUT_OF_SPACE),
        (OSError(errno.EIO, "Input/output error"), FailureKind.BUG),
    ],
)
def test_failure_kind_of_an_exception(tmp_path: Path, error: Exception, kind: FailureKind) -> None:
    assert execute(task(tmp_path, "ok", Raising(error)), lambda _fraction: None).failure_kind is kind


def test_full_disk_fails_the_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("rogue.harness.results.run_directory.write_whole", full)
    record = execute(task(tmp_path, "ok"), lambda _fraction: None)
    assert (record.status, record.failure_kind) == (CellStatus.FAILED, FailureKind.OUT_OF_SPACE)
    assert list((tmp_path / "cells").iterdir()) == []


GOAL = "workload={kind: goal, file: own.goal}"
SEND = "num_ranks 2\nrank 0 {\ns: send 100000b to 1\nMORE0}\nrank 1 {\nr: recv 100000b from 0\nMORE1}\n"
US = 1_000


def measured(tmp_path: Path, text: str, *settings: str) -> tuple[dict[str, object], dict[str, list[object]]]:
    (tmp_path / "own.goal").write_text(text)
    cell = cell_of(tmp_path, "probe=null", "transports=[roce]", GOAL, *settings, text=SMALL)
    tables = SimulatorTestbed().run(cell, lambda _fraction: None).tables
    flows = {name: list(values) for name, values in tables["flows"].items()}
    return dict(program_facts(cell, {"flows": flows})), flows


def test_a_program_without_dependent_transfers_has_a_completion_time(tmp_path: Path) -> None:
    facts, flows = measured(tmp_path, SEND.replace("MORE0", "").replace("MORE1", ""))
    assert flows["arrived_ns"] == [None]
    assert facts == {"program_ns": flows["end_ns"][0] - flows["start_ns"][0]}  # type: ignore[operator]


@pytest.mark.parametrize(
    ("more0", "more1", "moment", "pause_ns"),
    [
        ("", "c: calc 700000\nc requires r\n", "end_ns", 700 * US),
        ("c: calc 700000\nc irequires s\n", "", "start_ns", 700 * US),
        ("", "c: calc 700000\nd: calc 300000\nc requires r\nd requires c\n", "end_ns", 1000 * US),
    ],
    ids=["after what arrived", "after a start", "twice"],
)
def test_program_ends_with_its_last_computation(
    tmp_path: Path, more0: str, more1: str, moment: str, pause_ns: int
) -> None:
    facts, flows = measured(tmp_path, SEND.replace("MORE0", more0).replace("MORE1", more1))
    whole_ns = int(str(flows[moment][0])) + pause_ns - int(str(flows["start_ns"][0]))
    assert facts == {"program_ns": whole_ns}


def test_independent_computation_counts_from_its_start(tmp_path: Path) -> None:
    facts, flows = measured(tmp_path, SEND.replace("MORE0", "").replace("MORE1", "calc 5000000\n"))
    start_ns = int(str(flows["start_ns"][0]))
    assert 5_000 * US - start_ns <= int(str(facts["program_ns"])) <= 5_020 * US


def test_program_with_a_lost_transfer_has_no_completion_time(tmp_path: Path) -> None:
    facts, _ = measured(tmp_path, SEND.replace("MORE0", "").replace("MORE1", ""), "time_limit=20us")
    assert facts == {"program_ns": None}


def test_other_traffic_has_no_completion_time(tmp_path: Path) -> None:
    assert program_facts(cell_of(tmp_path), {"flows": {}}) == {}


def parcel_task(directory: Path) -> Task:
    loaded = load_experiment(str(FOLDER / "rack.yaml"), ["transports=[{name: rogue, label: ok}]"])
    cell = plan_cells(loaded)[0]
    sources = tuple(each.source for each in loaded.plugins)
    return Task(cell, FakeTestbed(), directory, cell_record(cell.id), plugins=sources)


def test_unpickling_a_task_loads_its_plugins(tmp_path: Path) -> None:
    try:
        parcel: PickledTask = pack(parcel_task(tmp_path))
        unload_plugins()
        assert "opposite" not in WORKLOADS
        with parcel.unpacked() as task:
            assert task.cell.experiment.topology.kind == "racks"
            assert "opposite" in WORKLOADS
    finally:
        unload_plugins()


def test_task_replaces_an_older_version_of_its_plugin(tmp_path: Path) -> None:
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
