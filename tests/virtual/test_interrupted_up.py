"""`rogue testbed up` that is killed or stopped while its machines boot."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rogue.virtual import persistent
from rogue.virtual.image.build import Image
from rogue.virtual.persistent import processes

pytestmark = pytest.mark.virtual


def start_up(name: str) -> subprocess.Popen[str]:
    """A process of its own, at the moment when its machines boot."""
    command = [sys.executable, "-m", "rogue", "testbed", "up", "--hosts", "2", "--name", name]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    while "machines are booting" not in (line := process.stderr.readline()):
        assert line, "it ended before it started machines"
    return process


def nothing_is_left(state_home: Path, name: str) -> bool:
    directory = state_home / "rogue/testbeds" / name
    return processes.find(directory) == {} and list(directory.parent.glob(f"{name}*")) == []


def test_down_after_up_was_killed_leaves_nothing(state_home: Path, image: Image) -> None:
    with start_up("killed") as process:
        process.kill()
    assert set(processes.find(state_home / "rogue/testbeds/killed")) == {"fabric", "h0", "h1"}
    assert persistent.down("killed", lambda text: None) is True
    assert nothing_is_left(state_home, "killed")


def test_up_that_is_asked_to_stop_leaves_nothing(state_home: Path, image: Image) -> None:
    """By SIGTERM, which takes a step more than Ctrl-C does."""
    with start_up("stopped") as process:
        process.send_signal(signal.SIGTERM)
        assert process.stderr
        assert "stopped; nothing of testbed stopped is left" in process.stderr.read()
    assert process.returncode == 128 + signal.SIGTERM
    assert nothing_is_left(state_home, "stopped")
