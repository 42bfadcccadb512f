from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from virtual import testbed
from virtual.errors import VirtualTestbedError
from virtual.image.cache import Image
from virtual.machines.plan import pair
from virtual.machines.qemu import Accelerator


class FakeProcess:
    """Stands in for QEMU: comes up at once unless its name is in `broken`."""

    started: ClassVar[list["FakeProcess"]] = []
    broken: ClassVar[set[str]] = set()

    def __init__(self, name: str, command: Sequence[str], directory: Path) -> None:
        self.name = name
        self.command = list(command)
        self.directory = directory
        self.has_ended = False
        self.seed = (directory / next(word for word in command if word.endswith(".initrd"))).read_bytes()
        FakeProcess.started.append(self)

    def wait_until_it_says(self, word: str, deadline_s: float) -> None:
        assert word == "ready"
        if self.name in FakeProcess.broken:
            raise VirtualTestbedError(f"machine {self.name} ended before it was up")

    def end(self) -> None:
        self.has_ended = True


@pytest.fixture
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Image:
    monkeypatch.setattr(testbed, "MachineProcess", FakeProcess)
    monkeypatch.setattr(FakeProcess, "started", [])
    monkeypatch.setattr(FakeProcess, "broken", set())
    (tmp_path / "initrd.img").write_bytes(b"base")
    return Image(tmp_path)


def silent(_text: str) -> None:
    """Show nothing."""


def test_machines_are_up_inside_and_gone_outside(image: Image) -> None:
    with testbed.running(pair(), image, Accelerator.TCG, silent) as machines:
        directory = machines.logins["h1"].known_hosts.parent
        assert sorted(machines.logins) == ["h1", "h2"]
        assert machines.logins["h1"].port != machines.logins["h2"].port
        assert not any(process.has_ended for process in FakeProcess.started)
    assert all(process.has_ended for process in FakeProcess.started)
    assert not directory.exists()


def test_each_machine_boots_the_common_image_with_its_own_seed(image: Image) -> None:
    with testbed.running(pair(), image, Accelerator.TCG, silent):
        first, second = FakeProcess.started
    assert first.seed.startswith(b"base")
    assert first.seed != second.seed
    assert b"name=h1\n" in first.seed
    assert b"name=h2\n" not in first.seed


@pytest.mark.parametrize("broken", ["h1", "h2"])
def test_one_machine_that_does_not_come_up_ends_them_all(image: Image, broken: str) -> None:
    FakeProcess.broken.add(broken)
    with (
        pytest.raises(VirtualTestbedError, match=f"machine {broken} ended"),
        testbed.running(pair(), image, Accelerator.TCG, silent),
    ):
        pytest.fail("handed over a testbed with a dead machine")
    assert [process.has_ended for process in FakeProcess.started] == [True, True]
    assert not FakeProcess.started[0].directory.exists()


def test_an_interrupt_switches_everything_off(image: Image) -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        testbed.running(pair(), image, Accelerator.TCG, silent),
    ):
        raise KeyboardInterrupt
    assert all(process.has_ended for process in FakeProcess.started)
