"""Forks, processors of a NUMA node, and local sockets."""

import os
import socket
import stat
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from rogue.agent.drivers.verbs.discovery import PortAddress
from rogue.agent.node.processes import ForkedProcess, accepted, listener_at, stay_near


def echo(source: int, sink: int) -> int:
    os.write(sink, os.read(source, 100).upper())
    return 7


def test_a_child_reads_and_writes_its_two_descriptors(tmp_path: Path) -> None:
    child = ForkedProcess(echo, tmp_path / "log")
    child.stdin.write(b"hello")
    assert child.stdout.read() == b"HELLO"
    assert (child.wait(), child.wait()) == (7, 7)
    child.kill()
    child.stdin.close()
    child.stdout.close()


def chatter(source: int, sink: int) -> int:
    os.write(1, b"on standard output\n")
    raise ZeroDivisionError("division by zero")


def test_output_and_traceback_go_to_the_log(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("of a role of this name in an earlier cell\n")
    child = ForkedProcess(chatter, tmp_path / "log")
    assert child.stdout.read() == b""
    assert child.wait() == 1
    words = (tmp_path / "log").read_text()
    assert words.startswith("on standard output\nTraceback")
    assert "ZeroDivisionError" in words
    child.stdin.close()
    child.stdout.close()


def hang(source: int, sink: int) -> int:
    return len(os.read(source, 1))


def test_a_hanging_child_is_killed(tmp_path: Path) -> None:
    child = ForkedProcess(hang, tmp_path / "log")
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(0.01)
    child.kill()
    assert child.wait() == -9
    child.stdin.close()
    child.stdout.close()


def count(source: int, sink: int) -> int:
    return len(list(Path("/proc/self/fd").iterdir())) - 1


def test_a_child_inherits_no_other_descriptors(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    child = ForkedProcess(count, tmp_path / "log")
    assert child.wait() == 5
    for descriptor in (reader, writer):
        os.close(descriptor)
    child.stdin.close()
    child.stdout.close()


CARD = PortAddress("mlx5_0", 1, 3, "", 10**11, "enp1s0", "mlx5_core")


class Machine:
    """Processors that the process may use, and those to which it was bound."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, sysfs: Path, allowed: set[int]) -> None:
        self.sysfs = sysfs
        self.bound: set[int] | None = None
        (sysfs / CARD.device / "device").mkdir(parents=True)
        monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: allowed)
        monkeypatch.setattr(os, "sched_setaffinity", self._bind)

    def _bind(self, pid: int, processors: set[int]) -> None:
        assert pid == 0, "itself"
        self.bound = processors

    def near_card(self, text: str) -> "Machine":
        (self.sysfs / CARD.device / "device" / "local_cpulist").write_text(f"{text}\n")
        return self


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    return Machine(monkeypatch, tmp_path, set(range(16)))


@pytest.mark.parametrize(
    ("near", "reported", "bound"),
    [("0-1,4", "0,1,4", {0, 1, 4}), ("8-9", "8,9", {8, 9}), ("15-20", "15", {15}), ("3", "3", {3})],
)
def test_a_role_is_bound_to_the_numa_node_of_the_card(
    machine: Machine, near: str, reported: str, bound: set[int]
) -> None:
    assert stay_near(CARD, machine.near_card(near).sysfs) == reported
    assert machine.bound == bound


@pytest.mark.parametrize("near", ["", "16-31", "all"])
def test_without_usable_processors_nothing_is_bound(machine: Machine, near: str) -> None:
    assert stay_near(CARD, machine.near_card(near).sysfs) is None
    assert machine.bound is None


def test_a_software_device_binds_nothing(machine: Machine) -> None:
    assert stay_near(CARD, machine.sysfs) is None, "no such file"
    assert stay_near(replace(CARD, driver="software"), machine.near_card("0-1").sysfs) is None
    assert machine.bound is None


@pytest.mark.parametrize("kind", [socket.SOCK_SEQPACKET, socket.SOCK_STREAM])
def test_a_listener_replaces_an_old_socket_and_admits_only_its_owner(
    kind: socket.SocketKind,
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory) / "door"
        place.touch()  # left by a killed process
        with listener_at(place, kind) as listener:
            assert stat.S_IMODE(place.stat().st_mode) == 0o600
            with socket.socket(socket.AF_UNIX, kind) as own:
                own.connect(str(place))
                peer = accepted(listener)
                assert not peer.getblocking()
                peer.close()
