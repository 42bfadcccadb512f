"""Describe one cell: an experiment at one factor point, with one transport and one seed."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Final

from rogue.harness.cell.demand import (
    PROBE_GROUP,
    PROBE_TRANSPORT,
    Demand,
    FlowGroup,
    Group,
    PlannedFlow,
    carried_verbs,
    moved_share,
)
from rogue.harness.cell.network import NetworkSpec, faults_struck, network_spec
from rogue.harness.cell.parameter_sets import ChosenSet, chosen_set, unpublished, with_set
from rogue.harness.cell.recovery import Share, recovery_ns
from rogue.harness.cell.timing import SECOND_NS, Timing, switch_ports, timing_of
from rogue.harness.experiment.choices import Scalar, TrafficGroup, TransportChoice
from rogue.harness.experiment.model import Experiment
from rogue.workloads.faults import Fault
from rogue.workloads.ideal import longest_round_trip_ns
from rogue.workloads.printable import did_you_mean
from rogue.workloads.topologies import Link, Topology
from rogue.workloads.traffic import Flow
from rogue.workloads.transports import TransportName, full_packets


@dataclass(frozen=True)
class Cell:
    """A transport at one point of an experiment's factors, with a seed."""

    id: str
    """Also the name of its directory."""
    transport: TransportChoice
    factors: Mapping[str, Scalar]
    """Factor values, as written."""
    repetition: int
    """From 1."""
    seed: int
    """Same for all transports and factor points of a repetition: they meet the same traffic."""
    experiment: Experiment
    """With the factors applied."""

    def __getstate__(self) -> dict[str, object]:
        """Leave out the derived values: to send those of a large network takes longer than to derive them."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def topology(self) -> Topology:
        """Return its network."""
        return self.experiment.topology

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Return its traffic, without the probe."""
        return tuple(self._group(spec) for spec in self.experiment.groups)

    @cached_property
    def network(self) -> NetworkSpec:
        """Return the requested switches and links; ParameterError for an impossible parameter."""
        return network_spec(self.topology, self.groups, self.faults)

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """Return its faults, drawn where chance decides."""
        return faults_struck(self.experiment, self.seed)

    @cached_property
    def timing(self) -> Timing:
        """Return how long it lasts and how often it is sampled."""
        return timing_of(self.experiment, tuple(group.demand for group in self.groups))

    @cached_property
    def probe(self) -> PlannedFlow | None:
        """Return the experiment's probe, from a separate host in the first group's traffic class."""
        probe = self.experiment.probe
        if probe is None:
            return None
        carrier = FlowGroup(
            PROBE_GROUP, PROBE_TRANSPORT, str(PROBE_TRANSPORT), {}, self.groups[0].priority, self.topology
        )
        target = probe.target or self.busiest_receiver
        return PlannedFlow(carrier, probe.flow(self.topology.probe_host(), target, self.seed), is_probe=True)

    @property
    def flow_ids(self) -> list[str]:
        """Return the flows of its groups and its probe by name."""
        known = [flow.name_in(group.name) for group in self.groups for flow in group.flows]
        return [*known, self.probe.flow_id] if self.probe else known

    @property
    def receivers(self) -> Counter[str]:
        """Return every host that flows end at, with how many do."""
        return Counter(flow.destination for group in self.groups for flow in group.flows)

    @property
    def busiest_receiver(self) -> str:
        """Return the host that most flows end at, of several the first; the usual receiver without flows."""
        counts = self.receivers
        return max(counts, key=lambda host: counts[host], default=self.experiment.placement.receiver)

    @property
    def replaced_verbs(self) -> str | None:
        """Return a sentence on verbs that other verbs replace; None if all verbs are as requested."""
        sentences = {
            f"{group.transport} has no {verb}: {instead} in the same direction of data"
            for group in self.groups
            for verb, instead in group.demand.replaced
        }
        return "; ".join(sorted(sentences)) or None

    @property
    def idleness(self) -> str | None:
        """Return why one of its groups has no transfer; None if all have one."""
        idle = next((group for group in self.groups if not group.flows), None)
        if idle is None:
            return None
        if idle.duration_ns is None:
            return f"{idle.name} has no transfer that could be measured; add one"
        return (
            f"nothing happens in {idle.name}: its first transfer would come after its end; let it run longer"
        )

    @property
    def written_parameters(self) -> list[tuple[TransportName, Mapping[str, Scalar]]]:
        """Return the transport of each group with its parameters as the experiment has them."""
        return [self._written(spec) for spec in self.experiment.groups]

    def _written(self, spec: TrafficGroup) -> tuple[TransportName, Mapping[str, Scalar]]:
        cells_own = {} if spec.transport else self.transport.parameters
        return spec.transport or self.transport.name, {**cells_own, **spec.parameters}

    def _group(self, spec: TrafficGroup) -> Group:
        transport, written = self._written(spec)
        return Group(
            name=spec.name,
            transport=transport,
            label=str(spec.transport) if spec.transport else self.transport.shown,
            parameters=with_set(transport, written, self.topology.host_rate_max_bps),
            priority=spec.priority,
            topology=self.topology,
            spec=spec,
            demand=Demand(spec.workload, self.experiment.placement, self.seed, carried_verbs(transport)),
        )


