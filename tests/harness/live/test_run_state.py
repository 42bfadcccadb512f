"""Tests: the progress of a run, from its manifest and its running cells."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of
from helpers.fake_testbed import FakeTestbed
from helpers.small_runs import cell_record, failed_record, manifest_of

from rogue.harness.execution.task import Task
from rogue.harness.live.run_state import LiveWatcher, Running, RunState
from rogue.workloads.manifest import CellRecord
from rogue.workloads.records import CellStatus

OK, FAILED = CellStatus.OK, CellStatus.FAILED


def standing(cells: list[CellRecord], **changes: object) -> RunState:
    told = {"running": None, "elapsed_seconds": 30.0, "weights": {}} | changes
    return RunState(manifest_of(cells), **told)  # type: ignore[arg-type]


def test_share_is_by_expected_seconds_and_counts_what_runs() -> None:
    cells = [cell_record("a", status=OK, session=0), cell_record("b"), cell_record("c")]
    now = standing(cells, running={"b": 0.5}, weights={"a": 10.0, "b": 20.0, "c": 30.0})
    assert now.share == pytest.approx(20 / 60)
    assert now.seconds_left == pytest.approx(60)
    assert (now.waiting, now.count(OK)) == (1, 1)


def test_without_expectations_all_cells_are_alike() -> None:
    cells = [cell_record("a", status=OK, session=0), failed_record("b"), cell_record("c"), cell_record("d")]
    cells[1].session = 0
    assert standing(cells).share == 0.5


def test_what_an_earlier_call_did_is_no_work_of_this_one() -> None:
    cells = [cell_record("a", status=OK, session=0), cell_record("b", status=OK, session=1), cell_record("c")]
    now = RunState(manifest_of(cells, sessions=2), None, 30.0, {})
    assert now.share == 0.5


def test_what_failed_before_and_runs_again_is_no_failure_now() -> None:
    first = failed_record("a")
    first.session = 0
    now = RunState(manifest_of([first, failed_record("b")], sessions=2), {"a": 0.25}, 30.0, {})
    assert [cell.id for cell in now.of_status(FAILED)] == ["b"]
    assert now.share == 0.25


def test_cells_that_cannot_run_are_no_work() -> None:
    cells = [cell_record("a", status=CellStatus.UNSUPPORTED), cell_record("b", status=OK, session=0)]
    assert standing(cells).share == 1.0
    assert standing([cells[0]]).share == 1.0


def test_nothing_is_said_of_the_end_before_something_is_done() -> None:
    assert standing([cell_record("a")]).seconds_left is None


class Silent:
    def __init__(self) -> None:
        self.heard: list[object] = []

    def on_started(self, task: Task) -> None:
        self.heard.append("started")

    def on_progress(self, task: Task, fraction: float) -> None:
        self.heard.append(fraction)

    def on_finished(self, record: CellRecord) -> None:
        self.heard.append(record.id)


def test_the_watcher_knows_what_runs_and_passes_everything_on(tmp_path: Path) -> None:
    silent, running = Silent(), Running()
    watcher = LiveWatcher(silent, running)
    cell = cell_of(tmp_path)
    task = Task(cell, FakeTestbed(), tmp_path, cell_record(cell.id))
    watcher.on_started(task)
    assert running.copy() == {cell.id: 0.0}
    watcher.on_progress(task, 0.5)
    assert running.copy() == {cell.id: 0.5}
    watcher.on_finished(cell_record(cell.id))
    assert running.copy() == {}
    assert silent.heard == ["started", 0.5, cell.id]
