"""Tests of the module `node_facts`: facts about a node, its cards and its leftovers."""

import hashlib
import ipaddress
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.rogue.testbed.plugins.module_utils.card_priorities import card_of
from ansible_collections.rogue.testbed.plugins.module_utils.snapshot import BEFORE, establish
from ansible_collections.rogue.testbed.plugins.module_utils.system import CommandError, StateError
from ansible_collections.rogue.testbed.plugins.modules import kernel_settings, node_facts
from ansible_collections.rogue.testbed.plugins.modules.node_facts import dcqcn_of, examine
from helpers.fake_card import INTERRUPTS, PCI, FakeCardNode
from helpers.fake_node import FakeNode

OPTIONS: dict[str, Any] = {
    "tools": ["tc", "rdma", "ib_write_bw", "pyverbs"],
    "interfaces": ["eth1", "eth9"],
    "mac": "52:54:00:00:00:01",
    "address": "10.9.0.10",
    "peers": {"h1": "10.9.0.11", "h2": "10.9.0.12"},
    "packet_bytes": 4300,
    "files": ["/opt/rogue/dool", "/opt/rogue/rogue-agent.pyz"],
}
"""The options that a playbook gives the module."""


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    return FakeNode(tmp_path)


def add_gid(node: FakeNode, index: int, kind: str, gid: str) -> None:
    port = "/sys/class/infiniband/rxe0/ports/1"
    node.write(f"{port}/gid_attrs/types/{index}", f"{kind}\n")
    node.write(f"{port}/gid_attrs/ndevs/{index}", "eth1\n")
    node.write(f"{port}/gids/{index}", f"{ipaddress.IPv6Address(gid).exploded}\n")
    node.write(f"{port}/state", "4: ACTIVE\n")


def test_rdma_port_of_the_experiment_address(node: FakeNode) -> None:
    add_gid(node, 0, "IB/RoCE v1", "::ffff:10.9.0.10")
    add_gid(node, 1, "RoCE v2", "fe80::1")
    add_gid(node, 2, "RoCE v2", "::ffff:10.9.0.10")
    add_gid(node, 3, "RoCE v2", "::ffff:10.0.2.15")
    found = examine(node, OPTIONS)["rdma_ports"]
    assert [(port["gid_index"], port["is_own"]) for port in found] == [(2, True), (3, False)]
    assert (found[0]["device"], found[0]["port"], found[0]["interface"]) == ("rxe0", 1, "eth1")
    assert found[0]["state"] == "ACTIVE"


def test_ipv6_gids_exclude_link_local(node: FakeNode) -> None:
    add_gid(node, 0, "IB/RoCE v1", "fd00::9")
    add_gid(node, 1, "RoCE v2", "fe80::1")
    add_gid(node, 2, "RoCE v2", "fd00::10")
    facts = examine(node, OPTIONS)
    assert (facts["rdma_ports"], facts["ipv6_gids"]) == ([], ["fd00::10 on eth1"])


def test_rdma_port_of_an_ipv6_address(node: FakeNode) -> None:
    add_gid(node, 0, "RoCE v2", "fe80::1")
    add_gid(node, 1, "RoCE v2", "::ffff:10.9.0.10")
    add_gid(node, 2, "IB/RoCE v1", "fd00::10")
    add_gid(node, 3, "RoCE v2", "fd00::10")
    found = examine(node, {**OPTIONS, "address": "fd00::10"})["rdma_ports"]
    assert [(port["gid_index"], port["is_own"]) for port in found] == [(1, False), (3, True)]


def test_addresses_exclude_ipv6_link_local(node: FakeNode) -> None:
    node.addresses |= {"eth1": ["10.9.0.10", "fd00::10", "fe80::5054:ff:fe00:1"], "eth2": ["fe80::1"]}
    assert examine(node, OPTIONS)["addresses"] == {"lo": ["127.0.0.1"], "eth1": ["10.9.0.10", "fd00::10"]}


