"""From a cell to a simulation: hosts, switches, links, queue pairs and the agent on each sender."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.plan.cells import Cell
from harness.testbeds.parameters import agent_settings
from harness.testbeds.simulator.faults import arrange_cuts, link_loss
from harness.testbeds.simulator.features import agent_transport, flow_control, marking, nic_control
from harness.testbeds.simulator.flows import PlannedFlow, RunningFlow, shared_limiters, start_flow
from harness.testbeds.timing import Timing
from harness.testbeds.traffic import busiest_receiver, cell_flows, group_transport
from rogue_agent.drivers.simulated_limiters import NicLimiters
from simulator import PROFILES, Simulation
from workloads.streams import random_stream

PICOSECONDS = 1_000
PROBE_GROUP = "probe"
PROBE_TRANSPORT = "roce"


@dataclass(frozen=True, slots=True)
class Network:
    """A simulation that is ready to run."""

    simulation: Simulation
    flows: tuple[RunningFlow, ...]
    probe: RunningFlow | None


def build_network(cell: Cell, timing: Timing) -> Network:
    """Translate a cell; nothing has happened yet in the simulation."""
    experiment = cell.experiment
    simulation = _build_links(cell)
    limiters = shared_limiters(simulation, experiment.topology)
    flows = []
    flows_of = cell_flows(cell)
    for group in experiment.groups:
        name = group_transport(cell, group)
        label = group.transport or cell.transport.shown
        parameters = {} if group.transport else cell.transport.parameters
        for flow in flows_of[group.name]:
            line_rate_bps = experiment.topology.host_rate_bps(flow.initiator)
            settings = agent_settings(agent_transport(name), line_rate_bps, parameters)
            planned = PlannedFlow(group.name, label, flow, settings)
            flows.append(start_flow(simulation, limiters, cell, planned, nic_control(name)))
    probe = _start_probe(simulation, limiters, cell, timing)
    arrange_cuts(cell, simulation)
    if experiment.measures("throughput"):
        simulation.sample_throughput(timing.throughput_interval_ns)
    if experiment.measures("queues"):
        simulation.sample_queues(timing.queue_interval_ns)
    if experiment.measures("rtt"):
        simulation.record_oracle_rtt()
    return Network(simulation, tuple(flows), probe)


def _build_links(cell: Cell) -> Simulation:
    topology = cell.experiment.topology
    simulation = Simulation(seed=cell.seed)
    for host in topology.host_names():
        simulation.add_host(host, PROFILES[topology.nic_of(host)])
    for switch in topology.switches():
        simulation.add_switch(
            switch.name,
            buffer_bytes=switch.buffer_bytes,
            alpha=switch.alpha,
            flow_control=flow_control(cell),
            marking=marking(cell),
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
    return simulation


def _start_probe(
    simulation: Simulation, limiters: Mapping[str, NicLimiters], cell: Cell, timing: Timing
) -> RunningFlow | None:
    """The probe runs from a host of its own."""
    experiment = cell.experiment
    if experiment.probe is None:
        return None
    source = experiment.topology.probe_host()
    target = experiment.probe.target or busiest_receiver(cell)
    flow = experiment.probe.flow(source, target, cell.seed)
    settings = agent_settings(PROBE_TRANSPORT, experiment.topology.host_rate_bps(source), {})
    planned = PlannedFlow(PROBE_GROUP, PROBE_TRANSPORT, flow, settings)
    return start_flow(simulation, limiters, cell, planned)
