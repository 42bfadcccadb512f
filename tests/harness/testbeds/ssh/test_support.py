"""Tests: refuse what the nodes of an inventory cannot run, before the run."""

from dataclasses import replace
from ipaddress import IPv6Address
from pathlib import Path

import pytest
from helpers.experiments import cell_of
from helpers.fake_agents import CAPABILITIES, fake_inventory

from rogue.agent.node import messages
from rogue.agent.node.messages import Capabilities
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.testbeds.ssh import support
from rogue.harness.testbeds.ssh.support import (
    not_measured,
    too_large_packets,
    unsupported,
    unsupported_topology,
    used_hosts,
)

NODES = {f"h{index}": CAPABILITIES for index in range(4)}
SLOW = "topology.rate=100Mbps"


def test_unprovisioned_node_is_refused(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, SLOW)
    bare = {**NODES, "h1": replace(CAPABILITIES, pyverbs=None)}
    assert str(unsupported(cell, fake_inventory(), bare)).startswith("h1 has no pyverbs for rogue")
    portless = {**NODES, "h2": replace(CAPABILITIES, ports=[])}
    assert str(unsupported(cell, fake_inventory(), portless)).startswith("h2 has no RoCE port for rogue")
    reason = unsupported(cell_of(tmp_path, SLOW, "transports=[dctcp]"), fake_inventory(), bare)
    assert str(reason).startswith("h1 has no pyverbs for roce"), "the probe is a WRITE"
    tcp = cell_of(tmp_path, SLOW, "transports=[dctcp]", "probe=null")
    assert unsupported(tcp, fake_inventory(), bare) is None
    old = {**NODES, "h0": replace(CAPABILITIES, congestion_controls=["reno", "cubic"])}
    assert unsupported(tcp, fake_inventory(), old) == "h0 has no TCP dctcp; all have cubic, reno"


def test_switch_without_the_topologys_ports_is_refused(tmp_path: Path) -> None:
    reason = unsupported(cell_of(tmp_path, SLOW), fake_inventory(4, {"s0->h0": "eth1"}), NODES)
    assert "ports s0->h1, s0->h2, s0->h3" in str(reason)


def test_used_hosts_are_those_of_flows_and_probe(tmp_path: Path) -> None:
    assert used_hosts(cell_of(tmp_path, "topology.hosts=9", "probe.target=h5")) == {
        "h0",
        "h1",
        "h5",
        "h7",
        "h8",
    }
    assert used_hosts(cell_of(tmp_path, "probe=null", "measure=[queues]")) == {"h0", "h1", "h3"}


def test_missing_measures_have_reasons(tmp_path: Path) -> None:
    assert set(not_measured(cell_of(tmp_path), fake_inventory())) == {"queues", "pauses"}
    assert set(not_measured(cell_of(tmp_path, index=1), fake_inventory())) == {"queues", "pauses", "rtt"}


def test_foreign_switch_measures_nothing_and_carries_out_no_faults(tmp_path: Path) -> None:
    alone = replace(fake_inventory(), switch=None)
    cell = cell_of(tmp_path, SLOW)
    assert unsupported(cell, alone, NODES) is None
    reasons = not_measured(cell, alone)
    assert reasons["queues"] == "the switch is not ours: its queues are not read"
    cut = cell_of(tmp_path, SLOW, "faults=[{kind: link_cut, target: h0, at: 1s, duration: 2s}]")
    assert str(unsupported(cut, alone, NODES)).startswith("no LinkCut: the inventory has no switch that")
    loss = cell_of(tmp_path, SLOW, "faults=[{kind: loss, target: h0, one_in: 8}]")
    assert str(unsupported(loss, alone, NODES)).startswith("no Loss: the inventory has no switch that")


def test_loss_by_ip_id_is_refused_over_ipv6(tmp_path: Path) -> None:
    nodes = fake_inventory()
    address = IPv6Address("fd00::9")
    hosts = [
        replace(host, variables=host.variables.model_copy(update={"experiment_address": address}))
        for host in nodes.hosts
    ]
    over_ipv6 = replace(nodes, hosts=tuple(hosts))
    by_ip_id = "faults=[{kind: loss, target: h0, one_in: 8, model: identification}]"
    cell = cell_of(tmp_path, SLOW, by_ip_id)
    assert unsupported(cell, nodes, NODES) is None
    assert str(unsupported(cell, over_ipv6, NODES)).startswith("a switch loses packets by the IP ID, which")
    at_random = "faults=[{kind: loss, target: h0, one_in: 8}]"
    assert unsupported(cell_of(tmp_path, SLOW, at_random), over_ipv6, NODES) is None


@pytest.mark.parametrize(
    ("driver", "rate_bps", "is_refused"),
    [
        ("mlx4_core", 10**9, True),
        ("mlx4_core", 10**10, False),
        ("mlx4_core", 0, False),
        ("software", 1, False),
    ],
)
def test_card_slower_than_its_link_is_refused(
    tmp_path: Path, driver: str, rate_bps: int, is_refused: bool
) -> None:
    port: dict[str, object] = {"device": "m", "driver": driver, "address": "10.9.0.11", "rate_bps": rate_bps}
    slow = {**NODES, "h1": replace(CAPABILITIES, ports=[port])}
    reason = unsupported(cell_of(tmp_path), fake_inventory(), slow)
    expected = "h1's port does 1 Gb/s, its link of the topology 10 Gb/s; set the topology's rate"
    assert reason == (expected if is_refused else None)


