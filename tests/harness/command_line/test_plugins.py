"""Tests: arguments and help of `rogue new`, `check-plugin` and `import`."""

from pathlib import Path

import pytest
from helpers.command_line import rogue

BAD = """\
from dataclasses import dataclass
from rogue.agent.core.cc.fixed import FixedParameters
from rogue.agent.core.plugins import register_control

@dataclass(frozen=True, slots=True)
class Parameters(FixedParameters):
    "Constants."

register_control("silent", Parameters)
"""


def test_a_start_is_written_and_passes(tmp_path: Path) -> None:
    written = rogue(tmp_path, "new", "control", "mine")
    assert (written.code, written.out) == (0, "mine.py\ntest_mine.py\n")
    checked = rogue(tmp_path, "check-plugin", "mine.py")
    assert (checked.code, checked.out) == (0, "mine.py: control mine keeps the contract\n")
    again = rogue(tmp_path, "new", "control", "mine")
    assert again.code == 2
    assert "mine.py, which is there already" in again.err


def test_what_a_control_says_does_not_steer_the_terminal(tmp_path: Path) -> None:
    rogue(tmp_path, "new", "nic-control", "mine", "--language", "c++")
    text = (tmp_path / "mine.h").read_text()
    (tmp_path / "mine.h").write_text(
        text.replace("deadline_ps = now", 'rogue::fail("\\x1b[2J"); deadline_ps = now', 1)
    )
    checked = rogue(tmp_path, "check-plugin", "mine.h")
    assert checked.code == 1
    assert "\ufffd[2J" in checked.out
    assert "\x1b" not in checked.out


def test_what_breaks_the_contract_is_said(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(BAD)
    checked = rogue(tmp_path, "check-plugin", "bad.py")
    assert checked.code == 1
    expected = "bad.py: control silent: the docstring of Parameters does not explain window_packets\n"
    assert checked.out == expected


@pytest.mark.parametrize("words", [("plan", "quickstart"), ("list", "controls")])
def test_a_plugin_that_ends_its_process_does_not_end_the_command(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "mine.py").write_text("import os\nos._exit(0)\n")
    done = rogue(tmp_path, *words, "--plugin", "mine.py")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(
        "rogue: mine.py: got a plug-in that ends the process that loads it, by an exit"
    )


def test_a_file_is_printed_or_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.cm").write_text("Nodes 2\nConnections 1\n0->1 start 0 size 7\n")
    done = rogue(tmp_path, "import", "htsim-cm", "a.cm")
    assert (done.code, done.out) == (0, "start_ns,src,dst,size_bytes\n0,h0,h1,7\n")
    refused = rogue(tmp_path, "import", "htsim-topo", "a.cm")
    assert refused.code == 2
    assert refused.err.startswith("rogue: import: got ")
