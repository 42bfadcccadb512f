"""Tests: ports of the switch between nodes: marks, losses and what a topology needs."""

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.experiments import cell_of
from helpers.fake_agents import fake_inventory
from helpers.fake_switch import LOGIN, hardware, wanted
from helpers.nodes import rack_of, write_inventory

from rogue.harness.cell.cell import Cell
from rogue.harness.errors import UsageError
from rogue.harness.provisioning.inventory import Inventory, load_inventory
from rogue.harness.provisioning.linux_switch import PortSettings
from rogue.harness.testbeds.ssh.switch_machine import (
    has_own_marks,
    later_marks,
    marking_facts,
    marks_differ,
    ports_of,
    unsupported_fault,
)
from rogue.harness.testbeds.ssh.switch_request import inventory_as_requested
from rogue.workloads.topologies import TOPOLOGIES, Topology

DCTCP = "transports=[dctcp]"
FOLLOWS = {"switch_follows_experiments": True}
STATED = "transports=[{name: dctcp, mark_above: 60KB}]"


def test_emulated_ports_mark_by_queueing_time() -> None:
    """2.4 and 7.2 ms at 100 Mb/s are 30 and 90 KB."""
    ports = {"s0->h0": PortSettings(rate_bps=100_000_000, queue_bytes=500_000), "s0->h1": PortSettings()}
    port, unlimited = later_marks(ports).values()
    assert (port.red_min_bytes, port.red_max_bytes, port.red_is_prompt) == (30_000, 90_000, False)
    assert unlimited == PortSettings()


def test_emulated_marks_end_at_a_full_queue() -> None:
    small = PortSettings(rate_bps=100_000_000, queue_bytes=50_000)
    (port,) = later_marks({"s0->h0": small}).values()
    assert (port.red_min_bytes, port.red_max_bytes) == (25_000, 50_000)
    assert port.mistake() is None


def test_emulated_marks_need_emulated_machines_and_no_stated_threshold(tmp_path: Path) -> None:
    emulated = fake_inventory()
    assert has_own_marks(cell_of(tmp_path, DCTCP), emulated)
    assert not has_own_marks(cell_of(tmp_path, DCTCP), replace(emulated, kind="nodes"))
    assert not has_own_marks(cell_of(tmp_path, STATED), emulated)
    assert not has_own_marks(cell_of(tmp_path, "transports=[cubic]"), emulated)


def test_difference_of_marks_states_both_numbers(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, DCTCP)
    assert marks_differ(cell, fake_inventory()) == (
        "emulated machines take 17 ms for a round trip, so ports mark from 2.4 to 7.2 ms of their rate; "
        "the experiment asks for 98670 bytes: state mark_above to have that"
    )
    assert marks_differ(cell, replace(fake_inventory(), kind="nodes")) is None
    assert marks_differ(cell, replace(fake_inventory(), switch=None)) is None


def star(**settings: object) -> Topology:
    return TOPOLOGIES["star"].model_validate({"hosts": 2, "rate": "100Mbps", "buffer": "1MB", **settings})


@pytest.fixture(scope="module")
def inventory(tmp_path_factory: pytest.TempPathFactory) -> Inventory:
    return load_inventory(write_inventory(tmp_path_factory.mktemp("nodes")))


def test_delay_below_linux_timers_is_left_out(inventory: Inventory) -> None:
    assert ports_of(star(delay="1us"), inventory)["s0->h0"].delay_ns == 0


def test_topology_with_missing_ports_is_refused(inventory: Inventory) -> None:
    with pytest.raises(UsageError, match="got no ports s0->h2, expected those"):
        ports_of(star(hosts=3), inventory)


def test_without_a_switch_no_port_is_set(inventory: Inventory) -> None:
    alone = Inventory(inventory.path, inventory.kind, inventory.hosts, None)
    assert ports_of(star(), alone) == {}


def test_lan_is_one_switch_unless_the_inventory_names_ports(inventory: Inventory) -> None:
    lot = TOPOLOGIES["parking_lot"].model_validate({"rate": "10Gbps"})
    lan = Inventory(inventory.path, inventory.kind, inventory.hosts, None)
    names = [f"{switch}->{peer}" for switch in lot.switch_names() for peer in lot.links_of[switch]]
    with pytest.raises(
        UsageError, match=r"got a LAN, which is one switch, expected the \d switches"
    ) as caught:
        ports_of(lot, lan)
    assert all(name in str(caught.value) for name in names)
    ports = [
        {"bridge": name.partition("->")[0], "interface": f"Ethernet{number}", "peer": name.partition("->")[2]}
        for number, name in enumerate(names)
    ]
    wired = replace(lan, hardware_switches=(hardware(wanted("declared", switch_ports=ports), None),))
    assert ports_of(lot, wired) == {}
    half = replace(lan, hardware_switches=(hardware(wanted("declared", switch_ports=ports[1:]), None),))
    with pytest.raises(UsageError, match=f"name the ports {names[0]} in switch_ports"):
        ports_of(lot, half)


