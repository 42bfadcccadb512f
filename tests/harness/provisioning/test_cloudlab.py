"""Tests: a CloudLab manifest and its inventory."""

from dataclasses import replace
from ipaddress import IPv4Interface
from pathlib import Path

import pytest
from helpers.nodes import C6525, M510, XL170, cloudlab_manifest

from rogue.harness.errors import UsageError
from rogue.harness.provisioning.cloudlab import (
    SIZE_MAX_BYTES,
    Choices,
    Manifest,
    ManifestInterface,
    ManifestLink,
    ManifestNode,
    choose_lan,
    inventory_text,
    lans_of,
    read_manifest,
)
from rogue.harness.provisioning.inventory import AllocatedSwitch, load_inventory


def changed(directory: Path, *changes: tuple[str, str], of: Path = M510) -> Path:
    """Write a manifest in which the first of each text is replaced."""
    text = of.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path = directory / "manifest.xml"
    path.write_text(text)
    return path


def test_nodes_interfaces_and_links_are_read() -> None:
    manifest = read_manifest(M510)
    assert [node.name for node in manifest.nodes] == ["node0", "node1", "node2", "controller"]
    node = manifest.nodes[1]
    assert (node.hardware, node.is_switch) == ("m510", False)
    assert node.logins == dict.fromkeys(("alice", "bob"), ("ms1041.example.net", 2222))
    assert [(each.name, each.mac, each.address) for each in node.interfaces] == [
        ("node1:eth1", "14:58:d0:00:00:02", IPv4Interface("10.10.1.2/24")),
        ("node1:eth2", "14:58:d0:00:01:02", IPv4Interface("10.10.2.2/24")),
    ]
    assert [(link.name, len(link.interfaces)) for link in manifest.links] == [("lan0", 3), ("lan1", 2)]


@pytest.mark.parametrize("requested", ['<hardware_type name="pc"/>', ""])
def test_hardware_type_is_that_of_the_allocated_machine(tmp_path: Path, requested: str) -> None:
    path = changed(tmp_path, ('<hardware_type name="m510"/>', requested))
    assert [node.hardware for node in read_manifest(path).nodes[:2]] == ["m510", "m510"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<rspec>", "it is no XML"),
        ("", "it is no XML"),
        ('<?xml version="1.0" encoding="ebcdic-x"?><rspec/>', "it is no XML"),
        ("\x00\x01", "it is no XML"),
        ('<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><rspec>&b;</rspec>', "got a document type"),
        ('<rspec><node client_id="a"/><node client_id="a"/></rspec>', "got two nodes called 'a'"),
        ('<rspec><link client_id="a"/><link client_id="a"/></rspec>', "got two links called 'a'"),
        ("<rspec><node/></rspec>", "got client_id '' of a node, expected letters"),
    ],
)
def test_invalid_manifest_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "manifest.xml"
    path.write_text(content)
    with pytest.raises(UsageError, match=f"^manifest {path}: .*{message}"):
        read_manifest(path)


