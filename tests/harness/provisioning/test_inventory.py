from ipaddress import IPv4Address
from pathlib import Path

import pytest
from helpers.nodes import write_inventory

from harness.errors import ConfigError, UsageError
from harness.provisioning.inventory import Login, load_inventory


def test_hosts_switch_and_logins_are_read_as_ansible_reads_them(tmp_path: Path) -> None:
    inventory = load_inventory(write_inventory(tmp_path))
    assert inventory.kind == "virtual"
    assert [host.name for host in inventory.hosts] == ["h0", "h1"]
    assert inventory.hosts[1].variables.experiment_address == IPv4Address("10.9.0.11")
    assert inventory.hosts[1].variables.rdma_device_kind == "soft_roce"
    assert inventory.switch is not None
    assert [port.name for port in inventory.switch.variables.ports] == ["s0->h0", "s0->h1"]
    key, known = tmp_path / "id_ecdsa", tmp_path / "known_hosts"
    assert inventory.logins[0] == Login("h0", "127.0.0.1", 4001, "root", key, known)
    assert [login.node for login in inventory.logins] == ["h0", "h1", "fabric"]


def test_nodes_of_ones_own_need_no_switch(tmp_path: Path) -> None:
    text = write_inventory(tmp_path).read_text()
    path = tmp_path / "inventory.yaml"
    path.write_text(text[: text.index("    switch:")].replace("    testbed_kind: virtual\n", ""))
    inventory = load_inventory(path)
    assert (inventory.kind, inventory.switch) == ("nodes", None)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("10.9.0.11", "10.9.0.256", "h1.experiment_address: got '10.9.0.256', expected"),
        (", experiment_interface: eth1}\n        h1", "}\n        h1", "h0.experiment_interface: got"),
        ("soft_roce", "mellanox", "h0.rdma_device_kind: got 'mellanox', expected input should be"),
        ("experiment_mtu: 4300", "experiment_mtu: 20", "fabric.experiment_mtu: got 20, expected"),
        ("interface: eth2, ", "", "fabric.ports.1.interface: got nothing, expected a value"),
        ("Checking=yes", "Checking=no", "h0: got host keys that are not verified, expected"),
        ("StrictHostKeyChecking=yes", "'StrictHostKeyChecking no'", "h1: got host keys that are not"),
        ("    switch:\n", "    other:\n", None),
        ("    hosts:\n      vars", "    nodes:\n      vars", "hosts: got no host in it"),
    ],
)  # fmt: skip
def test_each_mistake_is_a_sentence(tmp_path: Path, old: str, new: str, message: str | None) -> None:
    path = write_inventory(tmp_path, (old, new))
    if message is None:
        assert load_inventory(path).switch is None
        return
    with pytest.raises(ConfigError) as caught:
        load_inventory(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_a_file_that_is_none_or_no_inventory(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected a file; `rogue testbed up` writes one"):
        load_inventory(tmp_path / "nowhere.yaml")
    (tmp_path / "broken.yaml").write_text("all: [")
    with pytest.raises(UsageError, match="Ansible cannot read it"):
        load_inventory(tmp_path / "broken.yaml")
