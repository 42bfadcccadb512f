"""Tests: run cells in worker processes, or in this process."""

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from helpers.experiments import SMALL, cell_of, load_text
from helpers.fake_testbed import PIPE, FakeTestbed
from helpers.small_runs import cell_record

from rogue.harness.execution import slot as slot_module
from rogue.harness.execution.scheduler import CellSlot, Watcher, run_tasks
from rogue.harness.execution.slot import InlineSlot, Slot, WorkerDiedError
from rogue.harness.execution.task import Task
from rogue.harness.plan.plan import plan_cells
from rogue.harness.testbeds.base import CellResult, Progress
from rogue.workloads.manifest import CellRecord
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


@pytest.fixture
def slot() -> Iterator[Slot]:
    """Return a slot that is closed after the test."""
    own = Slot()
    yield own
    own.close()


@pytest.fixture
def pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the pipe to which the cell `waits` writes its process id before it waits."""
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setenv(PIPE, str(tmp_path / "pipe"))
    return tmp_path / "pipe"


def test_slot_replaces_dead_processes(tmp_path: Path, slot: Slot) -> None:
    assert slot.result(slot.start(task(tmp_path, "ok"))).status is CellStatus.OK
    assert slot.take_progress() == 1.0
    assert slot.take_progress() is None
    with pytest.raises(WorkerDiedError) as caught:
        slot.result(slot.start(task(tmp_path, "dies")))
    assert caught.value.kind is FailureKind.NODE_LOST
    assert slot.result(slot.start(task(tmp_path, "throws"))).status is CellStatus.FAILED


def test_killed_by_us_is_a_bug(tmp_path: Path, slot: Slot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot_module, "_EXIT_LIMIT_S", 0)
    with pytest.raises(WorkerDiedError, match="ended by an exit") as caught:
        slot.result(slot.start(task(tmp_path, "lingers")))
    assert caught.value.kind is FailureKind.BUG


def test_worker_imports_nothing_from_the_working_directory(
    tmp_path: Path, slot: Slot, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "multiprocessing.py").write_text("raise SystemExit('a file of a stranger')\n")
    cell = task(tmp_path, "ok")
    monkeypatch.chdir(tmp_path)
    assert slot.result(slot.start(cell)).status is CellStatus.OK


def test_closing_ends_a_hanging_cell(tmp_path: Path, slot: Slot, pipe: Path) -> None:
    future = slot.start(task(tmp_path, "waits"))
    pid = int(pipe.read_text())
    slot.close()
    assert future.exception() is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    slot.close()


def test_closing_removes_the_temporary_files_of_a_cell(
    tmp_path: Path, slot: Slot, pipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    slot.start(task(tmp_path, "waits"))
    pipe.read_text()
    assert list(temporary.rglob("rogue-cell-*"))
    slot.close()
    assert list(temporary.iterdir()) == []


def test_closing_needs_no_lock(tmp_path: Path, slot: Slot, pipe: Path) -> None:
    """Ctrl-C during a wait can leave the lock of a future locked for ever."""
    future = slot.start(task(tmp_path, "waits"))
    pipe.read_text()
    closing = threading.Thread(target=slot.close, daemon=True)
    with future._condition:
        closing.start()
        closing.join(timeout=20)
        assert not closing.is_alive()


def test_program_ends_with_an_unclosed_slot(
    tmp_path: Path, pipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, pickled = tmp_path / "unclosed.py", tmp_path / "task"
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    script.write_text(UNCLOSED)
    pickled.write_bytes(pickle.dumps(task(tmp_path, "waits")))
    words = [sys.executable, *map(str, (script, pickled, pipe))]
    pid = int(subprocess.run(words, capture_output=True, check=True, timeout=60).stdout)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


class Here(FakeTestbed):
    """Says which process it runs in."""

    def run(self, cell: object, progress: Progress) -> CellResult:
        progress(0.5)
        progress(1.0)
        return CellResult(facts={"process": os.getpid()})


def test_inline_slot_runs_a_cell_at_once(tmp_path: Path) -> None:
    cell, slot = cell_of(tmp_path), InlineSlot()
    (tmp_path / "cells").mkdir()
    future = slot.start(Task(cell, Here(), tmp_path / "cells", cell_record(cell.id)))
    assert (slot.take_progress(), slot.take_progress()) == (1.0, None)
    record = slot.result(future)
    assert (record.status, record.facts["process"]) == (CellStatus.OK, os.getpid())


class Watching(Watcher):
    """Collects the calls."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.finished: dict[str, CellRecord] = {}

    def on_started(self, task: Task) -> None:
        self.started.append(task.cell.id)

    def on_progress(self, task: Task, fraction: float) -> None:
        assert task.cell.id in self.started
        assert 0 <= fraction <= 1

    def on_finished(self, record: CellRecord) -> None:
        self.finished[record.id] = record


def tasks(directory: Path, *labels: str) -> list[Task]:
    transports = ", ".join(f"{{name: rogue, label: {label}}}" for label in labels)
    cells = directory / "cells"
    cells.mkdir()
    planned = plan_cells(load_text(directory, SMALL, f"transports=[{transports}]"))
    return [Task(cell, FakeTestbed(), cells, cell_record(cell.id)) for cell in planned]


def test_failed_cells_do_not_stop_others(tmp_path: Path) -> None:
    watching = Watching()
    run_tasks(tasks(tmp_path, "ok", "dies", "throws", "ok2"), jobs=2, watcher=watching)
    assert watching.started == ["ok-r1", "dies-r1", "throws-r1", "ok2-r1"]
    assert len(watching.finished) == 4
    ok = {name for name, record in watching.finished.items() if record.status is CellStatus.OK}
    assert ok == {"ok-r1", "ok2-r1"}


@pytest.mark.parametrize(("jobs", "advice"), [(1, "ulimit -v"), (2, "use fewer --jobs")])
@pytest.mark.parametrize(("label", "slot"), [("dies", Slot), ("starves", InlineSlot)])
def test_memory_advice_depends_on_jobs(
    tmp_path: Path, label: str, slot: Callable[[], CellSlot], jobs: int, advice: str
) -> None:
    watching = Watching()
    run_tasks(tasks(tmp_path, label, f"{label}2")[:jobs], jobs, watching, slot)
    message = str(watching.finished[f"{label}-r1"].message)
    assert advice in message
    assert ("--jobs" in message) == (jobs > 1)


def test_hanging_cell_is_stopped(tmp_path: Path, pipe: Path) -> None:
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    hanging, ok = tasks(tmp_path, "waits", "ok")
    watching = Watching()
    run_tasks([replace(hanging, limit_seconds=0.2), ok], jobs=1, watcher=watching)
    os.close(reader)
    record = watching.finished["waits-r1"]
    assert (record.status, record.failure_kind) == (CellStatus.FAILED, FailureKind.TIMEOUT)
    assert record.message == "the cell was not over after 0.2 s of real time"
    assert (tmp_path / "cells/waits-r1.failed-1/cell.json").exists()
    assert watching.finished["ok-r1"].status is CellStatus.OK
