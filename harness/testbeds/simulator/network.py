"""Build the engine's network with its faults and the packets that it records."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from rogue import simulator
from rogue.harness.cell.cell import Cell, unfit_event
from rogue.harness.cell.demand import PlannedFlow, gc_paused
from rogue.harness.cell.recorded_packets import recorded_ports
from rogue.harness.testbeds.base import Columns, Fact
from rogue.harness.testbeds.simulator.features import (
    aqm_of,
    cell_transports,
    flow_control,
    framing,
    has_telemetry,
    marking,
    switch_controls,
)
from rogue.harness.testbeds.simulator.flows import GroupFabric, RunningFlow, shared_limiters, start_flow
from rogue.harness.testbeds.simulator.nics import profile_of, switch_fair_rates
from rogue.harness.testbeds.simulator.order import Order
from rogue.harness.testbeds.simulator.packet_events import inject_packet_events
from rogue.harness.testbeds.transfer_tables import columns_of
from rogue.simulator import Marking, Simulation, Trimming, unsprayable
from rogue.workloads.faults import ForwardingFault, Loss, SlowReceiver
from rogue.workloads.records import ControlRow
from rogue.workloads.streams import random_stream

NO_CONTROL: Final = "{transport} has no control with metrics, or no flow lasted for a sample"
"""Why there is no row."""


class NicControlSamples:
    """Samples the controls in NICs at an interval, at the ends that data leaves; idle without flows."""

    def __init__(self, simulation: Simulation, flows: Sequence[RunningFlow], interval_ns: int) -> None:
        self._simulation = simulation
        self._flows = [(flow, flow.sending_qp_num) for flow in flows if flow.nics.control is not None]
        self._interval_ns = interval_ns
        self.rows: list[ControlRow] = []
        if self._flows:
            self._timer = simulation.timer(self._on_timer)
            self._timer.set(interval_ns)

    def _on_timer(self, now_ns: int) -> None:
        metrics = self._simulation.control_metrics()
        for flow, qp_num in self._flows:
            if flow.agent.transfers:
                self.rows += _rows(flow.flow_id, now_ns, metrics[qp_num])
        self._timer.set(now_ns + self._interval_ns)


def control_table(flows: Sequence[RunningFlow], nics: NicControlSamples) -> Columns:
    """Return the metrics of agents after each sample, then the sampled metrics of NICs."""
    hosts = (
        row
        for flow in flows
        for t_ns, metrics in flow.agent.control_samples
        for row in _rows(flow.flow_id, t_ns, metrics)
    )
    return columns_of(ControlRow, [*hosts, *nics.rows])


def _rows(flow_id: str, t_ns: int, metrics: Mapping[str, float]) -> Iterator[ControlRow]:
    return (ControlRow(flow_id, t_ns, name, float(value)) for name, value in metrics.items())


NIC_XOFF_BYTES: Final = SlowReceiver.model_fields["xoff_bytes"].default
NEVER: Final = Marking(kmin_bytes=10**12, kmax_bytes=10**12, pmax=1.0)
"""More than ever waits."""

Parts = dict[str, Any]
"""Keyword arguments of `Simulation.add_switch`."""


def switch_parts(cell: Cell) -> Parts:
    """Return the parts that all switches of a cell have in common."""
    topology = cell.topology
    return {
        "flow_control": flow_control(cell),
        "marking": marking(cell),
        "fair_rates": switch_fair_rates(cell),
        "has_telemetry": has_telemetry(cell),
        "weights": cell.network.weights,
        "controls": switch_controls(cell),
        "thresholds_at_bps": topology.host_rate_max_bps if topology.thresholds == "rate" else None,
    }


def nic_parts(cell: Cell) -> Parts:
    """Return traffic classes as in switches, and pauses at a fixed threshold; packets carry no telemetry."""
    pauses = flow_control(cell)
    if pauses is not None:
        pauses = replace(pauses, xoff_bytes=pauses.xoff_bytes or NIC_XOFF_BYTES)
    has_classes = aqm_of(cell) is not None or bool(marking(cell))
    return {
        "flow_control": pauses,
        "marking": dict.fromkeys(cell.network.priorities, NEVER) if has_classes else {},
        "weights": cell.network.weights,
    }


PICOSECONDS = 1_000


@dataclass(frozen=True, slots=True)
class SimulatedNetwork:
    """A simulation that is ready to run."""

    simulation: Simulation
    flows: tuple[RunningFlow, ...]
    """Flows that move bytes."""
    probes: tuple[RunningFlow, ...]
    """Flows that measure latency: the experiment's probe, and groups that do nothing else."""
    nic_controls: NicControlSamples | None = None
    """Sampled metrics of controls in NICs, if these are measured."""


