from ipaddress import IPv4Address
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.provisioning.inventory import load_inventory
from harness.provisioning.manifest import Choices, inventory_text, read_manifest_nodes

MANIFEST = Path(__file__).parents[1] / "data" / "manifest.xml"
ALICE = Choices("alice")


def test_nodes_with_an_experiment_address_become_hosts(tmp_path: Path) -> None:
    nodes = read_manifest_nodes(MANIFEST)
    assert [node.name for node in nodes] == ["node0", "node1"]
    path = tmp_path / "nodes.yaml"
    path.write_text(inventory_text(MANIFEST, nodes, ALICE))
    inventory = load_inventory(path)
    assert (inventory.kind, inventory.switch) == ("cloudlab", None)
    second = inventory.hosts[1]
    assert (second.name, second.login.address, second.login.port, second.login.user) == (
        "h1", "ms1042.example.net", 2222, "alice",
    )  # fmt: skip
    assert second.variables.experiment_address == IPv4Address("10.10.1.2")
    assert second.variables.experiment_interface == "eno1d1"
    assert second.variables.rdma_device_kind == "card"
    assert "experiment_mac: 14:58:d0:00:00:02" in path.read_text()


def test_what_the_manifest_leaves_open_can_be_said() -> None:
    nodes = read_manifest_nodes(MANIFEST)
    text = inventory_text(MANIFEST, nodes, Choices("alice", "ens1f0", "soft_roce"))
    assert "experiment_interface: ens1f0" in text
    assert "rdma_device_kind: soft_roce" in text


def test_somebody_who_has_no_login_is_told_who_has() -> None:
    with pytest.raises(
        UsageError, match="node0: got user 'eve', expected one of alice, bob; choose with --user"
    ):
        inventory_text(MANIFEST, read_manifest_nodes(MANIFEST), Choices("eve"))


def test_hardware_that_is_not_known_needs_to_be_described() -> None:
    nodes = read_manifest_nodes(MANIFEST)
    nodes[1].hardware = "c220g5"
    with pytest.raises(
        UsageError, match="node1: got hardware 'c220g5', expected one of m510, xl170, or --interface"
    ):
        inventory_text(MANIFEST, nodes, ALICE)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<rspec/>", "got no node with an address on an experiment network"),
        ("<rspec>", "it is no XML"),
        ("", "it is no XML"),
        ('<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><rspec>&c;</rspec>', "got a document type"),
        ('<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><rspec>&b;</rspec>', "got a document type"),
    ],
)
def test_a_file_that_is_no_manifest_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "manifest.xml"
    path.write_text(content)
    with pytest.raises(UsageError, match=message):
        read_manifest_nodes(path)


@pytest.mark.parametrize("port", ["abc", "0", "65536", "-1", "²"])
def test_a_port_that_is_none_is_a_sentence(tmp_path: Path, port: str) -> None:
    path = tmp_path / "manifest.xml"
    path.write_text(MANIFEST.read_text().replace('port="2222"', f'port="{port}"'))
    with pytest.raises(
        UsageError, match=rf"node1: got port '{port}' of a login, expected a number from 1 to"
    ):
        read_manifest_nodes(path)


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_manifest_nodes(tmp_path / "nowhere.xml")
