import os
from dataclasses import replace
from pathlib import Path

import pytest

from rogue.agent.drivers.verbs.discovery import PortAddress
from rogue.agent.node.forked import stay_near

CARD = PortAddress("mlx5_0", 1, 3, "", 10**11, "enp1s0", "mlx5_core")


class Machine:
    """Which processors the process may use, and to which it was bound."""

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
    ("near", "told", "bound"),
    [("0-1,4", "0,1,4", {0, 1, 4}), ("8-9", "8,9", {8, 9}), ("15-20", "15", {15}), ("3", "3", {3})],
)
def test_a_role_stays_on_the_card_s_numa_node(
    machine: Machine, near: str, told: str, bound: set[int]
) -> None:
    assert stay_near(CARD, machine.near_card(near).sysfs) == told
    assert machine.bound == bound


@pytest.mark.parametrize("near", ["", "16-31", "all"])
def test_where_the_kernel_names_none_of_ours_nothing_is_bound(machine: Machine, near: str) -> None:
    assert stay_near(CARD, machine.near_card(near).sysfs) is None
    assert machine.bound is None


def test_a_device_in_software_is_near_everything(machine: Machine) -> None:
    assert stay_near(CARD, machine.sysfs) is None, "no such file"
    assert stay_near(replace(CARD, driver="software"), machine.near_card("0-1").sysfs) is None
    assert machine.bound is None