def bottleneck_facts(cell: Cell) -> dict[str, str | float]:
    """Return the slowest port that all flows share and the payload it can carry; empty if they share none."""
    if len(cell.receivers) != 1:
        return {}
    topology = cell.topology
    flows = [flow for group in cell.groups for flow in group.flows]
    ends = dict.fromkeys((flow.source, flow.destination) for flow in flows)
    certain = [topology.shortest_paths.certain(*each) for each in ends]
    shared = [link for link in certain[0] if all(link in links for links in certain)]
    link = min(reversed(shared), key=lambda each: each.rate_bps)
    return {
        "ideal_goodput_bps": float(link.rate_bps * cell_payload_fraction(cell)),
        "bottleneck_port": _port(flows[0].source, topology.path(flows[0].source, flows[0].destination), link),
    }


def cell_payload_fraction(cell: Cell) -> Fraction:
    """Return the payload's share of a link's rate, for the largest packets if transports differ."""
    topology = cell.topology
    names = {group.transport for group in cell.groups}
    packets = {full_packets(name, names, topology.frames, topology.mtu_bytes) for name in names}
    if len(packets) == 1:
        return packets.pop().payload_fraction
    return topology.frames.payload_fraction(topology.mtu_bytes)


def _port(source: str, path: Sequence[Link], wanted: Link) -> str:
    """Return the name of the port through which a path from a source enters a link."""
    node = source
    for link in path[: path.index(wanted)]:
        node = link.b if link.a == node else link.a
    return f"{node}->{wanted.b if wanted.a == node else wanted.a}"


SAMPLES_OF_LOAD_MIN: Final = 10


def cell_facts(cell: Cell) -> dict[str, str | float | bool | None]:
    """Return facts about its packets, its bottleneck, replaced verbs and traffic that does not count."""
    return {
        "framing": cell.topology.framing,
        "mtu_bytes": cell.topology.mtu_bytes,
        "payload_fraction": float(cell_payload_fraction(cell)),
        **bottleneck_facts(cell),
        "arriving_ns": _arriving_ns(cell),
        "repeats": repeats(cell),
        "warm_up_ns": max(group.spec.workload.warm_up_ns for group in cell.groups),
        **_bus_facts(cell),
        "recovery_ns": slowest_recovery_ns(cell),
        **_parameter_facts(cell),
        "replaced_verbs": cell.replaced_verbs,
        "throughput_interval_ns": cell.timing.throughput_interval_ns,
    }


def _bus_facts(cell: Cell) -> dict[str, float | None]:
    """Return a rank's bytes in the only collective operation, and the payload rate of the slowest link."""
    groups = [group for group in cell.groups if group.spec.workload.bus_bytes is not None]
    if len(groups) != 1:
        return {"bus_bytes": None, "rank_goodput_bps": None}
    ranks = {host for flow in groups[0].flows for host in (flow.source, flow.destination)}
    rate_bps = min(map(cell.topology.host_rate_bps, ranks))
    return {
        "bus_bytes": groups[0].spec.workload.bus_bytes,
        "rank_goodput_bps": float(rate_bps * cell_payload_fraction(cell)),
    }


