"""From a cell to a simulation: hosts, switches, links, queue pairs and the agent on each sender."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rogue.agent.core.settings import TransportSettings
from rogue.harness.cell.carrier import Group, PlannedFlow
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.garbage import nothing_thrown_away
from rogue.harness.cell.parameters import agent_settings
from rogue.harness.experiment.choices import Scalar
from rogue.harness.testbeds.simulator.control_samples import NicControlSamples
from rogue.harness.testbeds.simulator.controls import agent_parameters, nic_control
from rogue.harness.testbeds.simulator.faults import arrange_faults, link_loss, misroute
from rogue.harness.testbeds.simulator.features import (
    agent_transport,
    framing,
    trimming,
)
from rogue.harness.testbeds.simulator.flows import NicFlow, RunningFlow, shared_limiters, start_flow
from rogue.harness.testbeds.simulator.nics import profile_of
from rogue.harness.testbeds.simulator.order import Order
from rogue.harness.testbeds.simulator.packets import start_recording
from rogue.harness.testbeds.simulator.reliability import nic_reliability
from rogue.harness.testbeds.simulator.spraying import nic_spraying
from rogue.harness.testbeds.simulator.switch_parts import nic_parts, switch_parts
from rogue.harness.testbeds.simulator.tcp import TCPS, TcpSettings, tcp_settings
from rogue.simulator import Simulation
from rogue.workloads.streams import random_stream
from rogue.workloads.traffic import Flow

PICOSECONDS = 1_000


@dataclass(frozen=True, slots=True)
class SimulatedNetwork:
    """A simulation that is ready to run."""

    simulation: Simulation
    flows: tuple[RunningFlow, ...]
    """What moves bytes."""
    probes: tuple[RunningFlow, ...]
    """What measures latency: the experiment's probe, and the groups that do nothing else."""
    nic_controls: NicControlSamples | None = None
    """What controls in NICs believed, if that is measured."""


@nothing_thrown_away()
def build_network(cell: Cell) -> SimulatedNetwork:
    """Translate a cell; nothing has happened yet in the simulation, which the caller closes."""
    simulation = build_links(cell)
    try:
        return _connect(cell, simulation)
    except Exception:
        simulation.close()
        raise


def _connect(cell: Cell, simulation: Simulation) -> SimulatedNetwork:
    """Add the agents, the faults and the measurements of a cell to its hosts and links."""
    experiment, timing = cell.experiment, cell.timing
    limiters = shared_limiters(simulation, cell.topology)
    flows: list[RunningFlow] = []
    probes: list[RunningFlow] = []
    for group in cell.groups:
        running = flows if not group.asked.workload.is_probing else probes
        order = Order(simulation, group.flows, tells_arrivals=group.tells_arrivals)
        running += [
            start_flow(simulation, limiters, cell, flow, order)
            for flow in nic_flows(cell, group, group.flows)
        ]
    probes += [start_flow(simulation, limiters, cell, flow) for flow in nic_probes(cell)]
    arrange_faults(cell, simulation)
    if experiment.measures("throughput"):
        simulation.sample_throughput(timing.throughput_interval_ns)
    if experiment.measures("queues"):
        simulation.sample_queues(timing.queue_interval_ns)
    if experiment.measures("rtt"):
        simulation.record_oracle_rtt()
    nic_controls = None
    if experiment.measures("control"):
        nic_controls = NicControlSamples(simulation, flows, timing.throughput_interval_ns)
    start_recording(cell, simulation, (*flows, *probes))
    return SimulatedNetwork(simulation, tuple(flows), tuple(probes), nic_controls)


def nic_flows(cell: Cell, group: Group, flows: Sequence[Flow]) -> Iterator[NicFlow]:
    """The flows of a group, or some of them, with what its transport makes of NICs and agents."""
    rates_bps = {flow.initiator: cell.topology.host_rate_bps(flow.initiator) for flow in flows}
    name, agents_own = agent_transport(group.transport), agent_parameters(group)
    settings = {rate: _settings(name, rate, agents_own) for rate in set(rates_bps.values())}
    control, reliability, spraying = (
        nic_control(cell, group),
        nic_reliability(cell, group),
        nic_spraying(group),
    )
    for flow in flows:
        planned, own = PlannedFlow(group, flow), settings[rates_bps[flow.initiator]]
        yield NicFlow(planned, own, control, reliability, spraying)


def _settings(
    base: str, line_rate_bps: int, parameters: Mapping[str, Scalar]
) -> TransportSettings | TcpSettings:
    """The settings of an agent's transport, or of a TCP."""
    return tcp_settings(base, parameters) if base in TCPS else agent_settings(base, line_rate_bps, parameters)


def build_links(cell: Cell) -> Simulation:
    """Hosts, switches and links, and where switches send what; nothing is connected."""
    topology = cell.topology
    simulation = Simulation(seed=cell.seed, framing=framing(cell), ttl_hops=topology.ttl_hops)
    for host in topology.host_names():
        simulation.add_host(host, profile_of(topology, host))
    of_switches, of_nics = switch_parts(cell), nic_parts(cell)
    for switch in cell.network.switches:
        simulation.add_switch(
            switch.name,
            buffer_bytes=switch.buffer_bytes,
            alpha=switch.alpha,
            kind=switch.kind,
            trimming=trimming(switch, by_coin=topology.trim == "coin"),
            **(of_nics if switch.is_nic else of_switches),
        )
    cables = random_stream(cell.seed, "cables")
    for link in cell.network.links:
        spread_ps = cables.randint(0, link.delay_spread_ns * PICOSECONDS)
        delay_ps = link.delay_ns * PICOSECONDS + spread_ps
        simulation.add_link(
            link.a,
            link.b,
            rate_bps=link.rate_bps,
            delay_ps=delay_ps,
            loss=link_loss(link),
        )
    misroute(cell, simulation)
    return simulation


def nic_probes(cell: Cell) -> Iterator[NicFlow]:
    """The experiment's probe, if it has one."""
    if (probe := cell.probe) is not None:
        line_rate_bps = cell.topology.host_rate_bps(probe.flow.initiator)
        yield NicFlow(probe, agent_settings(probe.carrier.transport.base, line_rate_bps, {}))
