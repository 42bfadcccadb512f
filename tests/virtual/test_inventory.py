from pathlib import Path

import yaml
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader

from rogue.virtual.network import network
from rogue.virtual.persistent.directory import inventory_text

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
