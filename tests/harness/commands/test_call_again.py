"""Commands to copy into a shell."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rogue.harness.commands.call_again import call_again


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


@pytest.mark.parametrize("word", ["a\nrogue: all is well", "it's \\ \u202e", "\x1b[2J7", "\udcff"])
def test_no_word_begins_a_line_or_steers_a_terminal(environment: Path, word: str) -> None:
    command = call_again("report", word)
    assert command.isprintable()
    words = command.partition(" report ")[2]
    shown = subprocess.run(["/bin/bash", "-c", f"printf %s {words}"], capture_output=True, check=True)
    assert shown.stdout == os.fsencode(word)


def test_half_of_a_pair_of_letters_is_a_word_too(environment: Path) -> None:
    assert call_again("\ud800").endswith(r" $'\355\240\200'")


def test_from_elsewhere_the_whole_path_is_given(
    environment: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert call_again("list") == f"{environment} list"


def test_a_command_on_the_path_needs_no_path(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(environment.parent))
    assert call_again("list") == "rogue list"
