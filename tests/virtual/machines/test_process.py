"""Tests: a QEMU process and its console."""

import os
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.machines.process import Console, MachineProcess

LONG_S = 60.0
ROOT = Path(__file__).parents[3]


def start(tmp_path: Path, script: str) -> MachineProcess:
    """A machine that is a shell script, in its directory."""
    return MachineProcess("h1", ["sh", "-c", script], tmp_path)


def test_a_machine_is_up_when_it_says_so(tmp_path: Path) -> None:
    machine = start(tmp_path, 'echo "rogue-guest: ready" >h1.console; exec tail -f /dev/null')
    machine.wait_until_it_says("ready", time.monotonic() + LONG_S)
    assert machine.is_running
    machine.end()
    assert not machine.is_running


def test_a_machine_that_ends_early_is_reported_with_its_last_words(tmp_path: Path) -> None:
    machine = start(tmp_path, 'echo "rogue-guest: failed: no disk" >h1.console; echo "qemu: bad option" >&2')
    with pytest.raises(VirtualTestbedError) as caught:
        machine.wait_until_it_says("ready", time.monotonic() + LONG_S)
    assert str(caught.value).splitlines() == [
        "machine h1 ended before it was up; the end of its console:",
        "  | rogue-guest: failed: no disk",
        "  | qemu: bad option",
    ]
    machine.end()


STARTER = """
import sys
from pathlib import Path
from rogue.virtual.machines.process import MachineProcess
machine = MachineProcess("h1", ["tail", "-f", "/dev/null"], Path(sys.argv[1]))
print(machine.pid, flush=True)
sys.stdin.read()
"""


def test_a_machine_that_starts_after_its_owner_died_ends_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 1)  # the owner is someone who is not the machine's parent
    machine = start(tmp_path, "exec tail -f /dev/null")
    with pytest.raises(VirtualTestbedError, match="ended before it was up"):
        machine.wait_until_it_says("ready", time.monotonic() + LONG_S)


def test_a_machine_does_not_outlive_a_killed_owner(tmp_path: Path) -> None:
    command = [sys.executable, "-c", STARTER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as owner:
        assert owner.stdout is not None
        machine = os.pidfd_open(int(owner.stdout.readline()))
        waiting = select.poll()
        waiting.register(machine, select.POLLIN)
        assert waiting.poll(0) == [], "the machine runs as long as its owner"
        owner.kill()
        assert waiting.poll(LONG_S * 1000) != [], "the machine is still running"
        os.close(machine)


def console(directory: Path, said: str = "", complaints: str = "") -> Console:
    (directory / "h1.console").write_text(said)
    (directory / "h1.stderr").write_text(complaints)
    return Console("h1", directory)


def wait(of: Console, *, has_power: bool, for_s: float = LONG_S) -> None:
    of.wait_until_it_says("ready", time.monotonic() + for_s, lambda: has_power)


def test_what_it_said_before_it_lost_power_counts(tmp_path: Path) -> None:
    wait(console(tmp_path, "rogue-guest: ready\r\n"), has_power=False)


def test_a_machine_without_power_is_reported_with_its_last_words(tmp_path: Path) -> None:
    said = console(tmp_path, "Linux\n\nrogue-guest: failed: no disk\n", "qemu: bad option\n")
    with pytest.raises(VirtualTestbedError) as caught:
        wait(said, has_power=False)
    assert str(caught.value).splitlines() == [
        "machine h1 ended before it was up; the end of its console:",
        "  | Linux",
        "  | rogue-guest: failed: no disk",
        "  | qemu: bad option",
    ]


def test_a_machine_that_hangs_is_reported_when_its_time_is_up(tmp_path: Path) -> None:
    with pytest.raises(VirtualTestbedError, match="did not come up within 0 s"):
        wait(console(tmp_path, "Linux\n"), has_power=True, for_s=0)


def test_a_machine_that_said_nothing_at_all(tmp_path: Path) -> None:
    assert str(Console("h1", tmp_path).problem("is silent")).splitlines()[1:] == ["  | (nothing)"]


def test_only_the_last_lines_of_a_long_console_are_shown(tmp_path: Path) -> None:
    said = console(tmp_path, "".join(f"{number}\n" for number in range(1, 101)))
    shown = str(said.problem("ended")).splitlines()[1:]
    assert shown == [f"  | {number}" for number in range(81, 101)]
