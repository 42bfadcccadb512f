"""The doctor's test of marks, against a switch that really marks, or only says so."""

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.fake_switch import hardware, wanted
from rich.console import Console

from rogue.harness.provisioning.inventory import Inventory, load_inventory
from rogue.harness.provisioning.linux_switch import PortSettings, SwitchConnection
from rogue.harness.provisioning.measured_marks import measure_marks
from rogue.harness.provisioning.provision import provision
from rogue.remote.connection import Connections
from rogue.virtual import persistent
from rogue.virtual.image.build import Image
from rogue.virtual.machines.assembly import Accelerator
from rogue.virtual.network import network

pytestmark = [pytest.mark.virtual, pytest.mark.long]

HOSTS = ("h0", "h1", "h2")
PORTS = tuple(f"s0->{host}" for host in HOSTS)
PLAIN = PortSettings(rate_bps=20_000_000, queue_bytes=200_000)
MARKING = replace(PLAIN, red_min_bytes=15_000, red_max_bytes=30_000)


@pytest.fixture(scope="module")
def inventory(
    image: Image, accelerator: Accelerator, state_home: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Inventory]:
    """Provision three hosts on a switch."""
    requested = network(HOSTS, ("s0",), tuple((host, "s0") for host in HOSTS))
    testbed = persistent.up("marks", requested, image, accelerator, lambda text: None)
    try:
        loaded = load_inventory(testbed.inventory)
        log = tmp_path_factory.mktemp("log") / "log"
        provision(loaded, {}, log, Console(file=io.StringIO()), is_check=False)
        yield loaded
    finally:
        persistent.down("marks", lambda text: None)


def findings(inventory: Inventory, ports: PortSettings) -> list[str]:
    """Return the findings with these ports, while the inventory declares marks."""
    with SwitchConnection(inventory) as switch:
        switch.apply(dict.fromkeys(PORTS, ports))
    declared = replace(inventory, switch=None, hardware_switches=(hardware(wanted("declared"), None),))
    with Connections.to(host.login for host in declared.hosts) as hosts:
        connections = {each.node: each for each in hosts}
        return [str(finding) for finding in measure_marks(declared, {}, connections)]


def test_marking_switch_has_no_finding(inventory: Inventory) -> None:
    assert findings(inventory, MARKING) == []


def test_switch_without_marks_is_refused(inventory: Inventory) -> None:
    found = findings(inventory, PLAIN)
    assert [text.split(":")[1].strip() for text in found] == list(HOSTS)
    assert all("expected marked ones among them, as its port was full" in text for text in found)
