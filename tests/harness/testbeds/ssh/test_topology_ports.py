from dataclasses import replace

import pytest
from helpers.nodes import write_inventory
from helpers.switch_inventory import hardware, wanted

from rogue.harness.errors import UsageError
from rogue.harness.provisioning.inventory import Inventory, load_inventory
from rogue.harness.testbeds.ssh.switch_machine import ports_of
from rogue.workloads.topologies import TOPOLOGIES, Topology


def star(**settings: object) -> Topology:
    return TOPOLOGIES["star"].model_validate({"hosts": 2, "rate": "100Mbps", "buffer": "1MB", **settings})


@pytest.fixture(scope="module")
def inventory(tmp_path_factory: pytest.TempPathFactory) -> Inventory:
    return load_inventory(write_inventory(tmp_path_factory.mktemp("nodes")))


def test_every_port_of_the_switch_has_its_links_rate_and_its_share_of_the_buffer(
    inventory: Inventory,
) -> None:
    ports = ports_of(star(delay="2ms"), inventory)
    assert list(ports) == ["s0->h0", "s0->h1"]
    assert ports["s0->h1"].rate_bps == 100_000_000
    assert ports["s0->h1"].queue_bytes == 500_000  # alpha 1: a port alone settles at half of the buffer
    assert ports["s0->h1"].delay_ns == 4_000_000  # the sender's cable and the receiver's
    assert ports["s0->h1"].mistake() is None


def test_a_delay_that_no_timer_of_linux_keeps_is_left_out(inventory: Inventory) -> None:
    assert ports_of(star(delay="1us"), inventory)["s0->h0"].delay_ns == 0


def test_an_unbounded_buffer_never_drops(inventory: Inventory) -> None:
    assert ports_of(star(buffer="unbounded"), inventory)["s0->h0"].queue_bytes >= 10**9


def test_a_topology_that_the_machines_do_not_have_is_refused(inventory: Inventory) -> None:
    with pytest.raises(UsageError, match="got no ports s0->h2, expected those"):
        ports_of(star(hosts=3), inventory)


def test_without_a_switch_there_is_nothing_to_set(inventory: Inventory) -> None:
    alone = Inventory(inventory.path, inventory.kind, inventory.hosts, None)
    assert ports_of(star(), alone) == {}


def test_a_lan_is_one_switch_unless_the_inventory_says_how_it_is_wired(inventory: Inventory) -> None:
    lot = TOPOLOGIES["parking_lot"].model_validate({"rate": "10Gbps"})
    lan = Inventory(inventory.path, inventory.kind, inventory.hosts, None)
    names = [f"{switch}->{peer}" for switch in lot.switch_names() for peer in lot.links_of[switch]]
    with pytest.raises(UsageError, match=r"got a LAN, which is one switch, expected the \d switches") as told:
        ports_of(lot, lan)
    assert all(name in str(told.value) for name in names)
    ports = [
        {"bridge": name.partition("->")[0], "interface": f"Ethernet{number}", "peer": name.partition("->")[2]}
        for number, name in enumerate(names)
    ]
    wired = replace(lan, hardware_switches=(hardware(wanted("declared", switch_ports=ports), None),))
    assert ports_of(lot, wired) == {}
    half = replace(lan, hardware_switches=(hardware(wanted("declared", switch_ports=ports[1:]), None),))
    with pytest.raises(UsageError, match=f"name the ports {names[0]} in switch_ports"):
        ports_of(lot, half)
