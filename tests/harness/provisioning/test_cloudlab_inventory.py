"""Tests:"""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from helpers.nodes import C6525, M510, XL170, cloudlab_manifest

from rogue.harness.errors import UsageError
from rogue.harness.provisioning.cloudlab_inventory import Choices, inventory_text
from rogue.harness.provisioning.cloudlab_manifest import choose_lan, read_manifest
from rogue.harness.provisioning.inventory import AllocatedSwitch, load_inventory

ALICE = Choices("alice")


def text_of(path: Path, lan: str | None = None, choices: Choices = ALICE) -> str:
    manifest = read_manifest(path)
    return inventory_text(manifest, choose_lan(manifest, lan), choices)


def test_hosts_of_the_lan_are_those_of_the_inventory(tmp_path: Path) -> None:
    path = tmp_path / "nodes.yaml"
    path.write_text(text_of(M510, "lan1"))
    inventory = load_inventory(path)
    assert (inventory.kind, inventory.switch, inventory.allocated_switches) == ("cloudlab", None, ())
    assert [host.name for host in inventory.hosts] == ["h0", "h1"]
    second = inventory.hosts[1]
    assert (second.login.address, second.login.port, second.login.user) == (
        "ms1041.example.net", 2222, "alice",
    )  # fmt: skip
    assert str(second.variables.experiment_address) == "10.10.2.2"
    assert (second.variables.experiment_interface, second.variables.experiment_mac) == (
        None, "14:58:d0:00:01:02",
    )  # fmt: skip
    assert second.variables.rdma_device_kind == "card"


def test_allocated_switches_stay_in_sight(tmp_path: Path) -> None:
    path = tmp_path / "nodes.yaml"
    path.write_text(text_of(XL170))
    inventory = load_inventory(path)
    assert inventory.allocated_switches == (AllocatedSwitch(name="mysw", hardware="mlnx-sn2410"),)
    assert len(inventory.hosts) == 4


def jumbo(path: Path, text: str) -> Path:
    """The manifest of a request whose links were asked for jumbo frames."""
    path.write_text(text.replace("</link>", '<emulab:jumboframes enabled="true"/></link>'))
    return path


def test_the_mtu_is_that_of_the_links(tmp_path: Path) -> None:
    assert "experiment_mtu: 1500\n" in text_of(C6525)
    for name, source in (("lan", C6525), ("switch", XL170)):
        assert "experiment_mtu: 9000\n" in text_of(jumbo(tmp_path / name, source.read_text()))
    declined = C6525.read_text().replace("</link>", '<emulab:jumboframes enabled="false"/></link>')
    (tmp_path / "declined").write_text(declined)
    assert "experiment_mtu: 1500\n" in text_of(tmp_path / "declined")


def test_one_cable_without_jumbo_frames_is_the_lan_s_limit(tmp_path: Path) -> None:
    first, rest = XL170.read_text().split("</link>", 1)
    (tmp_path / "one").write_text(f'{first}<emulab:jumboframes enabled="true"/></link>{rest}')
    assert "experiment_mtu: 1500\n" in text_of(tmp_path / "one")


@pytest.mark.parametrize("hardware", ["c6525-25g", "c6525-100g", "d6515", "r650", "xl170", "m510"])
def test_types_with_cards_need_no_flags(tmp_path: Path, hardware: str) -> None:
    path = tmp_path / "manifest.xml"
    path.write_text(C6525.read_text().replace("c6525-25g", hardware))
    hosts = yaml.safe_load(text_of(path))["all"]["children"]["hosts"]["hosts"]
    assert {host["rdma_device_kind"] for host in hosts.values()} == {"card"}
    assert hosts["h1"]["experiment_mac"] == "0c:42:a1:00:00:8b"


def test_a_hundred_and_sixty_hosts(tmp_path: Path) -> None:
    path = tmp_path / "manifest.xml"
    path.write_text(cloudlab_manifest(160))
    hosts = yaml.safe_load(text_of(path))["all"]["children"]["hosts"]["hosts"]
    assert list(hosts) == [f"h{number}" for number in range(160)]
    assert len({host["experiment_address"] for host in hosts.values()}) == 160


def test_what_the_manifest_leaves_open_can_be_said() -> None:
    text = text_of(C6525, choices=Choices("alice", "ens1f0", "soft_roce"))
    assert "experiment_interface: ens1f0" in text
    assert "rdma_device_kind: soft_roce" in text


def test_somebody_who_has_no_login_is_told_who_has() -> None:
    with pytest.raises(
        UsageError, match="node-0: got user 'eve', expected one of alice, bob; choose with --user"
    ):
        text_of(C6525, choices=Choices("eve"))


def test_hardware_that_is_not_known_needs_to_be_described(tmp_path: Path) -> None:
    path = tmp_path / "manifest.xml"
    path.write_text(C6525.read_text().replace("c6525-25g", "c220g5"))
    with pytest.raises(UsageError, match=r"node-0: got hardware 'c220g5', expected one of c6525.*or --rdma"):
        text_of(path)


def test_without_a_mac_the_interface_must_be_named() -> None:
    manifest = read_manifest(C6525)
    lan = choose_lan(manifest, None)
    lan = replace(lan, interfaces=tuple(replace(each, mac="") for each in lan.interfaces))
    with pytest.raises(UsageError, match="node-0: got no MAC of node-0:eth1, expected one, by which"):
        inventory_text(manifest, lan, ALICE)
    assert "experiment_interface: ens1" in inventory_text(manifest, lan, replace(ALICE, interface="ens1"))