SLOW = ("topology.rate=100Mbps", "topology.buffer=1MB")
LOSS = "faults=[{kind: loss, target: h2, %s}]"


def cell(tmp_path: Path, *settings: str) -> Cell:
    return cell_of(tmp_path, *SLOW, *settings)


def test_marking_thresholds_are_facts(tmp_path: Path) -> None:
    asked, nodes = cell(tmp_path, "transports=[dctcp]"), replace(fake_inventory(), kind="nodes")
    assert marking_facts(asked, nodes) == {"kmin_bytes": 30_360, "kmax_bytes": 30_360, "pmax": 1.0}
    assert list(marking_facts(asked, fake_inventory())) == ["marks_differ"]
    assert marking_facts(asked, replace(nodes, switch=None)) == {}
    assert marking_facts(cell(tmp_path), nodes) == {}


BY_IP_ID = "one_in: 4096, model: identification"


@pytest.mark.parametrize(
    ("loss", "variables", "words"),
    [
        (BY_IP_ID, {"switch_loses_one_in": {"Ethernet3": 4096}}, None),
        ("one_in: 0, model: identification", {}, None),
        (
            BY_IP_ID,
            {},
            "the experiment asks for one in 4096 lost at Ethernet3 at tor, and by the inventory it has no "
            "losses: write that in switch_loses_one_in, or switch_follows_experiments: true",
        ),
        (
            "one_in: 0, model: identification",
            {"switch_loses_one_in": {"Ethernet3": 4096}},
            "the experiment asks for no losses at tor, and by the inventory it has one in 4096 lost at "
            "Ethernet3: write that in switch_loses_one_in, or switch_follows_experiments: true",
        ),
        (
            BY_IP_ID,
            {"switch_loses_one_in": {"Ethernet3": 4096}, "switch_may_differ": ["marks"]},
            "losses of tor are not checked with switch_may_differ: leave marks and pauses out",
        ),
        (
            "one_in: 8",
            {},
            "a hardware switch loses packets by their IP ID alone: write model: identification",
        ),
        (
            f"{BY_IP_ID}, until: 1s",
            {},
            "a hardware switch loses packets from beginning to end: leave from and until out",
        ),
    ],
)
def test_hardware_switch_loses_by_ip_id(
    tmp_path: Path, loss: str, variables: dict[str, object], words: str | None
) -> None:
    asked = cell(tmp_path, LOSS % loss)
    assert unsupported_fault(asked, rack_of("comware", LOGIN, **variables)) == words


def test_hardware_switch_makes_every_fault_or_refuses(tmp_path: Path) -> None:
    rack = rack_of("comware", LOGIN, switch_loses_one_in={"Ethernet3": 4096})
    loss = "{kind: loss, target: h2, one_in: 4096, model: identification}"
    cut = "{kind: link_cut, target: h1, at: 1ms, duration: 1ms}"
    for more, words in ((cut, "no LinkCut: the inventory has no switch"), (loss, "2 losses on ")):
        asked = cell(tmp_path, f"faults=[{loss}, {more}]")
        assert str(unsupported_fault(asked, rack)).startswith(words)


def test_hardware_switch_follows_the_losses_of_an_experiment(tmp_path: Path) -> None:
    asked = cell(tmp_path, LOSS % BY_IP_ID)
    (tor,) = inventory_as_requested(asked, rack_of("comware", LOGIN, **FOLLOWS)).hardware_switches
    assert tor.variables.switch_loses_one_in == {"Ethernet3": 4096}
    with pytest.raises(
        UsageError, match="got losses by IP ID, expected none, because no documented command of"
    ):
        inventory_as_requested(asked, rack_of("eos", LOGIN, **FOLLOWS))


def test_unsupported_faults_of_the_switch(tmp_path: Path) -> None:
    asked = cell(tmp_path, LOSS % "one_in: 8")
    assert unsupported_fault(asked, fake_inventory()) is None
    without = replace(fake_inventory(), switch=None)
    assert str(unsupported_fault(asked, without)).startswith("no Loss: the inventory has no switch")
    bursts = cell(tmp_path, LOSS % "one_in: 8, model: burst")
    assert str(unsupported_fault(bursts, fake_inventory())).startswith("the switch loses packets")