def test_catalogue_and_agent_list_the_same_kernel_tcps() -> None:
    assert set(support.KERNEL_TCPS) == set(messages.KERNEL_TCPS)


def test_marking_threshold_can_be_stated_only_for_our_own_switch(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, SLOW, "transports=[{name: dctcp, mark_above: 60KB}]", "probe=null")
    assert unsupported(cell, fake_inventory(), NODES) is None
    reason = unsupported(cell, replace(fake_inventory(), switch=None), NODES)
    assert reason == "dctcp on nodes is the kernel's, which takes no mark_above: leave it out"


HOSTS = ("h0", "h1", "h2", "h3")


def network(*mtus_bytes: int) -> Inventory:
    """Hosts with these MTUs."""
    plain = fake_inventory(len(mtus_bytes))
    of_hosts = [
        replace(host, variables=host.variables.model_copy(update={"experiment_mtu": mtu_bytes}))
        for host, mtu_bytes in zip(plain.hosts, mtus_bytes, strict=True)
    ]
    return replace(plain, hosts=tuple(of_hosts))


@pytest.mark.parametrize(
    ("payload_bytes", "mtu_bytes", "is_refused"),
    [(1024, 1500, False), (2048, 1500, True), (2048, 2200, False), (4096, 4150, True), (4096, 4200, False)],
)
def test_experiment_mtu_must_hold_payload_and_headers(
    tmp_path: Path, payload_bytes: int, mtu_bytes: int, is_refused: bool
) -> None:
    cell = cell_of(tmp_path, f"topology.mtu={payload_bytes}")
    assert (too_large_packets(cell, network(*[mtu_bytes] * 4), HOSTS) is not None) is is_refused


def test_too_small_mtu_is_refused_with_advice(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "topology.mtu=2048", "topology.rate=100Mbps")
    nodes = dict.fromkeys(HOSTS, CAPABILITIES)
    assert unsupported(cell, network(9000, 1500, 1500, 9000), nodes) == (
        "packets of 2048 bytes (topology.mtu) need an MTU of 2144 bytes, and the experiment_mtu of h1, h2 is "
        "1500: raise it on hosts and switches, or set topology.mtu=1024"
    )
    assert unsupported(cell, network(9000, 9000, 9000, 9000), nodes) is None


def test_unused_hosts_and_tcp_need_no_larger_mtu(tmp_path: Path) -> None:
    small = network(9000, 9000, 9000, 1500)
    assert too_large_packets(cell_of(tmp_path, "topology.mtu=4096"), small, HOSTS[:3]) is None
    tcp = cell_of(tmp_path, "topology.mtu=4096", "transports=[dctcp]")
    assert too_large_packets(tcp, small, HOSTS) is None


CARD = {"device": "mlx4_0", "driver": "mlx4", "hca_type": "MT4103", "address": "10.9.0.10", "rate_bps": 10**9}


def nodes(node: Capabilities = CAPABILITIES) -> dict[str, Capabilities]:
    return {f"h{index}": node for index in range(4)}


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("nic=cx3pro", "h0 has no cx3pro: leave topology.nic out"),
        ("nic=soft_roce", None),
        ("delay=50us", "topology.delay is 50 us, and a Linux switch delays packets by 100 us or more"),
        ("delay=1us", None),
        ("delay=100us", None),
    ],
)
def test_nics_and_delays_that_nodes_do_not_have_are_refused(
    tmp_path: Path, setting: str, words: str | None
) -> None:
    reason = unsupported_topology(cell_of(tmp_path, f"topology.{setting}"), fake_inventory(), nodes())
    assert reason is None if words is None else words in str(reason)


def test_requested_nic_must_be_the_nodes_card(tmp_path: Path) -> None:
    has_cards = nodes(replace(CAPABILITIES, ports=[CARD]))
    for nic, is_refused in (("cx3pro", False), ("cx4", True)):
        reason = unsupported_topology(cell_of(tmp_path, f"topology.nic={nic}"), fake_inventory(), has_cards)
        assert (reason is not None) is is_refused


def test_any_delay_is_accepted_without_our_own_switch(tmp_path: Path) -> None:
    inventory = replace(fake_inventory(), switch=None)
    assert unsupported_topology(cell_of(tmp_path, "topology.delay=50us"), inventory, nodes()) is None


def test_short_delay_of_one_link_is_refused(tmp_path: Path) -> None:
    links = "".join(
        f"- {{link: h{index}-s0, rate: 1Gbps, delay: {5 if index == 2 else 0}us}}\n" for index in range(4)
    )
    (tmp_path / "net.yaml").write_text(f"links:\n{links}")
    cell = cell_of(tmp_path, "topology={kind: links, file: net.yaml}")
    assert "topology.delay is 5 us" in str(unsupported_topology(cell, fake_inventory(), nodes()))
