"""Tests: virtual networks, and the inventory of a testbed."""

from pathlib import Path

import pytest
import yaml
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.network import HOSTS_MAX, BridgePort, VirtualNetwork, network
from rogue.virtual.persistent.directory import inventory_text

STAR = network(["h0", "h1"], ["s0"], [("h0", "s0"), ("h1", "s0")])
CHAIN = network(
    ["h0", "h1", "h2"],
    ["s0", "s1", "s2"],
    [("h0", "s0"), ("s1", "h1"), ("h2", "s2"), ("s0", "s1"), ("s1", "s2")],
)


def test_each_host_has_an_address_of_its_own() -> None:
    assert [CHAIN.address(host) for host in CHAIN.hosts] == ["10.9.0.10", "10.9.0.11", "10.9.0.12"]


def test_a_host_hangs_on_the_switch_that_its_cable_leads_to_whichever_end_is_named_first() -> None:
    assert [CHAIN.switch_of(host) for host in CHAIN.hosts] == ["s0", "s1", "s2"]


def test_ports_lead_to_hosts_in_order_and_to_neighbours_both_ways() -> None:
    assert CHAIN.ports() == (
        BridgePort("s0", "eth1", "h0"),
        BridgePort("s1", "eth2", "h1"),
        BridgePort("s2", "eth3", "h2"),
        BridgePort("s0", "s0-s1", "s1"),
        BridgePort("s1", "s1-s0", "s0"),
        BridgePort("s1", "s1-s2", "s2"),
        BridgePort("s2", "s2-s1", "s1"),
    )
    assert [port.interface for port in STAR.ports()] == ["eth1", "eth2"]


def test_interface_names_fit_into_the_kernels_15_characters() -> None:
    longest = network(["h0"], ["s00000", "s11111"], [("h0", "s00000"), ("s00000", "s11111")])
    assert max(len(port.interface) for port in longest.ports()) <= 15


def star(count: int) -> VirtualNetwork:
    hosts = [f"h{index}" for index in range(count)]
    return network(hosts, ["s0"], [(host, "s0") for host in hosts])


def test_as_many_hosts_as_the_switching_machine_has_slots() -> None:
    assert len(star(HOSTS_MAX).ports()) == HOSTS_MAX
    with pytest.raises(VirtualTestbedError, match="got 25 hosts, expected 1 to 24"):
        star(HOSTS_MAX + 1)


@pytest.mark.parametrize(
    ("hosts", "switches", "cables", "words"),
    [
        (["h0", "H1"], ["s0"], [], "the name 'H1'"),
        (["h0", "h0"], ["s0"], [], "the names h0, h0, s0, expected each name once"),
        (["h0"], ["s0"], [], "h0 with cables to nothing"),
        (["h0"], ["s0", "s1"], [("h0", "s0"), ("h0", "s1")], "h0 with cables to s0, s1"),
        (["h0", "h1"], ["s0"], [("h0", "h1")], "h0 with cables to h1"),
        (["h0"], ["s0", "s1"], [("h0", "s0")], "no path to s1"),
        (["h0"], ["s0", "s1"], [("h0", "s0"), ("s0", "s1"), ("s1", "s0")], "a loop through the cable s1-s0"),
    ],
)
def test_what_bridges_cannot_carry_is_refused(
    hosts: list[str], switches: list[str], cables: list[tuple[str, str]], words: str
) -> None:
    with pytest.raises(VirtualTestbedError) as caught:
        network(hosts, switches, cables)
    assert words in str(caught.value)


NETWORK = network(["h0", "h1"], ["s0", "s1"], [("h0", "s0"), ("h1", "s1"), ("s0", "s1")])
PORTS = {"fabric": 2200, "h0": 2201, "h1": 2202}
DIRECTORY = Path("/home/some one/testbeds/default")


def content() -> dict[str, dict[str, dict[str, dict[str, dict[str, object]]]]]:
    return yaml.safe_load(inventory_text("default", DIRECTORY, NETWORK, PORTS))["all"]


def test_hosts_say_how_they_are_reached_and_where_they_are_on_the_experiment_network() -> None:
    assert content()["children"]["hosts"]["hosts"]["h1"] == {
        "ansible_host": "127.0.0.1",
        "ansible_port": 2202,
        "experiment_address": "10.9.0.11",
        "experiment_prefix_length": 24,
        "experiment_interface": "eth1",
        "experiment_switch": "s1",
    }


def test_the_switching_machine_says_which_port_leads_where() -> None:
    assert content()["children"]["switch"]["hosts"]["fabric"] == {
        "ansible_host": "127.0.0.1",
        "ansible_port": 2200,
        "bridges": ["s0", "s1"],
        "ports": [
            {"bridge": "s0", "interface": "eth1", "peer": "h0"},
            {"bridge": "s1", "interface": "eth2", "peer": "h1"},
            {"bridge": "s0", "interface": "s0-s1", "peer": "s1"},
            {"bridge": "s1", "interface": "s1-s0", "peer": "s0"},
        ],
    }


def test_host_keys_are_verified_against_the_testbeds_own_file_only() -> None:
    arguments = content()["vars"]["ansible_ssh_common_args"]
    assert "StrictHostKeyChecking=yes" in arguments
    assert f'UserKnownHostsFile="{DIRECTORY}/known_hosts"' in arguments
    assert "GlobalKnownHostsFile=none" in arguments


def test_ansible_reads_it_without_complaint(tmp_path: Path) -> None:
    file = tmp_path / "inventory.yaml"
    file.write_text(inventory_text("default", DIRECTORY, NETWORK, PORTS))
    manager = InventoryManager(loader=DataLoader(), sources=[str(file)])
    groups = {name: sorted(map(str, hosts)) for name, hosts in manager.get_groups_dict().items()}
    assert (groups["hosts"], groups["switch"]) == (["h0", "h1"], ["fabric"])
    assert set(groups) == {"all", "ungrouped", "hosts", "switch"}