@gc_paused()
def build_network(cell: Cell) -> SimulatedNetwork:
    """Translate a cell; nothing has happened yet in the simulation, which the caller closes."""
    simulation = build_links(cell)
    try:
        return _connect(cell, simulation)
    except Exception:
        simulation.close()
        raise


def _connect(cell: Cell, simulation: Simulation) -> SimulatedNetwork:
    experiment, timing = cell.experiment, cell.timing
    limiters = shared_limiters(simulation, cell.topology)
    flows: list[RunningFlow] = []
    probes: list[RunningFlow] = []
    for group in cell.groups:
        running = flows if not group.spec.workload.is_probing else probes
        order = Order(simulation, group.flows, tells_arrivals=group.tells_arrivals)
        fabric = GroupFabric(simulation, limiters, cell, group)
        running += [start_flow(fabric, PlannedFlow(group, flow), order) for flow in group.flows]
    if (probe := cell.probe) is not None:
        probes.append(start_flow(GroupFabric(simulation, limiters, cell, probe.carrier), probe))
    arrange_faults(cell, simulation)
    inject_packet_events(cell, simulation, (*flows, *probes))
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


@gc_paused()
def build_links(cell: Cell, nodes: Container[str] | None = None) -> Simulation:
    """Build hosts, switches, links and routes, wrong ones included, without connections.

    nodes: only these, and the links between them; by default all.
    """
    topology = cell.topology
    simulation = Simulation(seed=cell.seed, framing=framing(cell), ttl_hops=topology.ttl_hops)
    for host in topology.host_names():
        if nodes is None or host in nodes:
            simulation.add_host(host, profile_of(topology, host))
    of_switches, of_nics = switch_parts(cell), nic_parts(cell)
    for switch in cell.network.switches:
        if nodes is not None and switch.name not in nodes:
            continue
        above_bytes = switch.trim_above_bytes
        by_coin = topology.trim == "coin"
        simulation.add_switch(
            switch.name,
            buffer_bytes=switch.buffer_bytes,
            alpha=switch.alpha,
            kind=switch.kind,
            trimming=None if above_bytes is None else Trimming(above_bytes, by_coin=by_coin),
            **(of_nics if switch.is_nic else of_switches),
        )
    cables = random_stream(cell.seed, "cables")
    for link in cell.network.links:
        spread_ps = cables.randint(0, cell.network.delay_spread_ns * PICOSECONDS)
        if nodes is not None and not (link.a in nodes and link.b in nodes):
            continue
        delay_ps = link.delay_ns * PICOSECONDS + spread_ps
        simulation.add_link(
            link.a,
            link.b,
            rate_bps=link.rate_bps,
            delay_ps=delay_ps,
            loss=link_loss(cell.network.losses.get(link, ())),
        )
    for fault in cell.network.breakages:  # before anything is connected
        if isinstance(fault, ForwardingFault):
            fault.strike(simulation)
    return simulation


def unsupported_fault(cell: Cell) -> str | None:
    """Return why the simulator cannot carry out a fault; None if it can."""
    pausers = [fault for fault in cell.network.breakages if fault.is_pausing]
    if len({fault.target for fault in pausers}) < len(pausers):
        return "the simulator's NICs pause their switch for one reason each; take a fault away"
    storms = [fault.target for fault in pausers if not isinstance(fault, SlowReceiver)]
    if storms and not cell.network.pausing:
        return f"{storms[0]} pauses its switch, which obeys only with +pfc; add it, or take the fault away"
    if any(len(_losing(losses)) > 1 for losses in cell.network.losses.values()):
        return "each of the simulator's links has one loss model: take a loss away"
    return unfit_event(cell) or _unsupported_rerouting(cell)


