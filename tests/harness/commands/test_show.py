"""Tests: print the file of an experiment."""

from pathlib import Path

from helpers.command_line import rogue, rogue_at_terminal
from helpers.experiments import write_experiment

from rogue.harness.experiment.find import DIRECTORY


def test_shipped_and_own_experiments_are_printed_with_their_path(tmp_path: Path) -> None:
    shipped = DIRECTORY / "quickstart.yaml"
    assert rogue(tmp_path, "show", "quickstart").out == f"# {shipped}\n{shipped.read_text()}"
    write_experiment(tmp_path)
    shown = rogue(tmp_path, "show", "experiment.yaml").out
    assert shown == f"# experiment.yaml\n{(tmp_path / 'experiment.yaml').read_text()}"


def test_terminal_gets_colours(tmp_path: Path) -> None:
    shown = rogue_at_terminal(tmp_path, "show", "quickstart", TERM="xterm-256color").out
    assert "\x1b[" in shown
    assert "quickstart" in shown
