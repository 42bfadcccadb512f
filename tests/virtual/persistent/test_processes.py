"""Tests: find and end the processes of machines."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rogue.virtual.persistent import processes

MACHINE = [sys.executable, "-c", "import signal; signal.pause()"]
ROOT = Path(__file__).parents[3]


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    """Yield a testbed's directory with a comma in its name; end its machines after the test."""
    path = tmp_path / "one,two"
    path.mkdir()
    yield path
    processes.end(path)


def test_a_machine_is_found_by_its_directory_and_name(directory: Path, tmp_path: Path) -> None:
    processes.start(directory, "h0", MACHINE)
    processes.start(directory, "h1", MACHINE)
    assert set(processes.find(directory)) == {"h0", "h1"}
    assert processes.find(tmp_path) == {}
    assert processes.find(tmp_path / "one") == {}


STARTER = """
import sys
from pathlib import Path
from rogue.virtual.persistent import processes
processes.start(Path(sys.argv[1]), "h0", [sys.executable, "-c", "import signal; signal.pause()"])
"""


def test_a_machine_outlives_the_command_that_started_it(directory: Path) -> None:
    subprocess.run([sys.executable, "-c", STARTER, str(directory)], cwd=ROOT, check=True)
    assert set(processes.find(directory)) == {"h0"}


def test_ending_one_leaves_the_others(directory: Path) -> None:
    processes.start(directory, "h0", MACHINE)
    processes.start(directory, "h1", MACHINE)
    processes.end(directory, "h1")
    assert set(processes.find(directory)) == {"h0"}
    processes.end(directory)
    assert processes.find(directory) == {}


def test_all_processes_of_a_machine_are_ended(directory: Path) -> None:
    """While a machine starts, setsid and its child have the same name."""
    for _ in range(2):
        processes.start(directory, "h0", MACHINE)
    processes.end(directory)
    assert processes.find(directory) == {}


def test_stderr_is_kept(directory: Path) -> None:
    """Standard error goes to a file of the machine; a fifo shows when it has been written."""
    os.mkfifo(directory / "written")
    processes.start(directory, "h0", ["sh", "-c", "echo 'no such option' >&2; echo yes >written"])
    assert (directory / "written").read_text() == "yes\n"
    assert (directory / "h0.stderr").read_text() == "no such option\n"


def test_memory_is_that_of_a_living_process(directory: Path) -> None:
    processes.start(directory, "h0", MACHINE)
    pid = processes.find(directory)["h0"]
    assert processes.resident_set_bytes(pid) > 100_000
    processes.end(directory)
    assert processes.resident_set_bytes(pid) == 0


def test_process_with_a_reused_pid_is_not_killed(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine ended after it was found, and its pid was reused."""
    with subprocess.Popen(MACHINE) as other:
        monkeypatch.setattr(processes, "_machines", lambda _: iter([("h0", other.pid)]))
        processes.end(directory)
        assert other.poll() is None
        other.kill()
        monkeypatch.undo()


def test_processes_of_other_users_are_ignored(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    processes.start(directory, "h0", MACHINE)
    another = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: another)
    assert processes.find(directory) == {}
    monkeypatch.undo()
    assert set(processes.find(directory)) == {"h0"}
