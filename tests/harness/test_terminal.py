"""Tests: print messages, aligned columns, progress counts, and commands to copy into a shell."""

import io
import itertools
import sys
from pathlib import Path

import pytest
from helpers.experiments import load_text
from helpers.fake_testbed import FakeTestbed
from helpers.small_runs import cell_record, failed_record
from rich.console import Console

from rogue.harness.execution.task import Task
from rogue.harness.plan.plan import make_plan
from rogue.harness.progress import ProgressDisplay
from rogue.harness.terminal import CountDisplay, align, call_again, in_silence, inform, notify
from rogue.workloads.records import CellStatus


def test_columns_are_aligned() -> None:
    assert align([("a", "bb", "c"), ("ddd", "e", "")]) == ["a    bb  c", "ddd  e"]


def test_lines_are_ours_and_no_text_of_others_begins_one(capsys: pytest.CaptureFixture[str]) -> None:
    notify("x\nrogue: all is well", "  and more\x1b[2J")
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "rogue: x\ufffdrogue: all is well\n  and more\ufffd[2J\n"


def test_note_without_lines_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    inform()
    inform("one", "two")
    assert capsys.readouterr().err == "one\ntwo\n"


class Terminal(io.StringIO):
    """A stream of a terminal."""

    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, *, seconds_each: float) -> str:
    clock = itertools.count(0.0, seconds_each)
    with CountDisplay(stream, lambda: next(clock)) as counted:
        for done in range(1, 4):
            counted(done, 3, "planning cells")
        counted(1, 13, "drawing figures")
    return stream.getvalue()


def test_a_terminal_shows_how_many_of_how_many() -> None:
    text = shown(Terminal(), seconds_each=2.0)
    assert "planning cells" in text
    assert "1 of 13" in text


def test_count_within_a_second_shows_nothing() -> None:
    assert shown(Terminal(), seconds_each=0.1) == ""


def test_without_a_terminal_nothing_is_shown() -> None:
    assert shown(io.StringIO(), seconds_each=2.0) == ""
    in_silence(1, 2, "planning cells")


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with the command in .venv/bin, which is not on the path."""
    command = tmp_path / ".venv/bin/rogue"
    command.parent.mkdir(parents=True)
    command.write_text("")
    command.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(sys, "argv", [str(command)])
    return command


def test_the_command_is_named_as_it_can_be_called_from_here(environment: Path) -> None:
    assert call_again("run", "--resume", Path("results/x")) == ".venv/bin/rogue run --resume results/x"


def test_words_survive_the_shell(environment: Path) -> None:
    assert call_again("report", "my run; rm") == ".venv/bin/rogue report 'my run; rm'"


def test_no_word_begins_a_line_or_steers_a_terminal(environment: Path) -> None:
    assert call_again("report", "a\nb\x1b[2J").isprintable()


def test_command_from_another_directory_has_the_whole_path(
    environment: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert call_again("list") == f"{environment} list"


def test_a_command_on_the_path_needs_no_path(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(environment.parent))
    assert call_again("list") == "rogue list"


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
