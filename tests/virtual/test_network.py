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


def test_hosts_have_distinct_addresses() -> None:
    assert [CHAIN.address(host) for host in CHAIN.hosts] == ["10.9.0.10", "10.9.0.11", "10.9.0.12"]


def test_switch_of_a_host() -> None:
    assert [CHAIN.switch_of(host) for host in CHAIN.hosts] == ["s0", "s1", "s2"]


def test_ports_to_hosts_and_neighbours() -> None:
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


def test_interface_names_have_at_most_15_characters() -> None:
    longest = network(["h0"], ["s00000", "s11111"], [("h0", "s00000"), ("s00000", "s11111")])
    assert max(len(port.interface) for port in longest.ports()) <= 15


def star(count: int) -> VirtualNetwork:
    hosts = [f"h{index}" for index in range(count)]
    return network(hosts, ["s0"], [(host, "s0") for host in hosts])


def test_number_of_hosts_is_limited() -> None:
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
def test_unsupported_networks_are_refused(
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


def test_inventory_of_a_host() -> None:
    assert content()["children"]["hosts"]["hosts"]["h1"] == {
        "ansible_host": "127.0.0.1",
        "ansible_port": 2202,
        "experiment_address": "10.9.0.11",
        "experiment_prefix_length": 24,
        "experiment_interface": "eth1",
        "experiment_switch": "s1",
    }


def test_inventory_of_the_switching_machine() -> None:
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


def test_inventory_verifies_host_keys() -> None:
    arguments = content()["vars"]["ansible_ssh_common_args"]
    assert "StrictHostKeyChecking=yes" in arguments
    assert f'UserKnownHostsFile="{DIRECTORY}/known_hosts"' in arguments
    assert "GlobalKnownHostsFile=none" in arguments


def test_ansible_reads_the_inventory(tmp_path: Path) -> None:
    file = tmp_path / "inventory.yaml"
    file.write_text(inventory_text("default", DIRECTORY, NETWORK, PORTS))
    manager = InventoryManager(loader=DataLoader(), sources=[str(file)])
    groups = {name: sorted(map(str, hosts)) for name, hosts in manager.get_groups_dict().items()}
    assert (groups["hosts"], groups["switch"]) == (["h0", "h1"], ["fabric"])
    assert set(groups) == {"all", "ungrouped", "hosts", "switch"}
