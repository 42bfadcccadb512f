"""Refuse what the simulator cannot run, before the run."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Final

from rogue.agent.core.settings import TransportSettings
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import Demand, FlowGroup, Group, PlannedFlow
from rogue.harness.cell.group_settings import OPTIONS
from rogue.harness.cell.recorded_packets import never_recorded
from rogue.harness.cell.timing import switch_ports
from rogue.harness.experiment.choices import MeasureKind
from rogue.harness.testbeds.simulator.features import (
    flow_control,
    framing,
    unsupported_feature,
    unsupported_receiver_control,
    unsupported_switch_control,
)
from rogue.harness.testbeds.simulator.flows import GroupFabric, connect_flow
from rogue.harness.testbeds.simulator.network import (
    PICOSECONDS,
    arrange_faults,
    build_links,
    is_misrouted,
    unsupported_fault,
)
from rogue.harness.testbeds.simulator.nics import profile_of
from rogue.simulator import ControlError, PriorityFlowControl, SimulationError
from rogue.workloads.topologies import Link, PathShape, Switch, Topology
from rogue.workloads.traffic import Flow
from rogue.workloads.traffic.transfer_graph import waits
from rogue.workloads.units import SIZE


def missing_buffer(cell: Cell) -> str | None:
    """Return the first switch whose buffer is too small, with the size that suffices; None if all suffice."""
    control = flow_control(cell)
    if control is None:
        return None
    rooms_bytes = _rooms_bytes(cell, control)
    for switch in cell.network.switches:
        if switch.buffer_bytes is None:
            continue
        headroom_bytes, whose = _headroom(switch, rooms_bytes[switch.name])
        if switch.buffer_bytes <= headroom_bytes:
            got = f"{switch.name} has a buffer of {SIZE.format(switch.buffer_bytes)}"
            needs = f"+pfc needs more than {headroom_bytes} bytes, the headroom of {whose}"
            return f"{got} and {needs}: raise topology.buffer, or lower topology.pause_headroom"
        room_bytes = switch.buffer_bytes - headroom_bytes
        if control.xoff_bytes is not None and control.xoff_bytes > room_bytes:
            got = f"{switch.name} would pause from {SIZE.format(control.xoff_bytes)} on"
            has = f"has {room_bytes} bytes beside the headroom of {whose}"
            return f"{got} and {has}: lower topology.pause_xoff, or raise topology.buffer"
    return None


def _rooms_bytes(cell: Cell, control: PriorityFlowControl) -> dict[str, list[int]]:
    frames, priorities = framing(cell), len(control.priorities)

    @cache
    def room_bytes(rate_bps: int, delay_ns: int) -> int:
        return priorities * control.headroom_of("a link", frames, rate_bps, delay_ns * PICOSECONDS)

    rooms_bytes: dict[str, list[int]] = {switch.name: [] for switch in cell.network.switches}
    for link in cell.network.links:
        own_bytes = room_bytes(link.rate_bps, link.delay_ns + cell.network.delay_spread_ns)
        for end in (link.a, link.b):
            if end in rooms_bytes:
                rooms_bytes[end].append(own_bytes)
    return rooms_bytes


def _headroom(switch: Switch, rooms_bytes: Sequence[int]) -> tuple[int, str]:
    if switch.kind == "voq":
        return max(rooms_bytes), "a link"
    return sum(rooms_bytes), f"its {len(rooms_bytes)} links"


def missing_limiters(cell: Cell) -> str | None:
    """Return the first NIC with too few limiters, as a reason; None if every NIC has enough.

    Each queue pair that responds to READs of an agent with rates keeps a limiter. One more serves all queue
    pairs without rates, and at least one serves those that take turns.
    """
    topology = cell.topology
    if not any(flow.verb == "read" for group in cell.groups for flow in group.flows):
        return None
    kept, turns, unlimited = Counter[str](), set[str](), set[str]()
    for flow, settings in _flows(cell):
        is_paced, is_read = settings.estimator is not None, flow.verb == "read"
        if is_read and is_paced:
            kept[flow.responder] += 1
        if is_paced and not is_read:
            turns.add(flow.initiator)
        else:
            unlimited.add(flow.initiator)
    if cell.experiment.probe is not None:
        unlimited.add(topology.probe_host())
    for host, readers in sorted(kept.items()):
        limiters = profile_of(topology, host).limiters
        keeps_one = host in unlimited or topology.nic_limiters is not None
        needed = readers + (host in turns) + keeps_one
        if limiters and needed > limiters:
            return (
                f"{host} responds to the READs of {readers} flows and needs {needed} limiters, of which its "
                f"NIC {topology.nic_of(host)} has {limiters}: let fewer hosts read from it, or choose a NIC "
                "with a limiter for each queue pair (topology.nic=cx4)"
            )
    return None


def _flows(cell: Cell) -> Iterator[tuple[Flow, TransportSettings]]:
    for group in cell.groups:
        if group.settings.tcp is None:
            for flow in group.flows:
                yield flow, group.settings.agents[cell.topology.host_rate_bps(flow.initiator)]


DRAWN_FEW: Final = 1000
"""From this many drawn transfers on, a seed leaves out no kind of transfer."""


SAMPLED_LINKS_MIN: Final = 500
"""From this many links on, a sample of a network is tried instead of the whole."""


def unbuildable(cell: Cell) -> str | None:
    """Return what the engine refuses of the network, in its words; None if nothing."""
    try:
        simulation = build_links(cell, _sample(cell))
        for group, flows in _different(cell):
            fabric = GroupFabric(simulation, {}, cell, group)
            for flow in flows:
                connect_flow(fabric, PlannedFlow(group, flow))
        arrange_faults(cell, simulation)
    except ControlError as error:
        return f"the plug-in raises at {error.place}: {error}" if error.place else str(error)
    except SimulationError as error:
        return str(error)
    return None


def _sample(cell: Cell) -> set[str] | None:
    """Return nodes that have every kind of switch, link and path of the cell; None if it needs all nodes.

    A large network has few kinds, and building all of it takes seconds. `missing_buffer` has checked what
    depends on the number of a switch's links.
    """
    network = cell.network
    if len(network.links) < SAMPLED_LINKS_MIN or network.breakages or network.outages or network.losses:
        return None
    known: dict[Switch, int] = {}
    kinds = {each.name: known.setdefault(replace(each, name=""), len(known)) for each in network.switches}
    links: dict[object, Link] = {}
    for link in network.links:
        links.setdefault((link.rate_bps, link.delay_ns, kinds.get(link.a), kinds.get(link.b)), link)
    for _, flows in _different(cell):
        for flow in flows:
            for link in cell.topology.path(flow.source, flow.destination):
                links[link] = link
    return {end for link in links.values() for end in (link.a, link.b)}


def is_same_for_every_seed(cell: Cell) -> bool:
    """Return True if the engine refuses all repetitions or none.

    False where a hash decides which paths packets take, or where so few transfers are drawn that another
    seed may leave out a kind of them.
    """
    placement = cell.experiment.placement
    drawn = [group.workload for group in cell.experiment.groups if group.workload.is_drawn]
    return not is_misrouted(cell) and all(
        workload.scheduled_transfers(placement) >= DRAWN_FEW for workload in drawn
    )


def _different(cell: Cell) -> Iterator[tuple[FlowGroup, Sequence[Flow]]]:
    """Yield by group the flows that the engine may judge differently.

    All of them where a hash decides what gets there; else one of each group, on each shape of path.
    """
    is_hashed = is_misrouted(cell)
    for group in cell.groups:
        yield group, group.flows if is_hashed else _one_of_each_shape(cell.topology, group.demand)
    if cell.probe is not None:
        yield cell.probe.carrier, [cell.probe.flow]


@lru_cache(maxsize=8)
def _one_of_each_shape(topology: Topology, demand: Demand) -> tuple[Flow, ...]:
    first: dict[PathShape, Flow] = {}
    for flow in demand.flows:
        first.setdefault(topology.path_shape(flow.initiator, flow.responder), flow)
    return tuple(first.values())


SAMPLES_MAX: Final = 50_000_000
CONTROL_SAMPLES_MAX: Final = 5_000_000
PROBES_MAX: Final = 5_000_000
"""A probe, and what a control believes, is an object in memory until the cell ends."""
CONNECTIONS_BYTES_MAX: Final = 15_500_000_000
CONNECTION_BYTES: Final = 12_500
LARGER_BYTES: Final[Mapping[str, int]] = {"rogue": 21_000, "rogue-uc": 19_000, "uet": 14_500}
"""What connections may take together until the cell ends, and one of them, by the base of its transport.