def _unsupported_rerouting(cell: Cell) -> str | None:
    """Return why links cannot be left out for a while; None if they can, or need not."""
    if not any(outage.reroute_after_ns is not None for outage in cell.network.outages):
        return None
    if is_misrouted(cell):
        return "switches that do not forward on shortest paths cannot reroute: leave reroute_after out"
    for control in (feature for name in cell_transports(cell) for feature in name.features):
        if reason := unsprayable(control):
            return f"reroute_after changes the paths of {control}, {reason}: leave one of them out"
    return None


def link_loss(losses: Iterable[Loss]) -> simulator.Loss | None:
    """Return how a link loses packets in each direction; None if it loses none."""
    return next(map(_engine_loss, _losing(losses)), None)


def _losing(losses: Iterable[Loss]) -> list[Loss]:
    return [loss for loss in losses if loss.mean_probability > 0]


def _engine_loss(loss: Loss) -> simulator.Loss:
    if loss.model == "burst":
        return simulator.BurstLoss(
            to_bad_probability=loss.burst_begins_probability,
            to_good_probability=1 / loss.burst_packets,
            from_ns=loss.from_ns,
            until_ns=loss.until_ns,
        )
    if loss.model == "identification":
        mask = round(1 / loss.mean_probability) - 1
        return simulator.IpIdLoss(mask, from_ns=loss.from_ns, until_ns=loss.until_ns)
    return simulator.IndependentLoss(loss.mean_probability, from_ns=loss.from_ns, until_ns=loss.until_ns)


def arrange_faults(cell: Cell, simulation: Simulation) -> None:
    """Schedule outages, and faults of hosts, after everything is connected."""
    for outage in cell.network.outages:
        simulation.cut_link(
            outage.a,
            outage.b,
            start_ns=outage.at_ns,
            duration_ns=outage.duration_ns,
            reroute_after_ns=outage.reroute_after_ns,
            one_way=outage.one_way,
        )
    for fault in cell.network.breakages:
        if not isinstance(fault, ForwardingFault):
            fault.strike(simulation)


def is_misrouted(cell: Cell) -> bool:
    """True if a switch does not forward by shortest paths."""
    return any(isinstance(fault, ForwardingFault) for fault in cell.network.breakages)


def start_recording(cell: Cell, simulation: Simulation, running: Sequence[RunningFlow]) -> None:
    """Let a simulation record the packets that the cell asks for; nothing has been posted yet."""
    requested = cell.experiment.measure_choice("packets")
    if requested is None:
        return
    wanted = [flow for flow in running if requested.flows is None or flow.flow_id in requested.flows]
    simulation.record_packets(
        None if requested.ports is None else recorded_ports(cell.topology, requested.ports),
        queue_pairs=[]
        if requested.flows is None
        else [number for flow in wanted for number in flow.all_qp_nums],
        from_ns=requested.from_ns,
        until_ns=requested.until_ns,
        packets_max=requested.packets_max,
    )


def packets_table(simulation: Simulation, running: Sequence[RunningFlow]) -> Columns:
    """Return the recorded packets, each with its flow."""
    table = simulation.packet_table()
    flows = {number: flow.flow_id for flow in running for number in flow.all_qp_nums}
    numbers = np.where(table["qp_num"] == None, 0, table["qp_num"]).astype(np.int64)  # noqa: E711
    distinct, places = np.unique(numbers, return_inverse=True)
    flow_ids = np.array([flows.get(int(number)) for number in distinct], dtype=object)[places]
    return {**table, "flow_id": flow_ids}


def packet_facts(cell: Cell, simulation: Simulation) -> dict[str, Fact]:
    """Return how many packets the table has no room for, if any."""
    if cell.experiment.measure_choice("packets") is None or not simulation.packets_missed:
        return {}
    return {"packets_missed": simulation.packets_missed}
