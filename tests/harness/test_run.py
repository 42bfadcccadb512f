"""Runs: started, stopped, taken up again."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.experiments import SMALL, load_text
from helpers.fake_testbed import MENDED, FakeTestbed
from helpers.small_runs import check_files

from rogue.harness.errors import UsageError
from rogue.harness.execution.scheduler import CellSlot, Watcher
from rogue.harness.execution.slot import InlineSlot, Slot
from rogue.harness.plan.plan import Plan, make_chosen_plan, make_plan
from rogue.harness.results.recorded_run import Run
from rogue.harness.results.run_directory import read_manifest, stored_record
from rogue.harness.results.verification import compare_run
from rogue.harness.run import Workers, cells_left, reopen_run, replan, start_run, work
from rogue.harness.terminal import in_silence
from rogue.workloads.manifest import CellRecord, Soundness
from rogue.workloads.records import SCHEMA_VERSION, CellStatus, FailureKind


class Silent(Watcher):
    """Lists the cells that ran; stops a run after this number of cells."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.ran: list[str] = []
        self.stop_after = stop_after

    def on_finished(self, record: CellRecord) -> None:
        self.ran.append(record.id)
        if len(self.ran) == self.stop_after:
            raise KeyboardInterrupt


def plan(tmp_path: Path, labels: str, *settings: str, only_cell: str | None = None) -> Plan:
    transports = ", ".join(f"{{name: rogue, label: {label}}}" for label in labels.split())
    loaded = load_text(tmp_path, SMALL, f"transports=[{transports}]", *settings)
    return make_chosen_plan(loaded, FakeTestbed(), in_silence, only_cell)


def start(tmp_path: Path, made: Plan) -> Run:
    return start_run(made, tmp_path / "results", ["rogue", "run"])


def finish(
    run: Run,
    made: Plan,
    stop_after: int | None = None,
    only_failed: bool = False,
    make_slot: Callable[[], CellSlot] = InlineSlot,
) -> list[str]:
    """Run the cells that are left, by default in this process; return those that ran."""
    watcher = Silent(stop_after)
    try:
        work(run, made, cells_left(run, made, only_failed), Workers(1, make_slot), watcher)
    except KeyboardInterrupt:
        assert stop_after is not None
    return watcher.ran


def statuses(run: Run) -> dict[str, CellStatus]:
    return {cell.id: cell.status for cell in read_manifest(run.directory).cells}


def test_a_whole_run(tmp_path: Path) -> None:
    made = plan(tmp_path, "ok", "repetitions=2")
    run = start(tmp_path, made)
    assert statuses(run) == {"ok-r1": CellStatus.PENDING, "ok-r2": CellStatus.PENDING}
    finish(run, made)
    manifest = read_manifest(run.directory)
    assert (manifest.status, manifest.run_id, manifest.testbed) == ("complete", run.directory.name, "fake")
    assert [(cell.status, cell.session) for cell in manifest.cells] == [(CellStatus.OK, 0)] * 2
    assert check_files(run.directory, manifest.files) == []
    assert manifest.finished_utc is not None
    assert manifest.finished_utc >= manifest.created_utc


def test_only_one_cell(tmp_path: Path) -> None:
    made = plan(tmp_path, "ok throws", "repetitions=2", only_cell="ok-r2")
    run = start(tmp_path, made)
    finish(run, made)
    assert statuses(run) == {"ok-r2": CellStatus.OK}
    with pytest.raises(UsageError, match="got 'ok-r3', expected a cell of the plan; write ok-r"):
        plan(tmp_path, "ok throws", "repetitions=2", only_cell="ok-r3")


def test_one_cell_is_planned_alone(tmp_path: Path) -> None:
    counts = list[tuple[int, int]]()
    loaded = load_text(tmp_path, SMALL, "transports=[rogue, roce, dctcp]", "repetitions=2")
    made = make_chosen_plan(
        loaded, FakeTestbed(), lambda done, total, _: counts.append((done, total)), "roce-r2"
    )
    assert [each.cell.id for each in made.cells] == ["roce-r2"]
    assert counts == [(1, 1)]


def test_unsupported_cell_is_in_the_manifest(tmp_path: Path) -> None:
    made = make_plan(load_text(tmp_path, SMALL, "transports=[rogue, roce+pfc]"), FakeTestbed())
    run = start(tmp_path, made)
    finish(run, made)
    manifest = read_manifest(run.directory)
    assert statuses(run) == {"rogue-r1": CellStatus.OK, "roce+pfc-r1": CellStatus.UNSUPPORTED}
    assert manifest.cells[1].message == "the fake testbed has no switches"
    assert manifest.status == "complete"


