"""Tests: start, find and stop testbeds that outlive a command, and show their state."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from helpers.pretended_machines import pretend

from rogue.remote.errors import NodeError
from rogue.remote.login import Login
from rogue.virtual import persistent
from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.image.build import Image
from rogue.virtual.machines.assembly import Accelerator
from rogue.virtual.network import network
from rogue.virtual.persistent import lifecycle, processes

STAR = network(["h0", "h1"], ["s0"], [("h0", "s0"), ("h1", "s0")])
LARGER = network(["h0", "h1", "h2"], ["s0"], [("h0", "s0"), ("h1", "s0"), ("h2", "s0")])
ALL = {"fabric", "h0", "h1"}


def silent(_text: str) -> None:
    """Show nothing."""


@pytest.fixture
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Image]:
    yield pretend(monkeypatch, tmp_path)
    for name in persistent.names():
        persistent.down(name, silent)


def up(
    image: Image, name: str = "one", progress: Callable[[str], None] = silent
) -> persistent.PersistentTestbed:
    return persistent.up(name, STAR, image, Accelerator.TCG, progress)


def nothing_is_left(tmp_path: Path, name: str = "one") -> bool:
    directory = tmp_path / "rogue/testbeds" / name
    return processes.find(directory) == {} and list(directory.parent.glob(f"{name}*")) == []


def test_machines_stay_up_and_are_found_again(image: Image, tmp_path: Path) -> None:
    testbed = up(image)
    assert set(processes.find(testbed.directory)) == ALL
    assert persistent.find("one") == testbed
    assert set(testbed.logins) == ALL
    assert "h1:" in testbed.inventory.read_text()
    assert persistent.down("one", silent) is True
    assert nothing_is_left(tmp_path)


def test_up_twice_changes_nothing(image: Image) -> None:
    first = up(image)
    before = processes.find(first.directory)
    said: list[str] = []
    assert up(image, progress=said.append) == first
    assert said == ["testbed one: already up"]
    assert processes.find(first.directory) == before


def test_up_with_another_network_is_refused(image: Image) -> None:
    up(image)
    with pytest.raises(VirtualTestbedError, match=r"is up with another network \(hosts h0, h1; switches s0"):
        persistent.up("one", LARGER, image, Accelerator.TCG, silent)


def test_testbed_that_is_not_up_is_an_error(image: Image) -> None:
    with pytest.raises(VirtualTestbedError, match="`rogue testbed up --name one` brings it up"):
        persistent.find("one")


def test_down_after_a_machine_ended(image: Image, tmp_path: Path) -> None:
    processes.end(up(image).directory, "h1")
    assert persistent.down("one", silent) is True
    assert nothing_is_left(tmp_path)


def test_up_after_a_machine_ended_restarts_all(image: Image) -> None:
    testbed = up(image)
    before = processes.find(testbed.directory)
    processes.end(testbed.directory, "h1")
    said: list[str] = []
    up(image, progress=said.append)
    after = processes.find(testbed.directory)
    assert said[0] == "testbed one: cleaning what is left of an earlier one"
    assert set(after) == ALL
    assert not set(after.values()) & set(before.values())


@pytest.mark.parametrize("error", [KeyboardInterrupt, VirtualTestbedError])
def test_stopped_up_leaves_nothing(
    image: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    def interrupted(directory: Path, *_: object) -> None:
        assert set(processes.find(directory)) == ALL
        raise error

    monkeypatch.setattr(lifecycle, "_wait_until_ready", interrupted)
    with pytest.raises(error):
        up(image)
    assert nothing_is_left(tmp_path)


def test_failing_machine_ends_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = pretend(monkeypatch, tmp_path, {"h1": "dies"})
    with pytest.raises(VirtualTestbedError) as caught:
        up(image)
    assert str(caught.value).splitlines() == [
        "machine h1 ended before it was up; the end of its console:",
        "  | rogue-guest: dies",
    ]
    assert nothing_is_left(tmp_path)


def test_down_after_a_killed_up(image: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed `up` cannot clean up: machines run, but there is no record."""
    monkeypatch.setattr(lifecycle, "_clean", silent)
    monkeypatch.setattr(lifecycle, "write_record", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        up(image)
    directory = tmp_path / "rogue/testbeds/one"
    assert set(processes.find(directory)) == ALL
    monkeypatch.undo()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert persistent.names() == ["one"]
    assert persistent.down("one", silent) is True
    assert nothing_is_left(tmp_path)


ONE_HOST = network(["h0"], ["s0"], [("h0", "s0")])
REPLY = "12.50 3.00\nMemTotal:  337000 kB\nMemAvailable:  300000 kB\n"


class Replying:
    """A connection to a machine that replies."""

    def run(self, command: str, *, limit_s: float) -> str:
        assert "/proc/uptime" in command
        return REPLY


class Machines:
    """Connections to machines, of which h0 does not reply."""

    def __init__(self, logins: Iterable[Login]) -> None:
        self.logins = list(logins)

    @classmethod
    def to(cls, logins: Iterable[Login], _limit_s: float) -> "Machines":
        return cls(logins)

    def __enter__(self) -> "Machines":
        return self

    def __exit__(self, *_: object) -> None: ...

    def each(self, work: Callable[[Replying], str]) -> dict[str, str | NodeError]:
        silent = NodeError("h0: SSH failed: timed out")
        return {each.node: silent if each.node == "h0" else work(Replying()) for each in self.logins}


@pytest.fixture
def testbed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[persistent.PersistentTestbed]:
    image = pretend(monkeypatch, tmp_path)
    monkeypatch.setattr(lifecycle, "Connections", Machines)
    yield persistent.up("one", ONE_HOST, image, Accelerator.TCG, silent)
    persistent.down("one", silent)


def test_state_of_a_machine(testbed: persistent.PersistentTestbed) -> None:
    fabric, _ = persistent.machine_states(testbed)
    assert fabric.is_well
    assert (fabric.uptime_s, fabric.free_memory_bytes) == (12.5, 300_000 * 1024)
    assert fabric.pid == processes.find(testbed.directory)["fabric"]
    assert fabric.host_memory_bytes > 0


def test_state_of_a_silent_machine(testbed: persistent.PersistentTestbed) -> None:
    _, host = persistent.machine_states(testbed)
    assert (host.is_well, host.problem) == (False, "h0: SSH failed: timed out")
    assert host.pid is not None


def test_state_of_a_machine_without_power(testbed: persistent.PersistentTestbed) -> None:
    processes.end(testbed.directory, "fabric")
    fabric, _ = persistent.machine_states(testbed)
    assert (fabric.is_well, fabric.pid, fabric.problem) == (False, None, "it has no power")
