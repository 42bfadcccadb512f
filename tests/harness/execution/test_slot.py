"""Tests: run cells in worker processes, or in this process."""

import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

import pytest
from helpers.experiments import SMALL, cell_of
from helpers.fake_testbed import FakeTestbed
from helpers.small_runs import cell_record

from rogue.harness.execution import slot as slot_module
from rogue.harness.execution.slot import InlineSlot, Slot, WorkerDiedError
from rogue.harness.execution.task import Task
from rogue.harness.testbeds.base import CellResult, Progress
from rogue.workloads.records import CellStatus, FailureKind

UNCLOSED: Final = """
import pickle, sys
from pathlib import Path
from rogue.harness.execution.slot import Slot

if __name__ == "__main__":
    slot = Slot()
    slot.start(pickle.loads(Path(sys.argv[1]).read_bytes()))
    print(Path(sys.argv[2]).read_text())
"""


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


def test_a_process_that_we_end_was_not_killed_from_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slot_module, "_EXIT_LIMIT_S", 0)
    slot = Slot()
    try:
        with pytest.raises(WorkerDiedError, match="ended by an exit") as caught:
            slot.result(slot.start(task(tmp_path, "lingers")))
        assert caught.value.kind is FailureKind.BUG
    finally:
        slot.close()


def test_files_where_a_person_is_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "multiprocessing.py").write_text("raise SystemExit('a file of a stranger')\n")
    cell = task(tmp_path, "ok")
    monkeypatch.chdir(tmp_path)
    slot = Slot()
    try:
        assert slot.result(slot.start(cell)).status is CellStatus.OK
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


def test_closing_removes_the_temporary_files_of_a_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe, temporary = tmp_path / "pipe", tmp_path / "temporary"
    os.mkfifo(pipe)
    temporary.mkdir()
    monkeypatch.setenv("ROGUE_FAKE_PIPE", str(pipe))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    slot = Slot()
    slot.start(task(tmp_path, "waits"))
    pipe.read_text()
    assert list(temporary.rglob("rogue-cell-*"))
    slot.close()
    assert list(temporary.iterdir()) == []


def test_closing_waits_for_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of a wait can leave the lock of a future behind, which then nobody ever frees."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setenv("ROGUE_FAKE_PIPE", str(pipe))
    slot = Slot()
    future = slot.start(task(tmp_path, "waits"))
    pipe.read_text()
    closing = threading.Thread(target=slot.close, daemon=True)
    with future._condition:
        closing.start()
        closing.join(timeout=20)
        assert not closing.is_alive()


def test_a_program_ends_though_nobody_closes_its_slot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, pickled, pipe = (tmp_path / name for name in ("unclosed.py", "task", "pipe"))
    os.mkfifo(pipe)
    monkeypatch.setenv("ROGUE_FAKE_PIPE", str(pipe))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    script.write_text(UNCLOSED)
    pickled.write_bytes(pickle.dumps(task(tmp_path, "waits")))
    words = [sys.executable, *map(str, (script, pickled, pipe))]
    pid = int(subprocess.run(words, capture_output=True, check=True, timeout=60).stdout)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


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


class Here(FakeTestbed):
    """Says which process it runs in."""

    def run(self, cell: object, progress: Progress) -> CellResult:
        progress(0.5)
        progress(1.0)
        return CellResult(facts={"process": os.getpid()})


def test_a_cell_is_over_in_this_process_when_it_was_started(tmp_path: Path) -> None:
    cell, slot = cell_of(tmp_path), InlineSlot()
    (tmp_path / "cells").mkdir()
    future = slot.start(Task(cell, Here(), tmp_path / "cells", cell_record(cell.id)))
    assert (slot.take_progress(), slot.take_progress()) == (1.0, None)
    record = slot.result(future)
    assert (record.status, record.facts["process"]) == (CellStatus.OK, os.getpid())
