from pathlib import Path

import pytest
from helpers.command_line import rogue

from rogue.harness.errors import ExitCode


def test_commands_are_explained(tmp_path: Path) -> None:
    shown = rogue(tmp_path, "testbed", "--help").out
    assert all(f"\n  {command}" in shown for command in ("up", "status", "down"))


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("up", "--topology", "torus"), ExitCode.USAGE, "rogue: --topology: got 'torus'"),
        (("up", "--topology", "ring"), ExitCode.USAGE, "network of virtual machines: got a loop"),
        (("up", "--hosts", "0"), ExitCode.USAGE, "rogue: Invalid value for '--hosts'"),
        (("up", "no-such-file.yaml"), ExitCode.USAGE, "no-such-file.yaml"),
        (("down", "--name", "../x"), ExitCode.TESTBED, "rogue: name of a testbed: got '../x'"),
        (("status",), ExitCode.TESTBED, ""),
        (("down",), ExitCode.OK, "testbed default: was not up"),
    ],
)
def test_what_a_person_reads(tmp_path: Path, arguments: tuple[str, ...], code: ExitCode, words: str) -> None:
    done = rogue(tmp_path, "testbed", *arguments, XDG_STATE_HOME=str(tmp_path))
    assert done.code == code, done.err
    assert words in done.err
