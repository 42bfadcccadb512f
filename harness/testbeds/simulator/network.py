"""From a cell to a simulation: hosts, switches, links, queue pairs and the agent on each sender."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from harness.experiment.choices import Scalar
from harness.plan.cells import Cell
from harness.testbeds.parameters import agent_settings
from harness.testbeds.simulator.controls import agent_parameters, nic_control, switch_fair_rates
from harness.testbeds.simulator.faults import arrange_faults, link_loss, misroute
from harness.testbeds.simulator.features import (
    agent_transport,
    flow_control,
    framing,
    has_telemetry,
    marking,
)
from harness.testbeds.simulator.flows import PlannedFlow, RunningFlow, shared_limiters, start_flow
from harness.testbeds.simulator.reliability import nic_reliability
from harness.testbeds.simulator.tcp import TCPS, TcpSettings, tcp_settings
from harness.testbeds.timing import Timing
from harness.testbeds.traffic import busiest_receiver, cell_flows, group_parameters, group_transport
from rogue_agent.core.settings import TransportSettings
from simulator import PROFILES, Simulation
from workloads.streams import random_stream
from workloads.traffic import Flow

PICOSECONDS = 1_000
PROBE_GROUP = "probe"
PROBE_TRANSPORT = "roce"


@dataclass(frozen=True, slots=True)
class Network:
    """A simulation that is ready to run."""

    simulation: Simulation
    flows: tuple[RunningFlow, ...]
    """What moves bytes."""
    probes: tuple[RunningFlow, ...]
    """What measures latency: the experiment's probe, and the groups that do nothing else."""


@contextmanager
def _nothing_thrown_away() -> Iterator[None]:
    """Thousands of agents are made and all of them stay: looking for garbage would double the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@_nothing_thrown_away()
def build_network(cell: Cell, timing: Timing) -> Network:
    """Translate a cell; nothing has happened yet in the simulation."""
    experiment = cell.experiment
    simulation = build_links(cell)
    limiters = shared_limiters(simulation, experiment.topology)
    probing = {group.name for group in experiment.groups if group.workload.is_probing}
    running = [start_flow(simulation, limiters, cell, planned) for planned in planned_flows(cell)]
    flows = [flow for flow in running if flow.group not in probing]
    probes = [flow for flow in running if flow.group in probing]
    probes += [start_flow(simulation, limiters, cell, planned) for planned in planned_probes(cell)]
    arrange_faults(cell, simulation)
    if experiment.measures("throughput"):
        simulation.sample_throughput(timing.throughput_interval_ns)
    if experiment.measures("queues"):
        simulation.sample_queues(timing.queue_interval_ns)
    if experiment.measures("rtt"):
        simulation.record_oracle_rtt()
    return Network(simulation, tuple(flows), tuple(probes))


def planned_flows(cell: Cell, flows_of: Mapping[str, Sequence[Flow]] | None = None) -> Iterator[PlannedFlow]:
    """The flows of all groups, or some of them by group, each with the transport of its group."""
    topology, flows_of = cell.experiment.topology, cell_flows(cell) if flows_of is None else flows_of
    for group in cell.experiment.groups:
        name = group_transport(cell, group)
        label = group.transport or cell.transport.shown
        parameters = group_parameters(cell, group)
        agents_own = agent_parameters(name, parameters)
        rates = {topology.host_rate_bps(flow.initiator) for flow in flows_of[group.name]}
        settings = {rate: _settings(agent_transport(name), rate, agents_own) for rate in rates}
        control = nic_control(cell, name, parameters)
        reliability = nic_reliability(cell, name, parameters)
        for flow in flows_of[group.name]:
            own = settings[topology.host_rate_bps(flow.initiator)]
            yield PlannedFlow(
                group.name,
                label,
                flow,
                own,
                priority=group.priority,
                control=control,
                reliability=reliability,
            )


def _settings(
    base: str, line_rate_bps: int, parameters: Mapping[str, Scalar]
) -> TransportSettings | TcpSettings:
    """Those of an agent's transport, or of a TCP."""
    return tcp_settings(base, parameters) if base in TCPS else agent_settings(base, line_rate_bps, parameters)


def build_links(cell: Cell) -> Simulation:
    """Hosts, switches and links, and where switches send what; nothing is connected."""
    topology = cell.experiment.topology
    simulation = Simulation(seed=cell.seed, framing=framing(cell), ttl_hops=topology.ttl_hops)
    for host in topology.host_names():
        simulation.add_host(host, PROFILES[topology.nic_of(host)])
    for switch in topology.switches():
        simulation.add_switch(
            switch.name,
            buffer_bytes=switch.buffer_bytes,
            alpha=switch.alpha,
            kind=switch.kind,
            flow_control=flow_control(cell),
            marking=marking(cell),
            fair_rates=switch_fair_rates(cell),
            has_telemetry=has_telemetry(cell),
        )
    cables = random_stream(cell.seed, "cables")
    for link in topology.links():
        spread_ps = cables.randint(0, topology.delay_spread_ns * PICOSECONDS)
        delay_ps = link.delay_ns * PICOSECONDS + spread_ps
        simulation.add_link(
            link.a,
            link.b,
            rate_bps=link.rate_bps,
            delay_ps=delay_ps,
            loss=link_loss(cell, link),
        )
    misroute(cell, simulation)
    return simulation


def planned_probes(cell: Cell) -> Iterator[PlannedFlow]:
    """The experiment's probe, if it has one: from a host of its own, in the first group's traffic class."""
    probe, topology = cell.experiment.probe, cell.experiment.topology
    if probe is None:
        return
    source = topology.probe_host()
    flow = probe.flow(source, probe.target or busiest_receiver(cell), cell.seed)
    settings = agent_settings(PROBE_TRANSPORT, topology.host_rate_bps(source), {})
    priority = cell.experiment.groups[0].priority
    yield PlannedFlow(PROBE_GROUP, PROBE_TRANSPORT, flow, settings, priority=priority)
