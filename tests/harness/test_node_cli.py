from pathlib import Path

import pytest
from helpers.command_line import rogue


@pytest.mark.parametrize("command", ["provision", "doctor", "teardown"])
def test_help_teaches_with_examples_and_exit_codes(tmp_path: Path, command: str) -> None:
    done = rogue(tmp_path, command, "--help")
    assert done.code == 0
    assert f"rogue {command} virtual" in done.out
    assert "Exit codes:" in done.out
    assert "INVENTORY" in done.out


@pytest.mark.parametrize("command", ["provision", "doctor", "teardown"])
def test_a_missing_inventory_is_a_wrong_command_and_a_sentence(tmp_path: Path, command: str) -> None:
    done = rogue(tmp_path, command, "nowhere.yaml")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("rogue: inventory: got nowhere.yaml, expected a file")


def test_a_testbed_that_is_not_up_is_told(tmp_path: Path) -> None:
    done = rogue(tmp_path, "doctor", "virtual:nobody", XDG_STATE_HOME=str(tmp_path))
    assert done.code == 7
    assert "rogue testbed up" in done.err
