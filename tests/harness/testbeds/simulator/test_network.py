"""Tests: build a simulation from a cell: hosts, switches, links and queue pairs."""

from pathlib import Path

import pandas as pd
import pytest
from helpers.cell_kinds import TOPOLOGIES_OWN
from helpers.experiments import NETWORK, SMALL, cell_of, link_list, simulated

from rogue.agent.core.limiter import LinkFacts
from rogue.harness.cell.cell import Cell
from rogue.harness.results.tables import to_arrow
from rogue.harness.testbeds.base import CellResult
from rogue.harness.testbeds.simulator.features import marking
from rogue.harness.testbeds.simulator.network import (
    NEVER,
    SimulatedNetwork,
    build_network,
    nic_parts,
    switch_parts,
)
from rogue.simulator import FRAMINGS as ENGINE_FRAMINGS
from rogue.simulator import IDEAL
from rogue.simulator.topology import Topology as Routes
from rogue.workloads.framing import FRAMINGS
from rogue.workloads.topologies import TOPOLOGIES
from rogue.workloads.topologies.shortest_paths import ShortestPaths


def network(tmp_path: Path, *settings: str, text: str = SMALL) -> SimulatedNetwork:
    cell = cell_of(tmp_path, *settings, text=text)
    return build_network(cell)


@pytest.mark.parametrize("name", FRAMINGS)
def test_frame_sizes_agree_in_all_packages(name: str) -> None:
    """Three boxes that must not import each other state the frame sizes; here they meet."""
    framing, engine = FRAMINGS[name], ENGINE_FRAMINGS[name]
    assert (engine.data_overhead_bytes, engine.first_overhead_bytes) == (
        framing.header_bytes, framing.remote_address_bytes,
    )  # fmt: skip
    assert (engine.ack_frame_bytes, engine.wire_overhead_bytes) == (
        framing.acknowledgement_bytes, framing.gap_bytes,
    )  # fmt: skip
    agent = LinkFacts(line_rate_bps=10**10, mtu_bytes=1024, framing=name).wire
    assert (agent.frame_overhead_bytes, agent.write_header_bytes, agent.gap_bytes) == (
        framing.header_bytes, framing.remote_address_bytes, framing.gap_bytes,
    )  # fmt: skip


MESH = """\
name: mesh
topology: {kind: two_tier, hosts_per_rack: 3, rate: 10Gbps, uplink_rate: 10Gbps, nic: ideal}
traffic:
  - {name: bulk, priority: 3, workload: {kind: clos_pairs, size: 1MB, connections: 2}}
  - name: pings
    priority: 3
    transport: roce+pfc
    workload: {kind: pingmesh, run_for: 2ms, interval: 100us, places: [3]}
transports: [roce+pfc]
"""


def test_probing_group_is_no_traffic(tmp_path: Path) -> None:
    built = network(tmp_path, text=MESH)
    assert len(built.flows) == 12 and {flow.carrier.name for flow in built.flows} == {"bulk"}
    assert [probe.flow_id for probe in built.probes][:2] == ["pings/h0->h3", "pings/h1->h4"]
    assert {flow.carrier.priority for flow in (*built.flows, *built.probes)} == {3}


def test_flows_between_two_hosts_spread_over_paths(tmp_path: Path) -> None:
    """32 connections between two racks with four uplinks: were their ports alike, they would share one."""
    built = network(tmp_path, "traffic[0].workload.connections=32", "traffic[0].workload.pairs=1", text=MESH)
    built.simulation.run_until(3_000_000)
    sent = {
        port: value
        for _, port, name, value in built.simulation.counters()
        if port.startswith("s0->s") and name == "tx_bytes"
    }
    assert len(sent) == 4 and min(sent.values()) > 100_000


@pytest.mark.parametrize("kind", TOPOLOGIES)
def test_engine_and_workloads_agree_on_shortest_paths(kind: str) -> None:
    """Simulator and workloads search separately; for any choice of a hash they agree."""
    own = {**TOPOLOGIES_OWN[kind][0]}
    if kind == "links":
        own["file"] = link_list(NETWORK.read_text())
    topology = TOPOLOGIES[kind].model_validate({"kind": kind, **own})
    routes = Routes(seed=1)
    for node in (*topology.host_names(), *topology.switch_names()):
        routes.add_node(node, IDEAL if node in topology.host_names() else None)
    for link in topology.links():
        routes.add_link(routes.node(kind, link.a), routes.node(kind, link.b), 0, link.rate_bps)
    hosts = topology.host_names()
    for ends in zip(hosts, reversed(hosts), strict=True):
        if ends[0] != ends[1]:
            compare(routes, topology.shortest_paths, *ends)


