"""Tests: judge facts about nodes, and models of cards."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.nodes import host_facts, switch_facts, write_inventory

from rogue.harness.provisioning.cards import CARDS, card_name, card_profile
from rogue.harness.provisioning.clocks import ClockOffset
from rogue.harness.provisioning.findings import Examination, Finding, judge
from rogue.harness.provisioning.inventory import Inventory, load_inventory
from rogue.simulator.profiles import PROFILES

FILES = {"/opt/rogue/dool": "aa" * 32}
Facts = dict[str, Any]
Change = Callable[[Facts], object]


def all_facts() -> dict[str, Facts]:
    return {
        "h0": host_facts("10.9.0.10", "h1"),
        "h1": host_facts("10.9.0.11", "h0"),
        "fabric": switch_facts(),
    }


def judged(inventory: Inventory, node: str, change: Change) -> list[Finding]:
    facts = all_facts()
    change(facts[node])
    return judge(inventory, FILES, Examination(facts, {}, {}))


def test_correct_nodes_have_no_finding(inventory: Inventory) -> None:
    clocks = {"h0": ClockOffset(-0.8, 0.02)}
    assert judge(inventory, FILES, Examination(all_facts(), {}, clocks)) == []


def test_interface_is_found_by_mac(tmp_path: Path) -> None:
    mac = "52:54:00:00:00:01"
    by_mac = (
        "experiment_address: 10.9.0.11, experiment_interface: eth1",
        f"experiment_address: 10.9.0.11, experiment_mac: '{mac}'",
    )
    of_macs = load_inventory(write_inventory(tmp_path, by_mac))
    facts = all_facts()
    assert [str(each).split(";")[0] for each in judge(of_macs, FILES, Examination(facts, {}, {}))] == [
        f"refused: h1: interface with MAC {mac}: got none such, expected one of eth0, eth1"
    ]
    facts["h1"]["interface_with_mac"] = "eth1"
    assert judge(of_macs, FILES, Examination(facts, {}, {})) == []
    facts["h1"]["interfaces"]["eth1"]["mtu"] = 1500
    (finding,) = judge(of_macs, FILES, Examination(facts, {}, {}))
    assert finding.what == "MTU of eth1"


def of_card(facts: dict[str, Facts], host: str, **changes: object) -> None:
    facts[host]["rdma_ports"][0].update(
        device="mlx5_0", hca_type="MT4117", rate_bps=25_000_000_000, **changes
    )


def test_soft_roce_and_unknown_cards_are_findings(tmp_path: Path) -> None:
    cards = load_inventory(write_inventory(tmp_path, ("soft_roce}", "card}")))
    facts = all_facts()
    of_card(facts, "h0")
    found = judge(cards, FILES, Examination(facts, {}, {}))
    assert [str(finding) for finding in found] == [
        "refused: h1: RDMA device rxe0: got a device in software, expected a card; "
        "correct rdma_device_kind, or end soft-RoCE: rdma link delete rxe0.",
    ]
    of_card(facts, "h1")
    assert judge(cards, FILES, Examination(facts, {}, {})) == []
    facts["h1"]["rdma_ports"][0]["rate_bps"] = 10_000_000_000
    (finding,) = judge(cards, FILES, Examination(facts, {}, {}))
    assert str(finding).startswith(
        "warning: hosts: card: got ConnectX-4 Lx, 25 Gb/s on h0; ConnectX-4 Lx, 10 Gb/s on h1, expected the"
    )
    for host in ("h0", "h1"):
        facts[host]["rdma_ports"][0].update(hca_type="MT9999", rate_bps=400_000_000_000)
    assert {
        (finding.got, finding.refuses) for finding in judge(cards, FILES, Examination(facts, {}, {}))
    } == {("a card MT9999", False)}


def test_provisioning_heals_the_mtu_of_a_card(tmp_path: Path) -> None:
    cards = load_inventory(write_inventory(tmp_path, ("soft_roce}", "card}")))
    facts = all_facts()
    of_card(facts, "h0")
    of_card(facts, "h1")
    facts["h1"]["interfaces"]["eth1"]["mtu"] = 1500
    (finding,) = judge(cards, FILES, Examination(facts, {}, {}))
    assert finding.is_healed_by_provisioning
    assert finding.advice.endswith("where the switch takes packets of that size, or correct experiment_mtu")


def card_facts(**changes: object) -> Facts:
    own = {"driver": "mlx5_core", "trust": "pcp", "paused": [], "dcqcn": {"state": "on"}}
    return {**own, "dcbx": "host ieee", "is_willing": None, **changes}


@pytest.mark.parametrize(
    ("is_willing", "words"),
    [(True, "and is willing"), (None, "and may be willing"), (False, "and is not will")],
)
def test_firmware_that_negotiates_dcbx_is_refused(
    tmp_path: Path, is_willing: bool | None, words: str
) -> None:
    cards = load_inventory(write_inventory(tmp_path, ("soft_roce}", "card}")))
    facts = all_facts()
    for host in ("h0", "h1"):
        of_card(facts, host)
        facts[host]["interfaces"]["eth1"]["card"] = card_facts()
    assert judge(cards, FILES, Examination(facts, {}, {})) == []
    facts["h1"]["interfaces"]["eth1"]["card"] = card_facts(dcbx="cee ieee", is_willing=is_willing)
    (finding,) = judge(cards, FILES, Examination(facts, {}, {}))
    assert str(finding).startswith(
        f"refused: h1: DCBX of eth1: got `cee ieee`: the firmware negotiates {words}"
    )
    assert "the switch may override ETS and PFC" in finding.expected
    assert finding.is_healed_by_provisioning


@pytest.mark.parametrize(("driver", "count"), [("mlx5_core", 1), ("mlx4_core", 0)])
def test_unreadable_dcbx_is_a_warning(tmp_path: Path, driver: str, count: int) -> None:
    """ConnectX-3 has no firmware that negotiates."""
    cards = load_inventory(write_inventory(tmp_path, ("soft_roce}", "card}")))
    facts = all_facts()
    for host in ("h0", "h1"):
        of_card(facts, host)
        facts[host]["interfaces"]["eth1"]["card"] = card_facts(driver=driver)
    facts["h1"]["interfaces"]["eth1"]["card"]["dcbx"] = ""
    found = judge(cards, FILES, Examination(facts, {}, {}))
    assert len(found) == count
    for finding in found:
        assert str(finding).startswith(
            "warning: h1: DCBX of eth1: got a mode that cannot be read, expected `h"
        )
        assert finding.is_healed_by_provisioning
        assert "install iproute2 with dcb" in finding.advice


def test_hosts_must_pause_and_trust_alike(tmp_path: Path) -> None:
    cards = load_inventory(write_inventory(tmp_path, ("soft_roce}", "card}")))
    facts = all_facts()
    for host, trust, paused, state in (("h0", "dscp", [3], "on"), ("h1", "pcp", [], "unknown")):
        of_card(facts, host)
        own = card_facts(trust=trust, paused=paused, dcqcn={"state": state})
        facts[host]["interfaces"]["eth1"]["card"] = own
    found = judge(cards, FILES, Examination(facts, {}, {}))
    assert [(each.what, each.got, each.refuses) for each in found] == [
        ("DCQCN", "on on h0; unknown on h1", False),
        ("trust", "dscp on h0; pcp on h1", True),
        ("priorities that pause", "3 on h0; none on h1", True),
    ]
    facts["h1"]["interfaces"]["eth1"]["card"] = facts["h0"]["interfaces"]["eth1"]["card"]
    assert judge(cards, FILES, Examination(facts, {}, {})) == []


def test_interface_with_another_mac_is_refused(tmp_path: Path) -> None:
    both = (
        "10.9.0.11, experiment_interface: eth1",
        "10.9.0.11, experiment_interface: eth1, experiment_mac: '52:54:00:00:00:09'",
    )
    of_both = load_inventory(write_inventory(tmp_path, both))
    facts = all_facts()
    facts["h1"]["interface_with_mac"] = "eth0"
    (finding,) = judge(of_both, FILES, Examination(facts, {}, {}))
    assert str(finding) == (
        "refused: h1: MAC of eth1: got 52:54:00:00:00:01, expected 52:54:00:00:00:09; "
        "correct experiment_interface in the inventory: eth0 has that."
    )


REFUSALS: dict[str, tuple[str, Change]] = {
    "h1: Python: got 3.9.2, expected 3.10 or later": ("h1", lambda f: f.update(python="3.9.2")),
    "h1: tool pyverbs: got nothing": ("h1", lambda f: f.update(missing_tools=["pyverbs"])),
    "h1: interface eth1: got none such, expected one of eth0, eth1; correct experiment_interface": (
        "h1",
        lambda f: f["interfaces"].update(eth1=None),
    ),
    "h1: interface eth1: got one that is down": ("h1", lambda f: f["interfaces"]["eth1"].update(is_up=False)),
    "h1: MTU of eth1: got 1500, expected 4300": ("h1", lambda f: f["interfaces"]["eth1"].update(mtu=1500)),
    "h1: address of eth1: got 10.9.0.99, expected 10.9.0.11": (
        "h1",
        lambda f: f["addresses"].update(eth1=["10.9.0.99"]),
    ),
    "h1: RDMA device: got rxe0 on eth1, expected one with the RoCE v2 GID of 10.9.0.11": (
        "h1",
        lambda f: f["rdma_ports"][0].update(is_own=False),
    ),
    "h1: RDMA device: got GIDs of IPv6 alone (fd00::11 on eth1), expected one with the RoCE v2 GID "
    "of 10.9.0.11; give the interface that address as well, or all hosts an experim": (
        "h1",
        lambda f: f.update(rdma_ports=[], ipv6_gids=["fd00::11 on eth1"]),
    ),
    "h1: RDMA device: got none, expected": ("h1", lambda f: f.update(rdma_ports=[])),
    "h1: RDMA device rxe0 port 1: got DOWN, expected ACTIVE": (
        "h1",
        lambda f: f["rdma_ports"][0].update(state="DOWN"),
    ),
    "h1: /opt/rogue/dool: got a file with SHA-256 bbbbbbbbbbbb..., expected SHA-256 aaaaaaaaaaaa...": (
        "h1",
        lambda f: f["files"].update({"/opt/rogue/dool": "bb" * 32}),
    ),
    "h0: path to h1 over the experiment network: got none, expected replies to packets of 4300 bytes": (
        "h0",
        lambda f: f["round_trips_ms"].update(h1=None),
    ),
    "h0: path to h1 over the experiment network: got replies to small packets alone, expected replies to": (
        "h0",
        lambda f: f.update(round_trips_ms={"h1": None}, small_packets_only=["h1"]),
    ),
    "h1: processes: got `812 python3 rogue-agent.pyz serve` of an earlier run, expected none of ours": (
        "h1",
        lambda f: f["processes"].append("812 python3 rogue-agent.pyz serve"),
    ),
    "h1: state: got a node that is not provisioned": ("h1", lambda f: f.update(is_provisioned=False)),
    "h1: sysctls net.ipv4.tcp_ecn: got something else, expected what provisioning left": (
        "h1",
        lambda f: f["drift"].append("sysctls net.ipv4.tcp_ecn"),
    ),
    "h1: free space for samples: got 1000 bytes": ("h1", lambda f: f.update(free_bytes=1000)),
    "fabric: GRO of eth2: got off, expected on:": (
        "fabric",
        lambda f: f["interfaces"]["eth2"].update(gro="off"),
    ),
    "fabric: port eth2: got none such": ("fabric", lambda f: f["interfaces"].update(eth2=None)),
}  # fmt: skip


@pytest.mark.parametrize("sentence", REFUSALS)
def test_refusals(inventory: Inventory, sentence: str) -> None:
    (finding,) = judged(inventory, *REFUSALS[sentence])
    assert finding.refuses
    assert str(finding).startswith(f"refused: {sentence}")
    assert str(finding).endswith(".")


WARNINGS: dict[str, tuple[str, Change]] = {
    "h1: /tmp/rogue-dool-x1: got samples of an earlier run": (
        "h1",
        lambda f: f.update(leftovers=["/tmp/rogue-dool-x1"]),
    ),
    "h1: /var/lib/rogue/spool: got 12 bytes": ("h1", lambda f: f.update(spooled_bytes=12)),
    "hosts: kernel: got 6.1.0 on h0; 6.12 on h1, expected": ("h1", lambda f: f.update(kernel="6.12")),
}  # fmt: skip


@pytest.mark.parametrize("sentence", WARNINGS)
def test_warnings(inventory: Inventory, sentence: str) -> None:
    (finding,) = judged(inventory, *WARNINGS[sentence])
    assert not finding.refuses
    assert str(finding).startswith(f"warning: {sentence}")


def test_silent_node_hides_no_other_finding(inventory: Inventory) -> None:
    facts = all_facts()
    del facts["h0"]
    facts["h1"]["is_provisioned"] = False
    found = judge(inventory, FILES, Examination(facts, {"h0": "cannot be reached: timed out"}, {}))
    assert [finding.node for finding in found] == ["h0", "h1"]
    assert "got cannot be reached: timed out, expected a reply" in str(found[0])


def test_ports_left_by_a_cell_are_no_finding(inventory: Inventory) -> None:
    assert judged(inventory, "fabric", lambda f: f["drift"].append("traffic_control eth2")) == []
    assert len(judged(inventory, "fabric", lambda f: f["drift"].append("kernel_modules sch_red"))) == 1


def test_large_clock_offset_warns(inventory: Inventory) -> None:
    (finding,) = judge(inventory, FILES, Examination(all_facts(), {}, {"h0": ClockOffset(-3600.0, 0.1)}))
    assert "h0: clock: got -3600.0 s from this computer's" in str(finding)


def test_unknown_card_keeps_the_name_of_the_driver() -> None:
    assert (card_name("MT9999"), card_profile("MT9999")) == ("MT9999", None)


def test_card_profiles_exist_in_the_simulator() -> None:
    known = {card.profile for card in CARDS.values() if card.profile}
    assert known == {"cx3pro", "cx4"}
    assert known <= set(PROFILES)
    assert card_profile("MT4103") == "cx3pro"
