from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from helpers.pretended_machines import pretend

from rogue.remote.errors import NodeError
from rogue.remote.login import Login
from rogue.virtual import persistent
from rogue.virtual.machines.assembly import Accelerator
from rogue.virtual.network import network
from rogue.virtual.persistent import lifecycle, processes

ONE_HOST = network(["h0"], ["s0"], [("h0", "s0")])
REPLY = "12.50 3.00\nMemTotal:  337000 kB\nMemAvailable:  300000 kB\n"


def silent(_text: str) -> None:
    """Show nothing."""


class Replying:
    """A connection to a machine that replies."""

    def run(self, command: str, *, limit_s: float) -> str:
        assert "/proc/uptime" in command
        return REPLY


@contextmanager
def connect(login: Login, *, limit_s: float) -> Iterator[Replying]:
    if login.node == "h0":
        raise NodeError("h0: SSH failed: timed out")
    yield Replying()


@pytest.fixture
def testbed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[persistent.StandingTestbed]:
    image = pretend(monkeypatch, tmp_path)
    monkeypatch.setattr(lifecycle, "connect", connect)
    yield persistent.up("one", ONE_HOST, image, Accelerator.TCG, silent)
    persistent.down("one", silent)


def test_a_machine_that_replies_tells_of_itself(testbed: persistent.StandingTestbed) -> None:
    fabric, _ = persistent.machine_states(testbed)
    assert fabric.is_well
    assert (fabric.uptime_s, fabric.free_memory_bytes) == (12.5, 300_000 * 1024)
    assert fabric.pid == processes.find(testbed.directory)["fabric"]
    assert fabric.host_memory_bytes > 0


def test_a_machine_that_does_not_reply_says_why(testbed: persistent.StandingTestbed) -> None:
    _, host = persistent.machine_states(testbed)
    assert (host.is_well, host.problem) == (False, "h0: SSH failed: timed out")
    assert host.pid is not None


def test_a_machine_without_power_is_not_asked(testbed: persistent.StandingTestbed) -> None:
    processes.end(testbed.directory, "fabric")
    fabric, _ = persistent.machine_states(testbed)
    assert (fabric.is_well, fabric.pid, fabric.problem) == (False, None, "it has no power")


def test_uptime_and_memory_are_read_from_the_kernels_own_files() -> None:
    assert lifecycle.parse_reply(REPLY) == (12.5, 307_200_000)
