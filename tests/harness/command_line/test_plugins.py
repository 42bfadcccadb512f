from pathlib import Path

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
    assert (checked.code, checked.out) == (0, "mine.py: control mine: as every other one\n")
    again = rogue(tmp_path, "new", "control", "mine")
    assert again.code == 2
    assert "mine.py, which is there already" in again.err


def test_what_breaks_the_contract_is_said(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(BAD)
    checked = rogue(tmp_path, "check-plugin", "bad.py")
    assert checked.code == 1
    expected = "bad.py: control silent: the docstring of Parameters does not explain window_packets\n"
    assert checked.out == expected