def compare(routes: Routes, paths: ShortestPaths, source: str, destination: str) -> None:
    """Routes of many flows are as many and as long as paths are, and take the links that all of them take."""
    numbers = [routes.node("", host) for host in (source, destination)]
    found = {tuple(routes.route("", *numbers, entropy)) for entropy in range(256)}
    taken = [
        {frozenset(routes.names[end] for end in routes.link_ends[link]) for link in way} for way in found
    ]
    assert {len(way) for way in found} == {len(paths.first(source, destination))}
    assert len(found) == paths.count(source, destination)
    certain = {frozenset((link.a, link.b)) for link in paths.certain(source, destination)}
    assert set.intersection(*taken) == certain


NICS = {
    "dcqcn": {"alpha", "target_bps", "rate_bps"},
    "timely": {"rtt_ns", "gradient", "streak", "rate_bps"},
    "rocc": {"is_limited", "port", "rate_bps"},
    "hpcc": {"utilisation", "reference_bytes", "stage", "rate_bps", "window_bytes"},
}


def run(tmp_path: Path, *settings: str) -> CellResult:
    return simulated(tmp_path, "workload.size=10MB", *settings)


def table_of(result: CellResult, name: str = "control") -> pd.DataFrame:
    frame: pd.DataFrame = to_arrow(name, result.tables[name]).to_pandas()
    return frame


def test_agents_control_has_metrics_after_each_sample(tmp_path: Path) -> None:
    result = run(tmp_path, "measure=[rtt, control]")
    samples, metrics = table_of(result, "rtt"), table_of(result)
    assert set(metrics["name"]) == {"cwnd_packets", "base_rtt_ns", "diff_packets", "is_slow_start"}
    windows = metrics[metrics["name"] == "cwnd_packets"]
    assert windows["value"].tolist() == samples["cwnd_packets"].tolist()
    assert windows["t_ns"].tolist() == samples["t_ns"].tolist()
    assert windows["flow_id"].tolist() == samples["flow_id"].tolist()


@pytest.mark.parametrize("name", NICS)
def test_nic_control_is_sampled_at_intervals(tmp_path: Path, name: str) -> None:
    measure = "measure=[{kind: throughput, interval: 100us}, control]"
    metrics = table_of(run(tmp_path, measure, f"transports=[roce+{name}]"))
    assert set(metrics["name"]) == NICS[name]
    assert set(metrics["flow_id"]) == {"main/h0->h3", "main/h1->h3"}
    rates = metrics[(metrics["name"] == "rate_bps") & (metrics["flow_id"] == "main/h0->h3")]
    assert rates["t_ns"].tolist() == [100_000 * (n + 1) for n in range(len(rates))]
    assert 0 < rates["value"].min() < 9e9


def test_nic_control_of_the_responder_is_sampled_for_reads(tmp_path: Path) -> None:
    """The requester's control, out of which no data go, never leaves the line rate."""
    settings = (
        "measure=[{kind: throughput, interval: 100us}, control]",
        "transports=[roce+dcqcn]",
        "workload.verb=read",
    )
    metrics = table_of(run(tmp_path, *settings))
    assert metrics.loc[metrics["name"] == "rate_bps", "value"].min() < 9e9


@pytest.mark.parametrize("transport", ["rogue", "roce+dcqcn"])
def test_measuring_changes_nothing(tmp_path: Path, transport: str) -> None:
    settings = (f"transports=[{transport}]", "workload.repeat_for=20ms")
    measured = run(tmp_path, "measure=[{kind: throughput, interval: 7us}, rtt, control]", *settings)
    plain = run(tmp_path, "measure=[{kind: throughput, interval: 7us}, rtt]", *settings)
    assert measured.facts["completions_digest"] == plain.facts["completions_digest"]


def test_missing_control_has_a_reason(tmp_path: Path) -> None:
    result = run(tmp_path, "measure=[control]", "transports=[roce]")
    assert result.not_measured["control"].startswith("roce has no control")