def _parameter_facts(cell: Cell) -> dict[str, str | float | bool | None]:
    """Return the chosen set of parameters with its source, and what is unpublished at this line rate."""
    chosen = {f"{name} {found.name}": found.source for name, _, found in cell_sets(cell)}
    sentence, remedy = unpublished_parameters(cell) or (None, None)
    return {
        "parameter_set": ", ".join(chosen) or "defaults",
        "parameter_source": "; ".join(dict.fromkeys(chosen.values())) or None,
        "unpublished_parameters": sentence,
        "unpublished_remedy": remedy,
    }


def cell_sets(cell: Cell) -> Iterator[tuple[str, Mapping[str, Scalar], ChosenSet]]:
    """Yield each transport that has a set of parameters, with what the experiment states for it."""
    for transport, written in cell.written_parameters:
        chosen = chosen_set(transport, written, cell.topology.host_rate_max_bps)
        if chosen is not None:
            yield str(transport), written, chosen


def unpublished_parameters(cell: Cell) -> tuple[str, str] | None:
    """Return a sentence on defaults that no source has for the hosts' line rate, and what to do about it."""
    rate_bps = cell.topology.host_rate_max_bps
    found = (unpublished(group.transport, group.parameters, rate_bps) for group in cell.groups)
    return next((each for each in found if each is not None), None)


def slowest_recovery_ns(cell: Cell) -> int | None:
    """Return the longest recovery time of the cell's controls; None without a port that all flows share."""
    facts = bottleneck_facts(cell)
    if not facts:
        return None
    flows = sum(len(group.flows) for group in cell.groups)
    topology = cell.topology
    wire_bytes = topology.mtu_bytes + topology.frames.header_bytes + topology.frames.gap_bytes
    acknowledgement_bytes = topology.frames.acknowledgement_bytes + topology.frames.gap_bytes
    round_trip_ns = longest_round_trip_ns(topology, wire_bytes, acknowledgement_bytes)
    share = Share(float(facts["ideal_goodput_bps"]) / flows, round_trip_ns, topology.mtu_bytes)
    rate_bps = topology.host_rate_max_bps
    times = [recovery_ns(group.transport, group.settings, rate_bps, share) for group in cell.groups]
    return max((round(time) for time in times if time is not None), default=None)


def _arriving_ns(cell: Cell) -> int | None:
    """Return the time at which the last transfer starts, where all traffic drains after that.

    None where some traffic continues, and where that time has too few samples: it is a burst, not a load.
    """
    times = [group.spec.workload.arriving_ns for group in cell.groups]
    known = [time for time in times if time is not None]
    least_ns = SAMPLES_OF_LOAD_MIN * cell.timing.queue_interval_ns
    return max(known) if len(known) == len(times) and max(known) >= least_ns else None


def repeats(cell: Cell) -> bool:
    """True if every flow starts a transfer after the one before, until a time that cuts the last."""
    flows = [flow for group in cell.groups for flow in group.flows if flow.size_bytes > 0]
    return all(flow.repeat_until_ns is not None and flow.interval_ns is None for flow in flows)


def fault_events(cell: Cell, until_ns: int) -> list[tuple[str, int, str, str]]:
    """Return rows of the table `events` for faults before the end of the run."""
    return [
        ("", t_ns, event, fault.place)
        for fault in cell.faults
        for t_ns, event in fault.changes()
        if t_ns <= until_ns
    ]


def unfit_event(cell: Cell) -> str | None:
    """Return which packet event is about no flow of the cell, or about one over TCP; None if all fit."""
    events = cell.network.packet_events
    if not events:
        return None
    known = cell.flow_ids
    of_tcp = {
        flow.name_in(group.name)
        for group in cell.groups
        if group.transport.service == "tcp"
        for flow in group.flows
    }
    for event in events:
        if event.flow not in known:
            advice = did_you_mean(event.flow, known, f"there are {', '.join(known[:5])}")
            return f"packet_event: the cell has no flow {event.flow}; {advice}"
        if event.flow in of_tcp:
            return f"packet_event: {event.flow} is over TCP, which numbers bytes: choose a flow over RDMA"
    return None


