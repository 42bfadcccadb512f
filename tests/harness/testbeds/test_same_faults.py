"""The same cell means the same losses, outages and delays on each testbed, or a stated refusal."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from ipaddress import IPv6Address
from pathlib import Path
from random import Random
from typing import Any, Literal

import pytest
from helpers.experiments import cell_of
from helpers.nodes import rack_of
from helpers.testbed_orders import engine_calls, node_orders, nodes_of, refusal

from rogue.harness.cell.cell import Cell
from rogue.harness.provisioning.linux_switch import PortSettings
from rogue.harness.testbeds.ends.switch_ports import outages
from rogue.harness.testbeds.kernel import KernelTestbed
from rogue.harness.testbeds.kernel.network import cell_ports as kernels_ports
from rogue.harness.testbeds.simulator import SimulatorTestbed, network
from rogue.harness.testbeds.ssh.switch_machine import cell_ports as nodes_ports
from rogue.harness.testbeds.ssh.switch_machine import unsupported_fault as unsupported_by_switches
from rogue.simulator import BurstLoss, IndependentLoss, IpIdLoss
from rogue.workloads.faults import FAULTS, Fault, LinkCut, TargetedFault
from rogue.workloads.topologies import Link, Topology

STAR = "topology={kind: star, hosts: 4, rate: 1Gbps, delay: 200us}"
DUMBBELL = "topology={kind: dumbbell, hosts_per_side: 2, rate: 1Gbps, bottleneck_rate: 1Gbps, delay: 200us}"
CUT = "{kind: link_cut, target: h1, at: 1ms, duration: 3ms}"
OF_LINKS = {
    "{kind: loss, target: h2, probability: 0.25}": True,
    "{kind: loss, target: h2, one_in: 0}": True,
    "{kind: loss, target: h1, one_in: 64, model: identification}": True,
    "{kind: loss, target: h1, one_in: 5, model: burst, burst_packets: 4}": False,
    "{kind: loss, target: h1, one_in: 5, from: 1ms}": False,
    "{kind: loss, target: h1, one_in: 5, until: 1ms}": False,
    CUT: True,
    f"{CUT}, {{kind: link_cut, target: h2, at: 2ms, duration: 5ms}}": True,
}  # fmt: skip
"""Whether Linux switches carry it out."""
OF_OTHERS = {
    "pause_storm": "target: h2, at: 1ms, duration: 1ms",
    "slow_receiver": "target: h2, rate: 10Mbps",
    "misrouting": "target: s0-h2, destination: h2",
    "flooding": "target: s0, destination: h2",
}


class Flapping(TargetedFault):
    """A link that is down in every other millisecond: a fault that consists of others."""

    kind: Literal["flapping"] = "flapping"
    times: int = 1

    def drawn(self, topology: Topology, stream: Random, struck: Collection[Link]) -> Sequence[Fault]:
        return [
            LinkCut.model_construct(target=self.target, at_ns=number * 2_000_000, duration_ns=1_000_000)
            for number in range(self.times)
        ]


def test_fault_made_of_cuts_works_on_all_testbeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FAULTS, "flapping", Flapping)
    cell = _cell(tmp_path, STAR, "{kind: flapping, target: h1, times: 3}")
    for bed in (SimulatorTestbed(), KernelTestbed(), nodes_of(cell, monkeypatch, kind="nodes")[0]):
        assert refusal(bed, cell) is None
    assert [outage.at_ns for outage in cell.network.outages] == [0, 2_000_000, 4_000_000]


def test_no_fault_is_left_out() -> None:
    assert {"loss", "link_cut", "link_failures", "packet_event", *OF_OTHERS} == set(FAULTS)


@pytest.mark.parametrize("topology", [STAR, DUMBBELL])
@pytest.mark.parametrize("faults", OF_LINKS)
def test_engine_gets_all_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, topology: str, faults: str
) -> None:
    cell = _cell(tmp_path, topology, faults)
    assert refusal(SimulatorTestbed(), cell) is None
    links, cuts = _engine_of(cell, monkeypatch)
    for link in cell.network.links:
        passed = links[link.a, link.b]
        assert _mean_loss(passed["loss"]) == pytest.approx(_asked_loss(cell, link), rel=1e-12)
        assert _times(passed["loss"]) == next(
            ((each.from_ns, each.until_ns) for each in _losing(cell, link)), None
        )
        assert 0 <= passed["delay_ps"] - 1_000 * link.delay_ns <= 1_000 * cell.network.delay_spread_ns
    assert cuts == [(each.a, each.b, each.at_ns, each.duration_ns, None) for each in cell.network.outages]


@pytest.mark.parametrize("topology", [STAR, DUMBBELL])
@pytest.mark.parametrize("faults", OF_LINKS)
def test_kernel_ports_get_all_faults(tmp_path: Path, topology: str, faults: str) -> None:
    cell = _cell(tmp_path, topology, faults)
    assert (refusal(KernelTestbed(), cell) is None) == OF_LINKS[faults]
    if OF_LINKS[faults]:
        _check_ports(cell, kernels_ports(cell))
        cuts = [(outage.at_ns, outage.duration_ns) for _, outage in outages(cell, cell.network.ports)]
        assert cuts == [(each.at_ns, each.duration_ns) for each in cell.network.outages]


@pytest.mark.parametrize("topology", [STAR, DUMBBELL])
@pytest.mark.parametrize("faults", OF_LINKS)
def test_ports_between_nodes_get_all_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, topology: str, faults: str
) -> None:
    cell = _cell(tmp_path, topology, faults)
    bed, heard = nodes_of(cell, monkeypatch, kind="nodes")
    assert (refusal(bed, cell) is None) == OF_LINKS[faults]
    if OF_LINKS[faults]:
        _check_ports(cell, nodes_ports(cell, bed.inventory))
        node_orders(bed, heard, cell)
        durations = [float(each.split()[-1]) for each in heard.switched if each.startswith("cut ")]
        assert durations == [each.duration_ns / 1e9 for each in cell.network.outages]


@pytest.mark.parametrize("reroute_after", ["", ", reroute_after: 10us"])
@pytest.mark.parametrize("kind", ["link_cut, target: s0-s1", "link_failures, target: s0"])
def test_only_the_simulator_reroutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, reroute_after: str
) -> None:
    cell = _cell(tmp_path, DUMBBELL, f"{{kind: {kind}, at: 1ms, duration: 2ms{reroute_after}}}")
    assert refusal(SimulatorTestbed(), cell) is None
    _, cuts = _engine_of(cell, monkeypatch)
    assert cuts == [("s0", "s1", 1_000_000, 2_000_000, 10_000 if reroute_after else None)]
    for bed in (KernelTestbed(), nodes_of(cell, monkeypatch, kind="nodes")[0]):
        reason = refusal(bed, cell)
        assert (reason or "").startswith("only the simulator's switches forward") == bool(reroute_after)


def test_only_the_simulator_cuts_one_direction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = _cell(tmp_path, STAR, CUT.replace("}", ", one_way: true}"))
    assert refusal(SimulatorTestbed(), cell) is None
    for bed in (KernelTestbed(), nodes_of(cell, monkeypatch, kind="nodes")[0]):
        assert (refusal(bed, cell) or "").startswith("only the simulator cuts one direction")


@pytest.mark.parametrize("kind", OF_OTHERS)
def test_faults_of_the_simulator_are_refused_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    faults, reason = f"{{kind: {kind}, {OF_OTHERS[kind]}}}", f"a Linux switch has no {FAULTS[kind].__name__}"
    paused = ("transports=[roce+pfc]",) if kind in ("pause_storm", "slow_receiver") else ()
    assert refusal(SimulatorTestbed(), _cell(tmp_path, STAR, faults, *paused)) is None
    cell = _cell(tmp_path, STAR, faults)
    assert refusal(KernelTestbed(), cell) == reason
    assert refusal(nodes_of(cell, monkeypatch, kind="nodes")[0], cell) == reason


def test_single_packets_are_struck_everywhere_but_at_hardware_switches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flows = "main/h0->h3", "main/h9->h3"
    struck, unknown = (
        _cell(tmp_path, STAR, f"{{kind: packet_event, flow: {flow}, psn: 0, do: drop}}") for flow in flows
    )
    nodes = nodes_of(struck, monkeypatch, kind="nodes")[0]
    for bed in (SimulatorTestbed(), KernelTestbed(), nodes):
        assert refusal(bed, struck) is None
        assert (refusal(bed, unknown) or "").startswith("packet_event: the cell has no flow main/h9->h3")
    named = "packet_event: tor (eos) cannot choose single packets"
    assert (unsupported_by_switches(struck, rack_of("eos")) or "").startswith(named)
    over_ipv6 = nodes.inventory.hosts[0].variables.model_copy(
        update={"experiment_address": IPv6Address("fd00::1")}
    )
    hosts = (replace(nodes.inventory.hosts[0], variables=over_ipv6), *nodes.inventory.hosts[1:])
    assert "IPv4 packets only" in (
        unsupported_by_switches(struck, replace(nodes.inventory, hosts=hosts)) or ""
    )
    by_id = "{kind: loss, target: h3, model: identification, one_in: 64}"
    both = _cell(tmp_path, STAR, f"{by_id}, {{kind: packet_event, flow: main/h0->h3, psn: 0, do: drop}}")
    for bed in (KernelTestbed(), nodes):
        assert "cannot combine it with losses by IP ID" in (refusal(bed, both) or "")


def _cell(directory: Path, topology: str, faults: str, *settings: str) -> Cell:
    traffic = ("workload={kind: incast, senders: 2, size: 20KB}", "probe=null", "transports=[roce]")
    return cell_of(directory, topology, f"faults=[{faults}]", *traffic, *settings)


def _engine_of(
    cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> tuple[Mapping[tuple[str, ...], Mapping[str, Any]], list[tuple[object, ...]]]:
    """Return the arguments of the engine for each link, and the outages."""
    calls = engine_calls(monkeypatch)
    network.build_network(cell)
    keys = ("start_ns", "duration_ns", "reroute_after_ns")
    cuts = [(*each.values, *(each.named[key] for key in keys)) for each in calls if each.name == "cut_link"]
    return {each.values: each.named for each in calls if each.name == "add_link"}, cuts


def _mean_loss(rule: object) -> float:
    """Share of the packets that an engine's rule loses."""
    match rule:
        case IndependentLoss():
            return rule.probability
        case IpIdLoss():
            return 1 / (rule.mask + 1)
        case BurstLoss():
            return rule.to_bad_probability / (rule.to_bad_probability + rule.to_good_probability)
    return 0.0