Others take what `roce+dcqcn+pfc` does. Measured with an all-to-all (benchmarks/README.md).
"""
TRANSFER_BYTES_MAX: Final = 2**40
"""The largest WRITE of the simulator's TCPs; agents cut transfers into segments."""
NOT_MEASURED: Final[dict[MeasureKind, str]] = {
    "cpu": "the simulator has no model of the hosts' processors",
}


def unsupported(cell: Cell) -> str | None:
    """Return why the simulator cannot run a cell, naming what it has; None if it can."""
    if reason := unsupported_feature(cell) or _option_for_nodes(cell):
        return reason
    if reason := cell.experiment.unmet_requirement(NOT_MEASURED):
        return reason
    checks: Iterable[Callable[[Cell], str | None]] = (
        unsupported_switch_control,
        _unsupported_traffic,
        unsupported_fault,
        missing_limiters,
        _too_many_samples,
        never_recorded,
        unsupported_receiver_control,
        missing_buffer,
        unbuildable,
    )
    return next((reason for check in checks if (reason := check(cell))), None)


def _option_for_nodes(cell: Cell) -> str | None:
    requested = [key for key in OPTIONS if any(key in group.parameters for group in cell.groups)]
    return (
        f"{requested[0]} is about drivers on nodes; the simulator has none: leave it out"
        if requested
        else None
    )


