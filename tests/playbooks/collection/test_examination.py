import hashlib
import ipaddress
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.examination import Question, examine
from ansible_collections.rogue.testbed.plugins.module_utils.ledger import Entry, Ledger
from helpers.fake_card import FakeCardNode
from helpers.fake_node import FakeNode

QUESTION = Question(
    tools=["tc", "rdma", "ib_write_bw", "pyverbs"],
    interfaces=["eth1", "eth9"],
    mac="52:54:00:00:00:01",
    address="10.9.0.10",
    peers={"h1": "10.9.0.11", "h2": "10.9.0.12"},
    packet_bytes=4300,
    files=["/opt/rogue/dool", "/opt/rogue/rogue-agent.pyz"],
    spool="/var/lib/rogue/spool",
)


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    return FakeNode(tmp_path)


def add_gid(node: FakeNode, index: int, kind: str, gid: str) -> None:
    port = "/sys/class/infiniband/rxe0/ports/1"
    node.write(f"{port}/gid_attrs/types/{index}", f"{kind}\n")
    node.write(f"{port}/gid_attrs/ndevs/{index}", "eth1\n")
    node.write(f"{port}/gids/{index}", f"{ipaddress.IPv6Address(gid).exploded}\n")
    node.write(f"{port}/state", "4: ACTIVE\n")


def test_the_rdma_port_is_found_from_the_experiment_address(node: FakeNode) -> None:
    add_gid(node, 0, "IB/RoCE v1", "::ffff:10.9.0.10")
    add_gid(node, 1, "RoCE v2", "fe80::1")
    add_gid(node, 2, "RoCE v2", "::ffff:10.9.0.10")
    add_gid(node, 3, "RoCE v2", "::ffff:10.0.2.15")
    found = examine(node, QUESTION)["rdma_ports"]
    assert [(port["gid_index"], port["is_asked_for"]) for port in found] == [(2, True), (3, False)]
    assert (found[0]["device"], found[0]["port"], found[0]["interface"]) == ("rxe0", 1, "eth1")
    assert found[0]["state"] == "ACTIVE"


def test_addresses_of_ipv6_are_told_apart_from_those_that_every_link_has(node: FakeNode) -> None:
    add_gid(node, 0, "IB/RoCE v1", "fd00::9")
    add_gid(node, 1, "RoCE v2", "fe80::1")
    add_gid(node, 2, "RoCE v2", "fd00::10")
    facts = examine(node, QUESTION)
    assert (facts["rdma_ports"], facts["ipv6_gids"]) == ([], ["fd00::10 on eth1"])


def test_the_rdma_port_of_an_address_of_ipv6(node: FakeNode) -> None:
    add_gid(node, 0, "RoCE v2", "fe80::1")
    add_gid(node, 1, "RoCE v2", "::ffff:10.9.0.10")
    add_gid(node, 2, "IB/RoCE v1", "fd00::10")
    add_gid(node, 3, "RoCE v2", "fd00::10")
    found = examine(node, replace(QUESTION, address="fd00::10"))["rdma_ports"]
    assert [(port["gid_index"], port["is_asked_for"]) for port in found] == [(1, False), (3, True)]


def test_addresses_of_both_families_but_not_those_of_a_link(node: FakeNode) -> None:
    node.addresses += (
        "2: eth1    inet6 fd00::10/64 scope global \\       valid_lft forever preferred_lft forever\n"
        "2: eth1    inet6 fe80::5054:ff:fe00:1/64 scope link \\       valid_lft forever\n"
    )
    assert examine(node, QUESTION)["addresses"] == {"lo": ["127.0.0.1"], "eth1": ["10.9.0.10", "fd00::10"]}


def test_headers_of_ipv6_are_larger(node: FakeNode) -> None:
    node.replying = {"fd00::11"}
    question = replace(QUESTION, address="fd00::10", peers={"h1": "fd00::11"})
    assert examine(node, question)["round_trips_ms"] == {"h1": 1.25}
    assert any("-M do -s 4252 fd00::11" in command for command in node.commands)  # 40 for IPv6, 8 for ICMP


def test_a_cards_model_and_rate_are_read_a_device_in_software_has_neither(node: FakeNode) -> None:
    add_gid(node, 0, "RoCE v2", "::ffff:10.9.0.10")
    (port,) = examine(node, QUESTION)["rdma_ports"]
    assert (port["hca_type"], port["rate_bps"]) == ("", 0)
    node.write("/sys/class/infiniband/rxe0/hca_type", "MT4117\n")
    node.write("/sys/class/infiniband/rxe0/ports/1/rate", "25 Gb/sec (1X EDR)\n")
    (port,) = examine(node, QUESTION)["rdma_ports"]
    assert (port["hca_type"], port["rate_bps"]) == ("MT4117", 25_000_000_000)
    node.write("/sys/class/infiniband/rxe0/ports/1/rate", "2.5 Gb/sec (1X SDR)\n")
    assert examine(node, QUESTION)["rdma_ports"][0]["rate_bps"] == 2_500_000_000


def test_an_empty_slot_of_the_gid_table_is_passed_over(node: FakeNode) -> None:
    add_gid(node, 0, "RoCE v2", "::ffff:10.9.0.10")
    node.path("/sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0").unlink()
    assert examine(node, QUESTION)["rdma_ports"] == []


