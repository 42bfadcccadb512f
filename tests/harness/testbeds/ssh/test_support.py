"""What the nodes cannot do."""

from dataclasses import replace
from ipaddress import IPv6Address
from pathlib import Path

import pytest
from helpers.experiments import cell_of
from helpers.fake_agents import CAPABILITIES, fake_inventory

from rogue.agent.core.transports import TRANSPORTS
from rogue.agent.node import messages
from rogue.harness.testbeds.ssh import support
from rogue.harness.testbeds.ssh.support import not_measured, unsupported, used_hosts

NODES = {f"h{index}": CAPABILITIES for index in range(4)}
SLOW = "topology.rate=100Mbps"


@pytest.mark.parametrize("transport", ["rogue", "rogue-uc", "roce", "roce-uc", "dctcp", "cubic", "reno"])
def test_what_they_can(tmp_path: Path, transport: str) -> None:
    assert unsupported(cell_of(tmp_path, SLOW, f"transports=[{transport}]"), fake_inventory(), NODES) is None


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (("transports=[irn]",), f"the nodes have no irn; they have {', '.join(TRANSPORTS)}"),
        (("transports=[roce+timely]",), "the nodes have no roce+timely; they have "),
        (("transports=[roce+spray]",), "the nodes have no roce+spray; they have "),
        (("transports=[roce+dcqcn]",), "roce+dcqcn: DCQCN on h0: got nothing, expected on; provision with"),
        (("topology.hosts=6", "workload.senders=4"), "the inventory has no h4; it has h0, h1, h2, h3"),
        (
            ("traffic=[{name: a, workload: {kind: incast, senders: 1, size: 1MB}, priority: 3}]",),
            "the switches have one traffic class; set priority to 0",
        ),
        (
            ("faults=[{kind: loss, target: h0, one_in: 8, model: burst}]",),
            "the switch loses packets independently or by IP ID",
        ),
    ],
)
def test_what_they_cannot(tmp_path: Path, settings: tuple[str, ...], reason: str) -> None:
    if any(setting.startswith("traffic") for setting in settings):
        settings = (*settings, "workload=null")
    told = unsupported(cell_of(tmp_path, SLOW, *settings), fake_inventory(), NODES)
    assert str(told).startswith(reason)


def test_a_node_that_was_not_provisioned(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, SLOW)
    bare = {**NODES, "h1": replace(CAPABILITIES, pyverbs=None)}
    assert str(unsupported(cell, fake_inventory(), bare)).startswith("h1 has no pyverbs for rogue")
    portless = {**NODES, "h2": replace(CAPABILITIES, ports=[])}
    assert str(unsupported(cell, fake_inventory(), portless)).startswith("h2 has no RoCE port for rogue")
    told = unsupported(cell_of(tmp_path, SLOW, "transports=[dctcp]"), fake_inventory(), bare)
    assert str(told).startswith("h1 has no pyverbs for roce"), "the probe is a WRITE"
    tcp = cell_of(tmp_path, SLOW, "transports=[dctcp]", "probe=null")
    assert unsupported(tcp, fake_inventory(), bare) is None
    old = {**NODES, "h0": replace(CAPABILITIES, congestion_controls=["reno", "cubic"])}
    assert unsupported(tcp, fake_inventory(), old) == "h0 has no TCP dctcp; all have cubic, reno"


def test_a_switch_of_another_topology(tmp_path: Path) -> None:
    told = unsupported(cell_of(tmp_path, SLOW), fake_inventory(4, {"s0->h0": "eth1"}), NODES)
    assert "ports s0->h1, s0->h2, s0->h3" in str(told)


def test_hosts_that_take_part(tmp_path: Path) -> None:
    assert used_hosts(cell_of(tmp_path, "topology.hosts=9", "probe.target=h5")) == {
        "h0",
        "h1",
        "h5",
        "h7",
        "h8",
    }
    assert used_hosts(cell_of(tmp_path, "probe=null", "measure=[queues]")) == {"h0", "h1", "h3"}


def test_what_is_not_measured_has_a_reason(tmp_path: Path) -> None:
    assert set(not_measured(cell_of(tmp_path), fake_inventory())) == {"queues", "pauses"}
    assert set(not_measured(cell_of(tmp_path, index=1), fake_inventory())) == {"queues", "pauses", "rtt"}


def test_a_switch_that_is_not_ours(tmp_path: Path) -> None:
    alone = replace(fake_inventory(), switch=None)
    cell = cell_of(tmp_path, SLOW)
    assert unsupported(cell, alone, NODES) is None
    told = not_measured(cell, alone)
    assert told["queues"] == "the switch is not ours: its queues are not read"
    cut = cell_of(tmp_path, SLOW, "faults=[{kind: link_cut, target: h0, at: 1s, duration: 2s}]")
    assert str(unsupported(cut, alone, NODES)).startswith("no LinkCut: the inventory has no switch that")
    loss = cell_of(tmp_path, SLOW, "faults=[{kind: loss, target: h0, one_in: 8}]")
    assert str(unsupported(loss, alone, NODES)).startswith("no Loss: the inventory has no switch that")


def test_over_ipv6_packets_have_no_ip_id_to_be_lost_by(tmp_path: Path) -> None:
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
    assert str(unsupported(cell, over_ipv6, NODES)).startswith(
        "a Linux switch loses packets by the IP ID, wh"
    )
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
def test_a_card_that_is_slower_than_the_topology(
    tmp_path: Path, driver: str, rate_bps: int, is_refused: bool
) -> None:
    port: dict[str, object] = {"device": "m", "driver": driver, "address": "10.9.0.11", "rate_bps": rate_bps}
    slow = {**NODES, "h1": replace(CAPABILITIES, ports=[port])}
    told = unsupported(cell_of(tmp_path), fake_inventory(), slow)
    expected = "h1's port does 1 Gb/s, its link of the topology 10 Gb/s; set the topology's rate"
    assert told == (expected if is_refused else None)


def test_the_catalogue_and_the_agent_agree_on_what_kernels_have() -> None:
    assert set(support.KERNEL_TCPS) == set(messages.KERNEL_TCPS)


def test_when_our_own_switch_marks_can_be_asked_for(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, SLOW, "transports=[{name: dctcp, mark_above: 60KB}]", "probe=null")
    assert unsupported(cell, fake_inventory(), NODES) is None
    told = unsupported(cell, replace(fake_inventory(), switch=None), NODES)
    assert told == "dctcp on nodes is the kernel's, which takes no mark_above: leave it out"