SEGMENT_BYTES: Final = 64 * 1024
"""The bytes that one sample of the round-trip time covers."""
FLOW_BYTES, LATENCY_BYTES, QUEUE_BYTES, RTT_BYTES, THROUGHPUT_BYTES = 100, 10, 2, 20, 25
"""Bytes of a row in Parquet, rounded up: 90, 9, 1, 16 and 21 in experiments/quickstart.yaml with RoGUE."""
PACKET_BYTES: Final = 10
"""Likewise: 8.7 of 100 000 packets of an incast with DCQCN."""
CONTROL_BYTES: Final = 4 * 10
"""Likewise: four quantities; 9.6 each of a NIC with DCQCN, 4.5 of an agent."""
CELL_BYTES: Final = 20_000
"""Bytes of every cell: empty tables, its record, its settings."""


def expected_bytes(cell: Cell) -> float:
    """Return the bytes of a cell's tables on a disk if every receiver is as busy as it can be."""
    experiment, timing = cell.experiment, cell.timing
    flows = [flow for group in cell.groups for flow in group.flows]
    moved_bytes = _received_bytes(cell, flows)
    intervals = timing.traffic_ns / timing.throughput_interval_ns * len(flows)
    queues = timing.limit_ns / timing.queue_interval_ns * switch_ports(cell.topology)
    return CELL_BYTES + sum(
        (
            FLOW_BYTES * _transfers(cell, flows),
            LATENCY_BYTES * (timing.traffic_ns / experiment.probe.interval_ns if experiment.probe else 0),
            QUEUE_BYTES * queues * experiment.measures("queues"),
            PACKET_BYTES * _packets(cell, flows, moved_bytes),
            RTT_BYTES * moved_bytes / SEGMENT_BYTES * experiment.measures("rtt"),
            CONTROL_BYTES * max(moved_bytes / SEGMENT_BYTES, intervals) * experiment.measures("control"),
            THROUGHPUT_BYTES * intervals * experiment.measures("throughput"),
        )
    )


def _packets(cell: Cell, flows: list[Flow], moved_bytes: float) -> float:
    """Return the packets at the ports of the longest path, with acknowledgements, up to the bound."""
    requested = cell.experiment.measure_choice("packets")
    if requested is None:
        return 0
    pairs = {(flow.source, flow.destination) for flow in flows}
    hops = max((len(cell.topology.path(*pair)) for pair in pairs), default=0)
    return min(requested.packets_max, 2 * hops * moved_bytes / cell.topology.mtu_bytes)


def _transfers(cell: Cell, flows: list[Flow]) -> float:
    """Return the scheduled transfers, and the most that greedy flows can finish by the end."""
    greedy = [flow for flow in flows if _is_greedy(flow)]
    smallest_bytes = min((flow.size_bytes for flow in greedy), default=1)
    requested = sum(_transfers_of(flow, cell.timing.traffic_ns) for flow in flows if not _is_greedy(flow))
    return requested + _capacity_bytes(cell, greedy) / max(1, smallest_bytes)


def _transfers_of(flow: Flow, traffic_ns: int) -> float:
    if flow.arrivals or flow.interval_ns is None:
        return len(flow.arrivals) or flow.count or 0
    lasting_ns = max(0, (flow.repeat_until_ns or traffic_ns) - flow.start_ns)
    return lasting_ns / flow.interval_ns if flow.count is None else flow.count


def _received_bytes(cell: Cell, flows: list[Flow]) -> float:
    finite = sum(
        sum(flow.finite_bytes for flow in group.flows)
        * moved_share(cell.topology, group.demand, cell.timing.traffic_ns)
        for group in cell.groups
    )
    return finite + _capacity_bytes(cell, [flow for flow in flows if _is_greedy(flow)])


def _capacity_bytes(cell: Cell, flows: Iterable[Flow]) -> float:
    """Return the bytes that the receivers of these flows can receive while the traffic lasts."""
    receivers = {flow.destination for flow in flows}
    rates_bps = sum(cell.topology.host_rate_bps(host) for host in receivers)
    return rates_bps / 8 * cell.timing.traffic_ns / SECOND_NS


def _is_greedy(flow: Flow) -> bool:
    return flow.count is None and flow.interval_ns is None and not flow.arrivals