def test_peers_are_asked_with_packets_of_full_size_in_one_piece(node: FakeNode) -> None:
    node.replying = {"10.9.0.11"}
    assert examine(node, QUESTION)["round_trips_ms"] == {"h1": 1.25, "h2": None}
    ping = next(command for command in node.commands if command.startswith("ping"))
    assert "-M do -s 4272 " in ping  # 4300 less 20 for IP and 8 for ICMP


def test_peers_that_reply_to_small_packets_alone_are_told_apart(node: FakeNode) -> None:
    node.replying, node.replying_to_small = {"10.9.0.11"}, {"10.9.0.12"}
    facts = examine(node, QUESTION)
    assert facts["round_trips_ms"] == {"h1": 1.25, "h2": None}
    assert facts["small_packets_only"] == ["h2"]


def test_an_end_between_two_bridges_has_no_arrivals_to_merge(node: FakeNode) -> None:
    node.write("/sys/class/net/eth1/ifindex", "7\n")
    node.write("/sys/class/net/eth1/iflink", "8\n")
    assert examine(node, QUESTION)["interfaces"]["eth1"]["gro"] is None


def test_interfaces_and_addresses(node: FakeNode) -> None:
    node.write("/sys/class/net/eth1/operstate", "up\n")
    facts = examine(node, QUESTION)
    assert facts["interfaces"] == {
        "eth1": {
            "mac": "52:54:00:00:00:01",
            "mtu": 1500,
            "is_up": True,
            "gro": "on",
            "stacked": "",
            "card": None,
        },
        "eth9": None,
    }
    assert facts["addresses"] == {"lo": ["127.0.0.1"], "eth1": ["10.9.0.10"]}


@pytest.mark.parametrize(
    ("path", "text", "told"),
    [
        ("uevent", "INTERFACE=eth1\nIFINDEX=3\n", ""),
        ("uevent", "DEVTYPE=vlan\nINTERFACE=eth1\nIFINDEX=7\n", "a VLAN"),
        ("uevent", "DEVTYPE=bond\nINTERFACE=eth1\n", "a bond"),
        ("master/bonding/mode", "802.3ad 4\n", "a part of the bond master"),
        ("master/bridge/stp_state", "0\n", ""),
    ],
)
def test_bonds_and_vlans_are_known_whatever_they_are_called(
    node: FakeNode, path: str, text: str, told: str
) -> None:
    node.write(f"/sys/class/net/eth1/{path}", text)
    assert examine(node, QUESTION)["interfaces"]["eth1"]["stacked"] == told


def test_files_are_named_by_their_checksum(node: FakeNode) -> None:
    node.write("/opt/rogue/dool", "dool")
    expected = hashlib.sha256(b"dool").hexdigest()
    assert examine(node, QUESTION)["files"] == {
        "/opt/rogue/dool": expected,
        "/opt/rogue/rogue-agent.pyz": None,
    }


def test_what_an_earlier_run_left_is_found(node: FakeNode) -> None:
    node.write("/proc/812/cmdline", "python3\0/opt/rogue/rogue-agent.pyz\0serve\0")
    node.write("/proc/813/cmdline", "vi\0notes\0about\0rogue-agent.pyz\0")
    node.write("/var/lib/rogue/spool/a/rtt.csv", "12345")
    node.write("/tmp/rogue-dool-x1/cpu.csv", "1")
    node.write("/tmp/rogue-agent-k3/rtt.csv", "1")
    facts = examine(node, QUESTION)
    assert facts["processes"] == ["812 python3 /opt/rogue/rogue-agent.pyz serve"]
    assert facts["spooled_bytes"] == 5
    assert facts["leftovers"] == ["/tmp/rogue-agent-k3", "/tmp/rogue-dool-x1"]
    assert facts["free_bytes"] > 0


def test_tools_that_are_missing_are_told_from_those_that_have_no_version(node: FakeNode) -> None:
    tools = examine(node, replace(QUESTION, tools=["tc", "rdma", "pyverbs", "ib_write_bw"]))["tools"]
    iproute = "rdma utility, iproute2-6.1.0"
    assert tools == {"tc": "there", "rdma": iproute, "pyverbs": None, "ib_write_bw": None}


def test_changes_and_what_became_of_them(node: FakeNode) -> None:
    Ledger(node).write(Entry("role", "mtu", "eth1", 4300, 1500, 4300))
    facts = examine(node, QUESTION)
    assert (facts["changes"], facts["drift"]) == (1, ["mtu eth1"])


def test_a_card_says_trust_pauses_and_dcqcn(tmp_path: Path) -> None:
    node = FakeCardNode(tmp_path)
    node.objects["app"]["dscp-prio"] = "26:3"
    node.objects["pfc"]["prio-pfc"] = "0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off"
    asked = Question([], ["eth1", "eth0"], "", "", {}, 1500, [], "/var/lib/rogue/spool")
    interfaces = examine(node, asked)["interfaces"]
    assert interfaces["eth1"]["card"]["trust"] == "dscp"
    assert interfaces["eth1"]["card"]["paused"] == [3]
    assert interfaces["eth1"]["card"]["dcqcn"]["state"] == "unknown"
    assert interfaces["eth1"]["card"]["accelerations"]["reason"] == "mstreg is not installed"
    assert interfaces["eth0"]["card"] is None
