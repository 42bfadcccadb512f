"""A run that goes."""

from pathlib import Path

import pytest
from helpers.experiments import SMALL, load_text
from helpers.fake_testbed import FakeTestbed

from rogue.harness.execution.slot import InlineSlot
from rogue.harness.execution.task import Task
from rogue.harness.plan.plan import make_plan
from rogue.harness.results.recorded_run import Run
from rogue.harness.run import Workers, cells_left, start_run, work
from rogue.workloads.manifest import CellRecord


class StopsAfterOne:
    def on_started(self, task: Task) -> None:
        pass

    def on_progress(self, task: Task, fraction: float) -> None:
        pass

    def on_finished(self, record: CellRecord) -> None:
        raise KeyboardInterrupt


@pytest.fixture
def going(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run with one of two cells finished, of which its manifest does not know."""
    monkeypatch.setattr("rogue.harness.execution.scheduler.Slot", InlineSlot)
    plan = make_plan(load_text(tmp_path, SMALL), FakeTestbed())
    run = start_run(plan, tmp_path / "results", ["rogue", "run"])
    behind = (run.directory / "manifest.json").read_bytes()
    with pytest.raises(KeyboardInterrupt):
        work(run, plan, cells_left(run, plan), Workers(1), StopsAfterOne())
    (run.directory / "manifest.json").write_bytes(behind)
    return run
