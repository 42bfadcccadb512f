"""One cell: whatever it does, a record comes back and its directory stands."""

import errno
from pathlib import Path

import pytest
from helpers.cell_records import cell_record
from helpers.experiments import SMALL, cell_of
from helpers.fake_testbed import FakeTestbed

from rogue.harness.cell.cell import Cell
from rogue.harness.execution.task import Task, execute
from rogue.harness.results.manifest import read_cell_record
from rogue.harness.testbeds.base import CellResult, Progress
from rogue.workloads.records import CellStatus, FailureKind


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


def test_wrong_table_is_an_invalid_result(tmp_path: Path) -> None:
    record = execute(task(tmp_path, "invalid"), lambda _fraction: None)
    assert record.failure_kind is FailureKind.INVALID_RESULT
    assert "columns missing" in str(record.message)


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
def test_what_is_not_a_bug(tmp_path: Path, error: Exception, kind: FailureKind) -> None:
    assert execute(task(tmp_path, "ok", Raising(error)), lambda _fraction: None).failure_kind is kind


def test_a_cell_that_cannot_be_stored_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("rogue.harness.results.cell_directory.write_whole", full)
    record = execute(task(tmp_path, "ok"), lambda _fraction: None)
    assert (record.status, record.failure_kind) == (CellStatus.FAILED, FailureKind.OUT_OF_SPACE)
    assert list((tmp_path / "cells").iterdir()) == []
