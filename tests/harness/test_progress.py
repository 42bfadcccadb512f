"""What a person sees while cells run."""

import io
from pathlib import Path

from helpers.experiments import load_text
from helpers.fake_testbed import FakeTestbed
from helpers.small_runs import cell_record, failed_record
from rich.console import Console

from rogue.harness.execution.task import Task
from rogue.harness.plan.plan import make_plan
from rogue.harness.progress import ProgressDisplay
from rogue.workloads.records import CellStatus


def show(tmp_path: Path, *, terminal: bool) -> str:
    stream = io.StringIO()
    plan = make_plan(load_text(tmp_path), FakeTestbed())
    console = Console(file=stream, force_terminal=terminal, width=100, color_system=None)
    with ProgressDisplay(plan.runnable, console) as display:
        for planned in plan.runnable:
            display.on_started(Task(planned.cell, plan.testbed, tmp_path, cell_record(planned.cell.id)))
        display.on_progress(Task(plan.cells[0].cell, plan.testbed, tmp_path, cell_record()), 0.5)
        display.on_finished(cell_record("rogue-r1", status=CellStatus.OK, wall_seconds=1.25))
        display.on_finished(failed_record("roce-r1"))
    return stream.getvalue()


def test_without_a_terminal_there_is_one_line_per_finished_cell(tmp_path: Path) -> None:
    """And one at once, for the first cell may take a minute."""
    assert show(tmp_path, terminal=False).splitlines() == [
        "[0/2] running",
        "[1/2] rogue-r1: ok, 1.2 s",
        "[2/2] roce-r1: failed (bug): as asked",
    ]


def test_a_terminal_shows_each_running_cell_and_the_whole(tmp_path: Path) -> None:
    shown = show(tmp_path, terminal=True)
    assert "all cells" in shown
    assert "100 %" in shown
    assert "[2/2] roce-r1: failed (bug): as asked" in shown
