"""From a cell to a simulation."""

import gc
from pathlib import Path

import pytest
from helpers.cell_topologies import TOPOLOGIES_OWN
from helpers.data_files import NETWORK, link_list
from helpers.experiments import SMALL, cell_of

from rogue.agent.core.limiter import LinkFacts
from rogue.harness.testbeds.simulator.network import SimulatedNetwork, build_network
from rogue.simulator import FRAMINGS as ENGINE_FRAMINGS
from rogue.simulator import IDEAL
from rogue.simulator.topology import Topology as Routes
from rogue.workloads.framing import FRAMINGS
from rogue.workloads.topologies import TOPOLOGIES
from rogue.workloads.topologies.shortest_paths import ShortestPaths


def network(tmp_path: Path, *settings: str, text: str = SMALL) -> SimulatedNetwork:
    cell = cell_of(tmp_path, *settings, text=text)
    return build_network(cell)


def test_flows_and_probe(tmp_path: Path) -> None:
    built = network(tmp_path)
    assert [flow.flow_id for flow in built.flows] == ["main/h0->h3", "main/h1->h3"]
    [probe] = built.probes
    assert probe.flow_id == "probe/h2->h3"
    assert probe.settings.transport == "roce"


def test_transport_and_its_parameters_reach_the_agent(tmp_path: Path) -> None:
    built = network(tmp_path, "transports=[{name: rogue, label: fast, segment: 32KiB}]")
    assert {flow.settings.segment_bytes for flow in built.flows} == {32_768}
    assert {flow.carrier.label for flow in built.flows} == {"fast"}


def test_a_group_may_have_its_own_transport(tmp_path: Path) -> None:
    text = """\
name: x
topology: {kind: star, hosts: 4, rate: 10Gbps}
traffic:
  - {name: bulk, workload: {kind: incast, senders: 2, size: 1MB}}
  - {name: rival, workload: {kind: incast, senders: 1, size: 1MB}, transport: roce}
transports: [{name: rogue, label: agent, segment: 32KiB}]
"""
    built = network(tmp_path, text=text)
    assert [(flow.flow_id, flow.carrier.label, flow.settings.transport) for flow in built.flows] == [
        ("bulk/h0->h3", "agent", "rogue"),
        ("bulk/h1->h3", "agent", "rogue"),
        ("rival/h0->h3", "roce", "roce"),
    ]


def test_parking_lot(tmp_path: Path) -> None:
    built = network(tmp_path, "topology={kind: parking_lot, rate: 10Gbps}", "workload.senders=4")
    assert [flow.flow_id for flow in built.flows] == [f"main/h{index}->h5" for index in range(4)]
    [probe] = built.probes
    assert probe.flow_id == "probe/h4->h5"


def test_the_probe_may_have_a_target(tmp_path: Path) -> None:
    built = network(tmp_path, "probe.target=h1")
    [probe] = built.probes
    assert probe.flow_id == "probe/h2->h1"


@pytest.mark.parametrize("name", FRAMINGS)
def test_sizes_of_frames_are_the_same_everywhere(name: str) -> None:
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


def test_garbage_is_collected_again_afterwards(tmp_path: Path) -> None:
    network(tmp_path)
    assert gc.isenabled()


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


def test_a_group_that_probes_is_no_traffic(tmp_path: Path) -> None:
    built = network(tmp_path, text=MESH)
    assert len(built.flows) == 12 and {flow.carrier.name for flow in built.flows} == {"bulk"}
    assert [probe.flow_id for probe in built.probes][:2] == ["pings/h0->h3", "pings/h1->h4"]
    assert {flow.carrier.priority for flow in (*built.flows, *built.probes)} == {3}


def test_flows_between_two_hosts_take_their_own_paths(tmp_path: Path) -> None:
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
def test_routes_are_the_shortest_paths_that_plans_go_by(kind: str) -> None:
    """The search stands in the simulator and in the workloads; whatever a hash chooses, they agree."""
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
