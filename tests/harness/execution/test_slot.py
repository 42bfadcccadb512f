"""One worker process at a time."""

import multiprocessing
import os
from pathlib import Path

import pytest
from helpers.cell_records import cell_record
from helpers.experiments import SMALL, cell_of
from helpers.fake_testbed import FakeTestbed

from harness.execution.cell import Task
from harness.execution.slot import Slot, WorkerDiedError
from workloads.records import CellStatus, FailureKind


def task(directory: Path, label: str) -> Task:
    cell = cell_of(directory, f"transports=[{{name: rogue, label: {label}}}]", text=SMALL)
    (directory / "cells").mkdir(exist_ok=True)
    return Task(cell, FakeTestbed(), directory / "cells", cell_record(cell.id))


def test_a_slot_outlives_its_processes(tmp_path: Path) -> None:
    slot = Slot()
    try:
        assert slot.result(slot.start(task(tmp_path, "ok"))).status is CellStatus.OK
        assert slot.take_progress() == 1.0
        assert slot.take_progress() is None
        with pytest.raises(WorkerDiedError) as caught:
            slot.result(slot.start(task(tmp_path, "dies")))
        assert caught.value.kind is FailureKind.NODE_LOST
        assert slot.result(slot.start(task(tmp_path, "throws"))).status is CellStatus.FAILED
    finally:
        slot.close()


def test_closing_ends_a_cell_that_never_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setenv("ROGUE_FAKE_PIPE", str(pipe))
    slot = Slot()
    future = slot.start(task(tmp_path, "waits"))
    pid = int(pipe.read_text())
    slot.close()
    assert future.exception() is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    slot.close()


def test_a_process_that_dies_between_two_cells_is_replaced(tmp_path: Path) -> None:
    slot = Slot()
    try:
        assert slot.result(slot.start(task(tmp_path, "ok"))).status is CellStatus.OK
        (worker,) = multiprocessing.active_children()
        worker.kill()
        worker.join()
        future = slot.start(task(tmp_path, "throws"))
        assert slot.result(future).status is CellStatus.FAILED
    finally:
        slot.close()
