"""Tests: the directory of a testbed that stays up, and its record."""

import subprocess
import sys
from pathlib import Path

import pytest

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.machines.assembly import Accelerator
from rogue.virtual.network import network
from rogue.virtual.persistent.directory import (
    Record,
    StateDirectory,
    read_record,
    state_directory,
    write_record,
)

RECORD = Record(
    network(["h0", "h1"], ["s0", "s1"], [("h0", "s0"), ("h1", "s1"), ("s0", "s1")]),
    Accelerator.TCG,
    {"fabric": 2200, "h0": 2201, "h1": 2202},
)


def test_record_round_trip(tmp_path: Path) -> None:
    write_record(tmp_path / "testbed.json", RECORD)
    assert read_record(tmp_path / "testbed.json") == RECORD
    assert [path.name for path in tmp_path.iterdir()] == ["testbed.json"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": 1}', '{"format": 1, "cables": 3}'])
def test_a_damaged_record_counts_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "testbed.json").write_text(text)
    assert read_record(tmp_path / "testbed.json") is None


ROOT = Path(__file__).parents[3]


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StateDirectory:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return state_directory("first")


def silent(_text: str) -> None:
    """Show nothing."""


def test_state_directory_follows_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/somewhere")
    assert state_directory("first").path == Path("/somewhere/rogue/testbeds/first")
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_directory("first").path == tmp_path / ".local/state/rogue/testbeds/first"


@pytest.mark.parametrize("part", ['a"b', "a'b", "a%hb", "${HOME}", "{{x}}", "a\nb", "a\\b"])
def test_state_directory_with_special_characters_is_refused(
    monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", f"/somewhere/{part}")
    with pytest.raises(VirtualTestbedError, match="expected a path without special characters of SSH"):
        state_directory("first")


@pytest.mark.parametrize("name", ["", "../x", "A", "a/b", "-a", "a" * 33])
def test_invalid_testbed_name_is_refused(name: str) -> None:
    with pytest.raises(VirtualTestbedError, match="name of a testbed: got"):
        state_directory(name)


def test_state_directory_is_private(state: StateDirectory) -> None:
    with state.locked(silent):
        state.make()
    assert state.path.stat().st_mode & 0o077 == 0
    assert state.path.parent.stat().st_mode & 0o077 == 0


HOLDER = """
import sys
from rogue.virtual.persistent.directory import state_directory
with state_directory("first").locked(lambda text: print(text, flush=True)):
    print("locked", flush=True)
    sys.stdin.read()
"""


def holder() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, text=True
    )


def test_second_command_waits(state: StateDirectory) -> None:
    with holder() as first:
        assert first.stdout
        assert first.stdout.readline() == "locked\n"
        with holder() as second:
            assert second.stdout
            assert second.stdout.readline() == "testbed first: waiting for another command\n"
            first.communicate()
            assert second.stdout.readline() == "locked\n"
            second.communicate()


def test_killed_command_releases_the_lock(state: StateDirectory) -> None:
    with holder() as killed:
        assert killed.stdout
        assert killed.stdout.readline() == "locked\n"
        killed.kill()
    said: list[str] = []
    with state.locked(said.append):
        assert said == []
