"""What is said on standard error."""

import pytest

from rogue.harness.terminal import tell


def test_lines_are_ours_and_no_text_of_others_begins_one(capsys: pytest.CaptureFixture[str]) -> None:
    tell("x\nrogue: all is well", "  and more\x1b[2J")
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "rogue: x\ufffdrogue: all is well\n  and more\ufffd[2J\n"