@pytest.mark.parametrize("printed", ["1: lo    inet 127.0.0.1/8", 'Option "-json" is unknown'])
def test_ip_without_json_is_named(node: FakeNode, printed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(command: list[str], _text: str) -> str:
        if "unknown" in printed:
            raise CommandError(command, printed)
        return printed

    monkeypatch.setattr(node, "_ip", answer)
    with pytest.raises(StateError, match=r"ip: got no JSON from `ip -json address show`, expected iproute2"):
        examine(node, OPTIONS)


def test_no_addresses_without_ip_or_on_an_interface(node: FakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "_ip", lambda *_: '[{}, {"ifname": "eth1"}]')
    assert examine(node, OPTIONS)["addresses"] == {}
    monkeypatch.setattr(node, "_ip", None)
    assert examine(node, OPTIONS)["addresses"] == {}


@pytest.mark.parametrize("module", [node_facts, kernel_settings])
def test_documentation_has_the_options_of_the_module(module: Any) -> None:
    documented = yaml.safe_load(module.DOCUMENTATION)["options"]
    assert all(option.pop("description") for option in documented.values())
    assert documented == module._ARGUMENTS


def test_ping_size_over_ipv6(node: FakeNode) -> None:
    node.replying = {"fd00::11"}
    options = {**OPTIONS, "address": "fd00::10", "peers": {"h1": "fd00::11"}}
    assert examine(node, options)["round_trips_ms"] == {"h1": 1.25}
    assert any("-M do -s 4252 fd00::11" in command for command in node.commands)  # 40 for IPv6, 8 for ICMP


def test_model_and_rate_of_an_rdma_port(node: FakeNode) -> None:
    add_gid(node, 0, "RoCE v2", "::ffff:10.9.0.10")
    (port,) = examine(node, OPTIONS)["rdma_ports"]
    assert (port["hca_type"], port["rate_bps"]) == ("", 0)
    node.write("/sys/class/infiniband/rxe0/hca_type", "MT4117\n")
    node.write("/sys/class/infiniband/rxe0/ports/1/rate", "25 Gb/sec (1X EDR)\n")
    (port,) = examine(node, OPTIONS)["rdma_ports"]
    assert (port["hca_type"], port["rate_bps"]) == ("MT4117", 25_000_000_000)
    node.write("/sys/class/infiniband/rxe0/ports/1/rate", "2.5 Gb/sec (1X SDR)\n")
    assert examine(node, OPTIONS)["rdma_ports"][0]["rate_bps"] == 2_500_000_000


def test_peers_are_pinged_with_full_packets(node: FakeNode) -> None:
    node.replying = {"10.9.0.11"}
    assert examine(node, OPTIONS)["round_trips_ms"] == {"h1": 1.25, "h2": None}
    ping = next(command for command in node.commands if command.startswith("ping"))
    assert "-M do -s 4272 " in ping  # 4300 less 20 for IP and 8 for ICMP


def test_peers_that_reply_to_small_packets_alone_are_named(node: FakeNode) -> None:
    node.replying, node.replying_to_small = {"10.9.0.11"}, {"10.9.0.12"}
    facts = examine(node, OPTIONS)
    assert facts["round_trips_ms"] == {"h1": 1.25, "h2": None}
    assert facts["small_packets_only"] == ["h2"]


def test_interfaces_and_addresses(node: FakeNode) -> None:
    node.write("/sys/class/net/eth1/operstate", "up\n")
    facts = examine(node, OPTIONS)
    assert facts["interfaces"] == {
        "eth1": {
            "mac": "52:54:00:00:00:01",
            "mtu": 1500,
            "is_up": True,
            "gro": "on",
            "card": None,
        },
        "eth9": None,
    }
    assert facts["addresses"] == {"lo": ["127.0.0.1"], "eth1": ["10.9.0.10"]}


def test_files_are_named_by_their_checksum(node: FakeNode) -> None:
    node.write("/opt/rogue/dool", "dool")
    expected = hashlib.sha256(b"dool").hexdigest()
    assert examine(node, OPTIONS)["files"] == {
        "/opt/rogue/dool": expected,
        "/opt/rogue/rogue-agent.pyz": None,
    }


def test_leftovers_of_an_earlier_run(node: FakeNode) -> None:
    node.write("/proc/812/cmdline", "python3\0/opt/rogue/rogue-agent.pyz\0serve\0")
    node.write("/proc/813/cmdline", "vi\0notes\0about\0rogue-agent.pyz\0")
    node.write("/proc/814/cmdline", "")
    node.path("/proc/814/cmdline").write_bytes(b"cat\0caf\xe9\0")  # no UTF-8
    node.write("/var/lib/rogue/spool/a/rtt.csv", "12345")
    node.write("/tmp/rogue-dool-x1/cpu.csv", "1")
    node.write("/tmp/rogue-agent-k3/rtt.csv", "1")
    facts = examine(node, OPTIONS)
    assert facts["processes"] == ["812 python3 /opt/rogue/rogue-agent.pyz serve"]
    assert facts["spooled_bytes"] == 5
    assert facts["leftovers"] == ["/tmp/rogue-agent-k3", "/tmp/rogue-dool-x1"]
    assert facts["free_bytes"] > 0


def test_missing_tools_are_named(node: FakeNode) -> None:
    assert examine(node, OPTIONS)["missing_tools"] == ["ib_write_bw", "pyverbs"]


def test_drift_of_a_provisioned_node(node: FakeNode) -> None:
    assert not examine(node, OPTIONS)["is_provisioned"]
    establish(node, {"kernel_files": {"/sys/class/net/eth1/mtu": 4300}}, False)
    node.write("/etc/modules-load.d/rogue.conf", "ib_uverbs\nrdma-rxe\n")
    node.load("rdma_rxe")
    node.write("/sys/class/net/eth1/mtu", "1400\n")
    facts = examine(node, OPTIONS)
    assert node.path(BEFORE).exists()
    assert facts["is_provisioned"]
    assert facts["drift"] == ["kernel module ib_uverbs", "kernel_files /sys/class/net/eth1/mtu"]


def test_interface_with_mac(node: FakeNode) -> None:
    node.write("/sys/class/net/br0/address", "52:54:00:00:00:01\n")
    assert examine(node, OPTIONS)["interface_with_mac"] == "eth1", "a bridge borrows the MAC of its port"
    node.write("/var/emulab/boot/ifmap", "eth0 10.1.1.2 525400000001\n")
    assert examine(node, OPTIONS)["interface_with_mac"] == "eth0"
    assert examine(node, {**OPTIONS, "mac": "52:54:00:00:00:99"})["interface_with_mac"] is None


@pytest.mark.parametrize(
    ("release", "family", "is_supported"),
    [
        ("ID=debian\n", "debian", True),
        ("ID=ubuntu\nID_LIKE=debian\n", "debian", True),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="10.0"\n', "rhel", True),
        ('ID="rhel"\nID_LIKE="fedora"\nVERSION_ID="10.1"\n', "rhel", True),
        ('ID="almalinux"\nID_LIKE="rhel"\nVERSION_ID="9.4"\n', "rhel", False),
        ("ID=arch\n", "", False),
        ("", "", False),
    ],
)
def test_supported_systems(node: FakeNode, release: str, family: str, is_supported: bool) -> None:
    node.write("/etc/os-release", release)
    facts = examine(node, OPTIONS)
    assert (facts["family"], facts["is_supported_system"]) == (family, is_supported)


def test_trust_pauses_and_dcqcn_of_a_card(tmp_path: Path) -> None:
    node = FakeCardNode(tmp_path)
    node.objects["app"]["dscp-prio"] = "26:3"
    node.objects["pfc"]["prio-pfc"] = "0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off"
    interfaces = examine(node, {**OPTIONS, "interfaces": ["eth1", "eth0"]})["interfaces"]
    assert interfaces["eth1"]["card"]["trust"] == "dscp"
    assert interfaces["eth1"]["card"]["paused"] == [3]
    assert interfaces["eth1"]["card"]["dcqcn"]["state"] == "unknown"
    assert interfaces["eth0"]["card"] is None
    assert interfaces["eth1"]["card"]["interrupts"] == list(INTERRUPTS)
    assert interfaces["eth1"]["card"]["local_processors"] == [0, 1, 4]


def test_dcbx_and_its_firmware(tmp_path: Path) -> None:
    """mstconfig needs root, so without it the firmware's setting is unknown."""
    node = FakeCardNode(tmp_path)

    def card() -> dict[str, Any]:
        found: dict[str, Any] = examine(node, {**OPTIONS, "interfaces": ["eth1"]})["interfaces"]["eth1"][
            "card"
        ]
        return found

    assert (card()["dcbx"], card()["is_willing"]) == ("cee ieee", None)
    node.mstconfig = "   DCBX_WILLING_P1     True(1)\n   DCBX_WILLING_P2     False(0)\n"
    assert card()["is_willing"] is True
    node.mstconfig = node.mstconfig.replace("P1     True(1)", "P1     False(0)")
    assert card()["is_willing"] is False
    node.dcbx = ["host", "ieee"]
    node.commands.clear()
    assert (card()["dcbx"], card()["is_willing"]) == ("host ieee", None)
    assert not [each for each in node.commands if "config" in each], (
        "only firmware that negotiates is willing"
    )


def test_dcbx_is_not_known_without_dcb(tmp_path: Path) -> None:
    node = FakeCardNode(tmp_path)
    node.has_dcb = False
    node.mstconfig = "   DCBX_WILLING_P1     True(1)\n"
    found = examine(node, {**OPTIONS, "interfaces": ["eth1"]})["interfaces"]["eth1"]["card"]
    assert (found["dcbx"], found["is_willing"]) == ("", None)


def test_idle_states_by_file(tmp_path: Path) -> None:
    states = examine(FakeCardNode(tmp_path), OPTIONS)["idle_states"]
    assert len(states) == 6
    assert states["/sys/devices/system/cpu/cpu1/cpuidle/state2/disable"] == 133


def test_dcqcn_state(tmp_path: Path) -> None:
    def dcqcn(node: FakeNode) -> dict[str, Any]:
        return dcqcn_of(node, "eth1", card_of(node, "eth1"))

    ofed = FakeCardNode(tmp_path / "ofed", has_ofed=True)
    assert (dcqcn(ofed)["state"], len(dcqcn(ofed)["switches"])) == ("on", 16)
    ofed.write("/sys/class/net/eth1/ecn/roce_rp/enable/5", "0\n")
    assert dcqcn(ofed)["state"] == "on for some priorities"
    inbox = dcqcn(FakeCardNode(tmp_path / "inbox"))
    assert (inbox["state"], inbox["switches"]) == ("unknown", {})
    assert f"/sys/kernel/debug/mlx5/{PCI}/cc_params/rp_ai_rate" in inbox["parameters"]
    assert dcqcn(FakeCardNode(tmp_path / "old", "mlx4_core"))["reason"] == "ConnectX-3 has none"
    assert dcqcn(FakeNode(tmp_path / "none"))["state"] == "none"