def test_too_large_file_is_not_parsed(tmp_path: Path) -> None:
    path = tmp_path / "manifest.xml"
    path.write_bytes(b" " * (SIZE_MAX_BYTES + 1))
    with pytest.raises(UsageError, match="it has more than 20000000 bytes"):
        read_manifest(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ('"ms1041.example.net"', '"-oProxyCommand=touch"'),
            "node1: got hostname '-oProxyCommand=touch' of a",
        ),
        (
            ('"ms1041.example.net"', '"{{ 1 + 1 }}"'),
            r"node1: got hostname '\{\{ 1 \+ 1 \}\}' of a login, exp",
        ),
        (
            ('hardware_type name="m510"', 'hardware_type name="a\nb"'),
            r"node0: got name 'a b' of a hardware_type",
        ),
        (
            ('username="alice"', 'username="alice bob"'),
            "node0: got username 'alice bob' of a login, expected",
        ),
        (("1458d0000001", "1458d0000z01"), "node0: got MAC '1458d0000z01' of node0:eth1, expected 12 hexa"),
        (("10.10.1.1", "10.10.1.256"), "node0: got address '10.10.1.256/255.255.255.0' of node0:eth1, exp"),
        (('netmask="255.255.255.0"', 'netmask="255.0.255.0"'), "node0: got address '10.10.1.1/255.0.255.0'"),
        (
            ('"node1:eth2" comp', '"node1:eth1" comp'),
            "got two interfaces called 'node1:eth1', expected names",
        ),
        (
            ("</interface>", '<ip address="1.2.3.4" netmask="255.0.0.0"/></interface>'),
            "node0: got addresses 10",
        ),
        *(
            (
                ('port="2222"', f'port="{port}"'),
                f"node1: got port '{port}' of a login, expected a number from 1 to",
            )
            for port in ("abc", "0", "65536", "-1", "²", "٣")
        ),
    ],
)
def test_manifest_values_are_checked(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_manifest(changed(tmp_path, change))


def test_one_of_two_lans_must_be_named() -> None:
    manifest = read_manifest(M510)
    with pytest.raises(UsageError) as refused:
        choose_lan(manifest, None)
    assert str(refused.value) == (
        f"manifest {M510}: got 2 LANs: lan0 (node0, node1, node2); lan1 (node0, node1); expected one; "
        "choose with --lan."
    )
    assert [each.name for each in choose_lan(manifest, "lan1").interfaces] == ["node0:eth2", "node1:eth2"]
    with pytest.raises(UsageError, match=r"got no LAN 'lan2', expected one of lan0 \(node0"):
        choose_lan(manifest, "lan2")


def test_links_to_one_switch_are_one_lan() -> None:
    lan = choose_lan(read_manifest(XL170), None)
    assert (lan.name, lan.switches) == ("mysw", ("mysw",))
    assert [each.node for each in lan.interfaces] == ["node0", "node1", "node2", "node3"]


def test_connected_switches_are_one_lan() -> None:
    manifest = read_manifest(XL170)
    (mysw,) = [node for node in manifest.nodes if node.is_switch]
    own = (*mysw.interfaces[:2], ManifestInterface("mysw:up", "mysw", "", None))
    others = tuple(replace(each, node="other") for each in mysw.interfaces[2:])
    others = (*others, ManifestInterface("other:up", "other", "", None))
    switches = (replace(mysw, interfaces=own), replace(mysw, name="other", interfaces=others))
    nodes = tuple(node for node in manifest.nodes if not node.is_switch) + switches
    links = (*manifest.links, ManifestLink("up", ("mysw:up", "other:up")))
    (lan,) = lans_of(Manifest(Path("m.xml"), nodes, links))
    assert (len(lan.interfaces), lan.switches) == (4, ("mysw", "other"))


@pytest.mark.parametrize("hosts", [0, 1])
def test_one_host_is_not_a_lan(tmp_path: Path, hosts: int) -> None:
    path = tmp_path / "manifest.xml"
    path.write_text(cloudlab_manifest(hosts))
    with pytest.raises(UsageError, match="got no LAN with addresses of two nodes, expected one; give"):
        choose_lan(read_manifest(path), None)


DATASET = (
    '<node client_id="dataset"><sliver_type name="{kind}"/><interface client_id="dataset:if0">'
    '<ip address="10.10.1.9" type="ipv4" netmask="255.255.255.0"/></interface></node></rspec>'
)


@pytest.mark.parametrize("kind", ["emulab-blockstore", "delay", "firewall"])
def test_machines_that_are_not_hosts_are_left_out(tmp_path: Path, kind: str) -> None:
    text = C6525.read_text().replace("</rspec>", DATASET.format(kind=kind))
    path = tmp_path / "manifest.xml"
    path.write_text(text.replace("<link_type", '<interface_ref client_id="dataset:if0"/><link_type', 1))
    assert [each.node for each in choose_lan(read_manifest(path), None).interfaces] == ["node-0", "node-1"]


@pytest.mark.parametrize("tag", ["vlan_tagging", "link_multiplexing"])
@pytest.mark.parametrize("enabled", [' enabled="true"', ' enabled="True"', ""])
def test_link_that_shares_ports_is_refused(tmp_path: Path, tag: str, enabled: str) -> None:
    path = changed(tmp_path, ("</link>", f"<emulab:{tag}{enabled}/></link>"), of=C6525)
    with pytest.raises(UsageError, match=f"link-0: got {tag}, expected a port of a card for each link"):
        choose_lan(read_manifest(path), None)


def test_two_interfaces_on_one_port_are_refused(tmp_path: Path) -> None:
    path = changed(tmp_path, ("ms1040:eth2", "ms1040:eth1"))
    with pytest.raises(UsageError, match=r"lan1: got node0:eth2 and node0:eth1 on one port \(urn:"):
        choose_lan(read_manifest(path), "lan1")


def lan_of(*addresses: str, nodes: tuple[str, ...] = ("a", "b")) -> Manifest:
    interfaces = [
        ManifestInterface(f"{number}", node, "", IPv4Interface(address))
        for number, (node, address) in enumerate(zip(nodes, addresses, strict=True))
    ]
    names = tuple(each.name for each in interfaces)
    built = tuple(
        ManifestNode(node, "m510", False, {}, tuple(each for each in interfaces if each.node == node))
        for node in dict.fromkeys(nodes)
    )
    return Manifest(Path("m.xml"), built, (ManifestLink("lan0", names),))


@pytest.mark.parametrize(
    ("manifest", "sentence"),
    [
        (
            lan_of("10.0.1.1/24", "10.0.2.1/24"),
            "manifest m.xml: lan0: got subnets 10.0.1.0/24 of a, 10.0.2.0/24 of b; expected one for all "
            "hosts.",
        ),
        (
            lan_of("10.0.1.1/24", "10.0.1.2/24", "10.0.1.3/24", nodes=("a", "b", "a")),
            "manifest m.xml: lan0: got two interfaces of a, expected one of each host.",
        ),
        (
            replace(lan_of("10.0.1.1/24", "10.0.1.2/24"), links=(ManifestLink("lan0", ("0", "9")),)),
            "manifest m.xml: lan0: got interface '9', expected one that a node has; give the manifest of all "
            "clusters of the experiment in one file.",
        ),
    ],
)
def test_unusable_lan_is_refused(manifest: Manifest, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        choose_lan(manifest, None)
    assert str(refused.value) == sentence


ALICE = Choices("alice")


def text_of(path: Path, lan: str | None = None, choices: Choices = ALICE) -> str:
    manifest = read_manifest(path)
    return inventory_text(manifest, choose_lan(manifest, lan), choices)


def test_inventory_has_the_hosts_of_the_lan(tmp_path: Path) -> None:
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


def test_inventory_names_allocated_switches(tmp_path: Path) -> None:
    path = tmp_path / "nodes.yaml"
    path.write_text(text_of(XL170))
    inventory = load_inventory(path)
    assert inventory.allocated_switches == (AllocatedSwitch(name="mysw", hardware="mlnx-sn2410"),)
    assert len(inventory.hosts) == 4


@pytest.mark.parametrize(
    ("source", "jumbo_frames", "mtu_bytes"),
    [(C6525, None, 1500), (C6525, "false", 1500), (C6525, "true", 9000), (XL170, "true", 9000)],
)
def test_mtu_is_that_of_the_links(
    tmp_path: Path, source: Path, jumbo_frames: str | None, mtu_bytes: int
) -> None:
    tag = f'<emulab:jumboframes enabled="{jumbo_frames}"/>' if jumbo_frames else ""
    (tmp_path / "manifest.xml").write_text(source.read_text().replace("</link>", f"{tag}</link>"))
    assert f"experiment_mtu: {mtu_bytes}\n" in text_of(tmp_path / "manifest.xml")


@pytest.mark.parametrize(
    ("change", "choices", "message"),
    [
        (
            ("c6525-25g", "c6525-25g"),
            Choices("eve"),
            "node-0: got user 'eve', expected one of alice, bob; choose with --user",
        ),
        (("c6525-25g", "c220g5"), ALICE, r"node-0: got hardware 'c220g5', expected one of c6525.*or --rdma"),
    ],
)
def test_user_and_hardware_must_be_known(
    tmp_path: Path, change: tuple[str, str], choices: Choices, message: str
) -> None:
    path = tmp_path / "manifest.xml"
    path.write_text(C6525.read_text().replace(*change))
    with pytest.raises(UsageError, match=message):
        text_of(path, choices=choices)


def test_options_complete_the_manifest() -> None:
    text = text_of(C6525, choices=Choices("alice", "ens1f0", "soft_roce"))
    assert "experiment_interface: ens1f0" in text
    assert "rdma_device_kind: soft_roce" in text


def test_interface_without_mac_needs_an_option() -> None:
    manifest = read_manifest(C6525)
    lan = choose_lan(manifest, None)
    lan = replace(lan, interfaces=tuple(replace(each, mac="") for each in lan.interfaces))
    with pytest.raises(UsageError, match="node-0: got no MAC of node-0:eth1, expected one, by which"):
        inventory_text(manifest, lan, ALICE)
    assert "experiment_interface: ens1" in inventory_text(manifest, lan, replace(ALICE, interface="ens1"))