def _times(rule: Any) -> tuple[int, int | None] | None:
    return None if rule is None else (rule.from_ns, rule.until_ns)


def _losing(cell: Cell, link: Link) -> list[Any]:
    return [loss for loss in cell.network.losses.get(link, ()) if loss.mean_probability > 0]


def _asked_loss(cell: Cell, link: Link) -> float:
    return sum(loss.mean_probability for loss in cell.network.losses.get(link, ()))


def _check_ports(cell: Cell, ports: Mapping[str, PortSettings]) -> None:
    """Losses strike those directions that begin at a switch; a way is as long as its cables."""
    asked = {name: _asked_loss(cell, link) for link in cell.network.links for name in link.ports}
    for name, port in ports.items():
        by_id = 0.0 if port.lost_ip_id_mask is None else 1 / (port.lost_ip_id_mask + 1)
        assert port.loss_probability + by_id == asked[name]
    hosts = cell.topology.host_names()
    for sender, receiver in ((hosts[0], hosts[-1]), (hosts[0], hosts[1])):
        way = _way(cell.topology, sender, receiver)
        delay_ns = sum(ports[name].delay_ns for name in way if name in ports)
        assert delay_ns == sum(
            link.delay_ns for link in cell.network.links for name in link.ports if name in way
        )


def _way(topology: Topology, sender: str, receiver: str) -> list[str]:
    """The egresses from one host to another, one after the other, where there is one way."""
    ways = [[sender]]
    while ways[0][-1] != receiver:
        way = ways.pop(0)
        ways += [[*way, peer] for peer in topology.links_of[way[-1]] if peer not in way]
    return [f"{a}->{b}" for a, b in zip(ways[0], ways[0][1:], strict=False)]