PLANES = """\
name: x
topology: {kind: multi_plane, planes: 4, leaves: 1, hosts_per_leaf: 4, spines: 0, rate: 40Gbps, nic: ideal}
workload: {kind: incast, senders: 3, size: 1MB}
transports: [roce]
"""
SPRAYED = "transports=[{name: irn+spray, paths: 1024, threshold_nacks: 64}]"


def planes(tmp_path: Path, *settings: str) -> Cell:
    return cell_of(tmp_path, *settings, text=PLANES)


def counted(cell: Cell, counter: str, until_ns: int = 2_000_000) -> dict[str, int]:
    """By port."""
    simulation = build_network(cell).simulation
    simulation.run_until(until_ns)
    return {port: int(value) for _, port, name, value in simulation.counters() if name == counter}


def leaving(sent: dict[str, int], splitter: str) -> list[int]:
    return [sent[port] for port in sent if port.startswith(f"{splitter}->s")]


def test_nic_has_the_switches_classes_and_never_marks(tmp_path: Path) -> None:
    cell = planes(tmp_path, "transports=[roce+dcqcn]")
    assert switch_parts(cell)["marking"] == marking(cell) != {}
    assert nic_parts(cell) == {"flow_control": None, "marking": {0: NEVER}, "weights": {}}
    assert nic_parts(planes(tmp_path))["marking"] == {}


def test_nic_pauses_at_the_stated_or_default_threshold(tmp_path: Path) -> None:
    usual = planes(tmp_path, "transports=[roce+pfc]")
    assert (switch_parts(usual)["flow_control"].xoff_bytes, nic_parts(usual)["flow_control"].xoff_bytes) == (
        None, 128_000,
    )  # fmt: skip
    stated = planes(tmp_path, "transports=[roce+pfc]", "topology.pause_xoff=50KB")
    assert nic_parts(stated)["flow_control"] == switch_parts(stated)["flow_control"]


@pytest.mark.parametrize("transport", ["roce+hpcc", "roce+rocc"])
def test_nic_adds_no_telemetry(tmp_path: Path, transport: str) -> None:
    cell = planes(tmp_path, f"transports=[{transport}]")
    parts = switch_parts(cell)
    assert parts["has_telemetry"] or parts["fair_rates"]
    assert {"has_telemetry", "fair_rates", "controls"}.isdisjoint(nic_parts(cell))


def test_plain_queue_pair_stays_in_one_plane(tmp_path: Path) -> None:
    sent = leaving(counted(planes(tmp_path), "tx_bytes"), "s0")
    assert len(sent) == 4
    assert sorted(sent)[:3] == [0, 0, 0] and max(sent) > 1_000_000


def test_sprayed_queue_pair_uses_all_planes_equally(tmp_path: Path) -> None:
    sent = leaving(counted(planes(tmp_path, SPRAYED), "tx_bytes"), "s0")
    assert len(sent) == 4
    assert max(sent) < 1.2 * min(sent)


def test_only_leaf_ports_mark(tmp_path: Path) -> None:
    """A NIC gets its megabyte four times as fast as its port sends it."""
    marks = "transports=[{name: roce+dcqcn, kmin: 1KB, kmax: 2KB, pmax: 1}]"
    marked = counted(planes(tmp_path, marks), "marked_packets")
    assert sum(marked.values()) > 100
    assert {port.partition("->")[0] for port, count in marked.items() if count} <= {"s4", "s5", "s6", "s7"}


def test_nic_drops_nothing_with_small_switch_buffers(tmp_path: Path) -> None:
    drops = counted(planes(tmp_path, "topology.buffer=20KB"), "drops")
    assert sum(drops.values()) > 0
    assert not any(drops[port] for port in drops if port.partition("->")[0] in ("s0", "s1", "s2", "s3"))


def test_pauses_of_a_slow_receiver_pass_through_its_nic(tmp_path: Path) -> None:
    slow = "faults=[{kind: slow_receiver, target: h3, rate: 1Gbps}]"
    cell = planes(tmp_path, "transports=[roce+pfc]", slow)
    pauses, drops = counted(cell, "pause_frames"), counted(cell, "lossless_drops")
    assert pauses["s3->s4"] > 0 and pauses["s4->s0"] > 0
    assert not any(drops.values())
