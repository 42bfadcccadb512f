from dataclasses import replace
from ipaddress import IPv4Interface
from pathlib import Path

import pytest
from helpers.cloudlab import C6525, M510, XL170, manifest_of

from rogue.harness.errors import UsageError
from rogue.harness.provisioning.cloudlab_manifest import (
    Manifest,
    ManifestInterface,
    ManifestLink,
    ManifestNode,
    choose_lan,
    lans_of,
    read_manifest,
)


def test_of_two_lans_one_must_be_named() -> None:
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


def test_links_that_meet_in_an_allocated_switch_are_one_lan() -> None:
    lan = choose_lan(read_manifest(XL170), None)
    assert (lan.name, lan.switches) == ("mysw", ("mysw",))
    assert [each.node for each in lan.interfaces] == ["node0", "node1", "node2", "node3"]


def test_switches_that_are_cabled_to_each_other_are_one_lan() -> None:
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


def test_one_lan_needs_no_name() -> None:
    assert choose_lan(read_manifest(C6525), None).name == "link-0"


def test_a_hundred_and_sixty_nodes(tmp_path: Path) -> None:
    path = tmp_path / "manifest.xml"
    path.write_text(manifest_of(160))
    assert len(choose_lan(read_manifest(path), None).interfaces) == 160


@pytest.mark.parametrize("hosts", [0, 1])
def test_one_host_is_no_lan(tmp_path: Path, hosts: int) -> None:
    path = tmp_path / "manifest.xml"
    path.write_text(manifest_of(hosts))
    with pytest.raises(UsageError, match="got no LAN with addresses of two nodes, expected one; give"):
        choose_lan(read_manifest(path), None)


DATASET = (
    '<node client_id="dataset"><sliver_type name="{kind}"/><interface client_id="dataset:if0">'
    '<ip address="10.10.1.9" type="ipv4" netmask="255.255.255.0"/></interface></node></rspec>'
)


@pytest.mark.parametrize("kind", ["emulab-blockstore", "delay", "firewall"])
def test_a_machine_that_is_no_host_is_left_out(tmp_path: Path, kind: str) -> None:
    text = C6525.read_text().replace("</rspec>", DATASET.format(kind=kind))
    path = tmp_path / "manifest.xml"
    path.write_text(text.replace("<link_type", '<interface_ref client_id="dataset:if0"/><link_type', 1))
    assert [each.node for each in choose_lan(read_manifest(path), None).interfaces] == ["node-0", "node-1"]


@pytest.mark.parametrize("tag", ["vlan_tagging", "link_multiplexing"])
def test_a_link_that_shares_ports_is_refused(tmp_path: Path, tag: str) -> None:
    path = tmp_path / "manifest.xml"
    path.write_text(C6525.read_text().replace("</link>", f'<emulab:{tag} enabled="true"/></link>'))
    with pytest.raises(UsageError, match=f"link-0: got {tag}, expected a port of a card for each link"):
        choose_lan(read_manifest(path), None)


def test_two_interfaces_on_one_port_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "manifest.xml"
    path.write_text(M510.read_text().replace("ms1040:eth2", "ms1040:eth1"))
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
            lan_of("10.0.1.1/24", "10.0.1.1/24"),
            "manifest m.xml: lan0: got 10.0.1.1 of both a and b, expected one owner.",
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
def test_a_lan_that_would_measure_something_else_is_refused(manifest: Manifest, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        choose_lan(manifest, None)
    assert str(refused.value) == sentence