def test_number_beyond_the_manifest_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours are bounded; those of plug-ins need not be."""
    monkeypatch.setattr("rogue.harness.run.resolve", lambda _: {"workload": {"mine": 10**20}})
    with pytest.raises(UsageError, match="an integer of 21 digits is larger than any of a run"):
        start(tmp_path, plan(tmp_path, "ok"))
    assert not (tmp_path / "results").exists()


def test_resumed_run_gets_the_present_schema(tmp_path: Path) -> None:
    made = plan(tmp_path, "ok", "repetitions=2")
    run = start(tmp_path, made)
    finish(run, made, stop_after=1)
    run.manifest.schema_version = 1
    run.write()
    assert read_manifest(run.directory).soundness is Soundness.UNKNOWN
    again = reopen_run(run.directory, ["rogue"])
    assert finish(again, made) == ["ok-r2"]
    manifest = read_manifest(run.directory)
    assert (manifest.schema_version, manifest.soundness) == (SCHEMA_VERSION, Soundness.SOUND)


def test_changed_record_is_not_taken_over(tmp_path: Path) -> None:
    made = plan(tmp_path, "ok", "repetitions=2")
    run = start(tmp_path, made)
    finish(run, made, stop_after=1)
    record = run.directory / "cells/ok-r1/cell.json"
    record.write_text(record.read_text().replace('"seed": 1', '"seed": 3'))
    again = reopen_run(run.directory, ["rogue"])
    assert again.manifest.cells[0].seed == 1
    assert check_files(run.directory, again.manifest.files) == ["cells/ok-r1/cell.json: changed"]


def test_manifest_equals_the_records_of_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MENDED, str(tmp_path / "mended"))
    made = plan(tmp_path, "mends ok throws")
    run = start(tmp_path, made)
    finish(run, made)
    (tmp_path / "mended").touch()
    finish(reopen_run(run.directory, ["rogue"]), made, only_failed=True)
    manifest = read_manifest(run.directory)
    assert compare_run(run.directory, manifest).differences == []
    for cell in manifest.cells:
        assert stored_record(run.directory / "cells", cell.id) == cell


def test_failed_cell_runs_again_and_both_attempts_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MENDED, str(tmp_path / "mended"))
    made = plan(tmp_path, "mends ok")
    run = start(tmp_path, made)
    finish(run, made)
    assert statuses(run) == {"mends-r1": CellStatus.FAILED, "ok-r1": CellStatus.OK}
    (tmp_path / "mended").touch()
    again = reopen_run(run.directory, ["rogue"])
    assert finish(again, made, only_failed=True) == ["mends-r1"]
    mended = read_manifest(run.directory).cells[0]
    assert (mended.status, mended.failed_attempts) == (CellStatus.OK, ["mends-r1.failed-1"])
    assert (run.directory / "cells/mends-r1.failed-1/raw/traceback.txt").exists()
    assert check_files(run.directory, again.manifest.files) == []


def test_only_failed_leaves_pending_cells_alone(tmp_path: Path) -> None:
    made = plan(tmp_path, "throws ok")
    run = start(tmp_path, made)
    finish(run, made, stop_after=1)
    again = reopen_run(run.directory, ["rogue"])
    assert finish(again, made, only_failed=True) == ["throws-r1"]
    assert statuses(run) == {"throws-r1": CellStatus.FAILED, "ok-r1": CellStatus.PENDING}
    assert read_manifest(run.directory).cells[0].failed_attempts == [
        "throws-r1.failed-1",
        "throws-r1.failed-2",
    ]


def test_failure_kinds_reach_the_manifest(tmp_path: Path) -> None:
    made = plan(tmp_path, "throws dies invalid timeout")
    run = start(tmp_path, made)
    finish(run, made, make_slot=Slot)
    manifest = read_manifest(run.directory)
    assert manifest.status == "partial"
    assert [cell.failure_kind for cell in manifest.cells] == [
        FailureKind.BUG, FailureKind.NODE_LOST, FailureKind.INVALID_RESULT, FailureKind.TIMEOUT,
    ]  # fmt: skip


def test_a_run_of_another_plan_is_not_resumed(tmp_path: Path) -> None:
    run = start(tmp_path, plan(tmp_path, "ok"))
    data = json.loads((run.directory / "manifest.json").read_text())
    data["cells"][0]["id"] = "other-r1"
    (run.directory / "manifest.json").write_text(json.dumps(data))
    with pytest.raises(UsageError, match="expected the cells of its manifest"):
        replan(read_manifest(run.directory), FakeTestbed())