def _unsupported_traffic(cell: Cell) -> str | None:
    if reason := _too_many_connections(cell) or cell.idleness:
        return reason
    for group in cell.groups:
        if waits(group.flows) and (reason := _waits_in_vain(group)):
            return reason
        if group.transport.service == "tcp" and (reason := _too_large(group.flows)):
            return reason
    return None


def _too_many_connections(cell: Cell) -> str | None:
    """Return why the connections do not fit into memory; they are counted before millions are drawn."""
    placement = cell.experiment.placement
    expected = [(group, group.spec.workload.expected_connections(placement)) for group in cell.groups]
    return _beyond_memory(expected) or _beyond_memory([(group, len(group.flows)) for group in cell.groups])


def _beyond_memory(counted: Sequence[tuple[Group, float]]) -> str | None:
    held_bytes = sum(_connection_bytes(group) * connections for group, connections in counted)
    if held_bytes <= CONNECTIONS_BYTES_MAX:
        return None
    connections = round(sum(connections for _, connections in counted))
    requested = f"{connections} connections would take {held_bytes / 1e9:.1f} GB"
    most = f"expected at most {CONNECTIONS_BYTES_MAX / 1e9:g}"
    connection = {getattr(group.spec.workload, "connection", None) for group, _ in counted}
    shared = "set connection to per_pair, or " if "per_transfer" in connection else ""
    return f"{requested}, {most}: {shared}take connections, transfers or hosts away"


def _connection_bytes(carrier: FlowGroup) -> int:
    return LARGER_BYTES.get(carrier.transport.base, CONNECTION_BYTES)


def _waits_in_vain(group: Group) -> str | None:
    """Return why transfers of a group might never start; None if all can."""
    if group.demand.order.has_cycle:
        return f"transfers of {group.name} wait for each other in a circle (after): let one start for itself"
    arrivals = (arrival for flow in group.flows for arrival in flow.arrivals)
    is_for_arrivals = any(each.moment == "arrival" for arrival in arrivals for each in arrival.after)
    if group.transport.service == "uc" and is_for_arrivals:
        waiting = f"{group.name} has transfers that wait for others to arrive"
        return f"{waiting}, and what UC loses never does: set transport to one over RC or TCP"
    return None


def _too_large(flows: Sequence[Flow]) -> str | None:
    sizes = ((flow.size_bytes, *flow.arrived_sizes_bytes) for flow in flows)
    largest_bytes = max(max(each) for each in sizes)
    if largest_bytes > TRANSFER_BYTES_MAX:
        most = f"expected at most {TRANSFER_BYTES_MAX} over TCP"
        return f"a transfer has {largest_bytes} bytes, {most}; lower its size"
    return None


def _too_many_samples(cell: Cell) -> str | None:
    experiment, timing, probe = cell.experiment, cell.timing, cell.experiment.probe
    flows = sum(len(group.flows) for group in cell.groups)
    wanted = {
        "throughput": (timing.throughput_interval_ns, flows, SAMPLES_MAX, "its interval"),
        "queues": (timing.queue_interval_ns, switch_ports(experiment.topology), SAMPLES_MAX, "its interval"),
        "control": (
            timing.throughput_interval_ns,
            flows * experiment.measures("control"),
            CONTROL_SAMPLES_MAX,
            "the interval of throughput",
        ),
        "latency": (
            probe.interval_ns if probe else timing.limit_ns,
            1,
            PROBES_MAX,
            "the probe's interval",
        ),
    }
    for what, (interval_ns, rows, samples_max, whose) in wanted.items():
        samples = timing.limit_ns // interval_ns * rows
        if samples > samples_max:
            return f"{what} would have {samples} samples, expected at most {samples_max}; raise {whose}"
    return None


def not_measured(cell: Cell) -> dict[str, str]:
    """Return measures that a cell asks for and will not get, with the reason."""
    return {measure: reason for measure, reason in NOT_MEASURED.items() if cell.experiment.measures(measure)}
