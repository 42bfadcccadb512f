"""Cells over slots."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.experiments import SMALL, load_text
from helpers.fake_testbed import PIPE, FakeTestbed
from helpers.small_runs import cell_record

from rogue.harness.execution.scheduler import CellSlot, run_tasks
from rogue.harness.execution.slot import InlineSlot, Slot
from rogue.harness.execution.task import Task
from rogue.harness.plan.plan import plan_cells
from rogue.workloads.manifest import CellRecord
from rogue.workloads.records import CellStatus, FailureKind


class Watching:
    """Notes what it is told."""

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


def test_all_cells_run_whatever_happens_to_one(tmp_path: Path) -> None:
    watching = Watching()
    run_tasks(tasks(tmp_path, "ok", "dies", "throws", "ok2"), jobs=2, watcher=watching)
    assert watching.started == ["ok-r1", "dies-r1", "throws-r1", "ok2-r1"]
    assert len(watching.finished) == 4
    ok = {name for name, record in watching.finished.items() if record.status is CellStatus.OK}
    assert ok == {"ok-r1", "ok2-r1"}


@pytest.mark.parametrize(("jobs", "advice"), [(1, "ulimit -v"), (2, "use fewer --jobs")])
@pytest.mark.parametrize(("label", "slot"), [("dies", Slot), ("starves", InlineSlot)])
def test_advice_about_memory_fits_the_number_of_jobs(
    tmp_path: Path, label: str, slot: Callable[[], CellSlot], jobs: int, advice: str
) -> None:
    watching = Watching()
    run_tasks(tasks(tmp_path, label, f"{label}2")[:jobs], jobs, watching, slot)
    message = str(watching.finished[f"{label}-r1"].message)
    assert advice in message
    assert ("--jobs" in message) == (jobs > 1)


def test_a_killed_process_fails_its_cell(tmp_path: Path) -> None:
    watching = Watching()
    run_tasks(tasks(tmp_path, "dies"), jobs=1, watcher=watching)
    record = watching.finished["dies-r1"]
    assert (record.failure_kind, record.failed_attempts) == (FailureKind.NODE_LOST, ["dies-r1.failed-1"])
    assert "was killed" in str(record.message)
    assert (tmp_path / "cells/dies-r1.failed-1/cell.json").exists()


def test_a_cell_that_hangs_ends_and_the_others_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setenv(PIPE, str(tmp_path / "pipe"))
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    hanging, ok = tasks(tmp_path, "waits", "ok")
    watching = Watching()
    run_tasks([replace(hanging, limit_seconds=0.2), ok], jobs=1, watcher=watching)
    os.close(reader)
    record = watching.finished["waits-r1"]
    assert (record.status, record.failure_kind) == (CellStatus.FAILED, FailureKind.TIMEOUT)
    assert record.message == "the cell was not over after 0.2 s of real time"
    assert (tmp_path / "cells/waits-r1.failed-1/cell.json").exists()
    assert watching.finished["ok-r1"].status is CellStatus.OK


def test_nothing_to_do(tmp_path: Path) -> None:
    run_tasks([], jobs=4, watcher=Watching())
