"""Tests: the switch machine while an experiment runs: queues, counters, link cuts."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from helpers.nodes import write_inventory

from rogue.harness.provisioning import linux_switch as module
from rogue.harness.provisioning.clocks import ClockOffset
from rogue.harness.provisioning.inventory import Inventory, load_inventory
from rogue.harness.provisioning.linux_switch import SwitchConnection
from rogue.harness.provisioning.ports import PortCounters, PortSettings, clear_lines, port_lines
from rogue.remote.errors import NodeError
from rogue.remote.login import Login

HUNDRED_MBPS = PortSettings(rate_bps=100_000_000)


def discipline(kind: str, handle: str, **counted: object) -> dict[str, Any]:
    """One element of what `tc -s -j qdisc show` prints."""
    empty = {"dev": "eth1", "bytes": 0, "packets": 0, "drops": 0, "backlog": 0}
    return {**empty, "kind": kind, "handle": handle, **counted}


class FakeShell:
    """A switch that replies with what it was told to."""

    def __init__(self, login: Login) -> None:
        self.login = login
        self.commands: list[tuple[str, str]] = []
        self.disciplines: list[dict[str, Any]] = []

    def run(self, command: str, text: str = "") -> str:
        self.commands.append((command, text))
        if "qdisc show" in command:
            return json.dumps(self.disciplines)
        if "filter show" in command:
            return json.dumps([{}, {"options": {"actions": [{"stats": {"packets": 5, "drops": 5}}]}}])
        return ""


@pytest.fixture(scope="module")
def inventory(tmp_path_factory: pytest.TempPathFactory) -> Inventory:
    return load_inventory(write_inventory(tmp_path_factory.mktemp("nodes")))


@pytest.fixture
def shells(monkeypatch: pytest.MonkeyPatch) -> list[FakeShell]:
    opened: list[FakeShell] = []

    @contextmanager
    def connect(login: Login) -> Iterator[FakeShell]:
        opened.append(FakeShell(login))
        yield opened[-1]

    monkeypatch.setattr(module, "connect", connect)
    monkeypatch.setattr(module, "clock_offset", lambda shell: ClockOffset(1000.0, 0.01))
    monkeypatch.setattr(module.time, "time", lambda: 50.0)
    return opened


def test_every_port_is_cleared_and_the_named_ones_are_set(
    inventory: Inventory, shells: list[FakeShell]
) -> None:
    with SwitchConnection(inventory) as switch:
        switch.apply({"s0->h1": HUNDRED_MBPS})
    (command, lines) = shells[0].commands[0]
    assert shells[0].login.node == "fabric"
    assert command.endswith("ip link set dev eth1 up; ip link set dev eth2 up; tc -batch -")
    assert lines.splitlines() == [
        *clear_lines("eth1"),
        *clear_lines("eth2"),
        *port_lines("eth2", HUNDRED_MBPS),
    ]


def test_a_port_that_is_not_there_or_a_wrong_setting_changes_nothing(
    inventory: Inventory, shells: list[FakeShell]
) -> None:
    with SwitchConnection(inventory) as switch:
        with pytest.raises(NodeError, match="fabric: got port 's0->h7', expected one of s0->h0, s0->h1"):
            switch.cut("s0->h7", after_s=0, duration_s=1)
        with pytest.raises(NodeError, match="fabric: got port 's0->h7', expected one of s0->h0, s0->h1"):
            switch.apply({"s0->h7": HUNDRED_MBPS})
        with pytest.raises(NodeError, match="fabric: port s0->h1: queue_bytes: got 0"):
            switch.apply({"s0->h1": replace(HUNDRED_MBPS, queue_bytes=0)})
    assert shells[0].commands == []


def test_an_inventory_without_a_switch_is_refused(inventory: Inventory) -> None:
    with pytest.raises(NodeError, match="it has no switch"):
        SwitchConnection(replace(inventory, switch=None))


def test_a_cut_is_an_instant_on_the_switchs_own_clock(inventory: Inventory, shells: list[FakeShell]) -> None:
    with SwitchConnection(inventory) as switch:
        switch.cut("s0->h1", after_s=1.5, duration_s=2)
    command = shells[0].commands[0][0]
    assert "setsid sh -c " in command
    assert str(1_051_500_000_000) in command  # 50 s here is 1050 s there
    assert "ip link set dev eth2 down\nsleep 2.000\nip link set dev eth2 up" in command
    assert subprocess.run(["sh", "-n", "-c", command], check=False).returncode == 0


def test_who_is_not_root_becomes_it(inventory: Inventory, shells: list[FakeShell]) -> None:
    assert inventory.switch is not None
    login = replace(inventory.switch.login, user="alice")
    with SwitchConnection(replace(inventory, switch=replace(inventory.switch, login=login))) as switch:
        switch.apply({})
    assert shells[0].commands[0][0].startswith("sudo -n sh -c ")


def test_counters_of_every_port(inventory: Inventory, shells: list[FakeShell]) -> None:
    with SwitchConnection(inventory) as switch:
        shells[0].disciplines = [
            discipline("htb", "2:", root=True, bytes=900, packets=9, drops=4),
            discipline("bfifo", "3:", parent="2:10", drops=4, backlog=70),
            discipline("clsact", "ffff:", parent="ffff:fff1"),
        ]
        counters = switch.counters()
    assert counters["s0->h0"] == PortCounters(900, 9, dropped_packets=4, lost_packets=5, backlog_bytes=70)
    assert counters["s0->h1"] == PortCounters()
