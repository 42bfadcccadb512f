"""Estimate how long a simulation takes: packets that cross links, and Python's work per flow and segment."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, log10
from typing import Final, NamedTuple

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import Demand, FlowGroup, moved_share
from rogue.harness.cell.timing import SECOND_NS
from rogue.harness.testbeds.simulator.features import cell_transports
from rogue.harness.testbeds.simulator.flows import WRITE_BYTES
from rogue.harness.testbeds.simulator.nics import profile_of
from rogue.simulator import CONTROLS, RELIABILITIES
from rogue.workloads.topologies import Link, Topology
from rogue.workloads.traffic import Flow
from rogue.workloads.transports import full_packets

START_SECONDS: Final = 0.5
HOP_SECONDS: Final = 5e-8
HOP_SECONDS_PER_DECADE: Final = 6e-8
SMALL_HOSTS: Final = 10
"""Time of a packet over a link, and what each tenfold number of hosts adds because caches miss more.

Measured with nothing else running: 34, 48 and 80 ns with 9, 54 and 1024 hosts and DCQCN
(benchmarks/README.md).
"""
HOP_FACTORS: Final[Mapping[str, float]] = {"uet": 2.5, "irn": 1.8, "irn-nobdp": 1.8, "irn-gbn": 1.5}
"""The same as a multiple, for transports that keep state for each packet.

Measured: Ultra Ethernet, permutations on fat trees of 128 to 8192 hosts, 1.9 to 2.7; IRN and IRN with
go-back-N beside `roce`, incasts and permutations of 10 to 128 hosts, 1.6 to 2.0 and 1.2 to 1.9.
"""
FLOW_SECONDS: Final = 1e-4
TRANSFER_SECONDS: Final = 1.5e-5
WAITING_SECONDS: Final = 2.5e-5
SEGMENT_SECONDS: Final = 8e-6
"""Time of a flow and of a transfer, in addition if a transfer waits for others, and of a segment or verb."""
REPEATS: Final[Mapping[str, float]] = {"roce-lossy": 3.0}
"""Packets sent for each packet needed, where several hosts send to one and nothing slows them down.

Measured: 1.3 and 1.8 with 2 and 8 senders to one host, 4.6 and 9.2 in IRN's network with Poisson arrivals.
"""


@dataclass(frozen=True, slots=True)
class _Moving:
    """The properties of a group's transport that decide how long it takes."""

    packet_bytes: int
    payload_fraction: float
    """Share of a link's rate that is payload."""
    acknowledged_every: int | None
    """Packets per acknowledgement; None: the NIC sends none."""
    segment_bytes: int
    repeats: float = 1.0
    hop_factor: float = 1.0
    is_stream: bool = False
    """It has no verbs."""

    def verb_bytes(self, flow: Flow) -> int:
        """Return the bytes of a verb; the agent cuts larger ones into segments."""
        return min(self.segment_bytes, flow.verb_bytes or self.segment_bytes)


class _Work(NamedTuple):
    """The work of a group."""

    packet_hops: float
    """Packets and acknowledgements times the links that they cross."""
    hop_factor: float
    python_seconds: float


def estimate_seconds(cell: Cell) -> float:
    """Return the expected time on an ordinary core that does nothing else."""
    hosts = len(cell.topology.host_names())
    hop_seconds = HOP_SECONDS + HOP_SECONDS_PER_DECADE * log10(max(1.0, hosts / SMALL_HOSTS))
    return START_SECONDS + sum(
        work.python_seconds + hop_seconds * work.hop_factor * work.packet_hops for work in _works(cell)
    )


def expected_packet_hops(cell: Cell) -> float:
    """Return the packets and their acknowledgements, times the links that they cross."""
    return sum(work.packet_hops for work in _works(cell))


def _works(cell: Cell) -> Iterator[_Work]:
    demands = tuple(group.demand for group in cell.groups)
    for index, group in enumerate(cell.groups):
        yield _work(cell.topology, demands, cell.timing.traffic_ns, index, _moving(cell, group))


@lru_cache(maxsize=64)
def _work(
    topology: Topology, demands: tuple[Demand, ...], traffic_ns: int, index: int, moving: _Moving
) -> _Work:
    """Return the work of one group; transports with equal properties share the result."""
    shares_bps = _shares_bps(topology, demands)
    share = moved_share(topology, demands[index], traffic_ns)
    packet_hops = python_seconds = 0.0
    for flow in demands[index].flows:
        links = len(topology.path_shape(flow.source, flow.destination))
        verb_bytes = moving.verb_bytes(flow)
        share_bps = shares_bps.get(_ends(flow), 0.0) * moving.payload_fraction
        python_seconds += FLOW_SECONDS + WAITING_SECONDS * len(flow.waiting)
        for size_bytes, count in _transfers(flow, traffic_ns, share_bps):
            packet_hops += _packets(moving, size_bytes, verb_bytes) * count * links * share
            python_seconds += count * (TRANSFER_SECONDS + SEGMENT_SECONDS * size_bytes * share / verb_bytes)
    if _are_receivers_shared(demands):
        packet_hops *= moving.repeats
    return _Work(packet_hops, moving.hop_factor, python_seconds)


def _packets(moving: _Moving, size_bytes: int, verb_bytes: int) -> float:
    """Return a transfer's packets and acknowledgements; the last packet of a verb always has one."""
    verbs = 1.0 if moving.is_stream else max(1.0, size_bytes / verb_bytes)
    packets = max(1, ceil(size_bytes / verbs / moving.packet_bytes))
    return verbs * (packets + (ceil(packets / moving.acknowledged_every) if moving.acknowledged_every else 0))


def _transfers(flow: Flow, traffic_ns: int, share_bps: float) -> list[tuple[int, float]]:
    """Return sizes and counts of a flow's transfers; a greedy flow has as many as its share carries."""
    if flow.arrivals:
        return list(Counter(flow.arrived_sizes_bytes).items())
    if flow.count is not None:
        return [(flow.size_bytes, flow.count)]
    lasting_ns = max(0, min(flow.repeat_until_ns or traffic_ns, traffic_ns) - flow.start_ns)
    interval_ns = flow.interval_ns or flow.size_bytes * 8 * SECOND_NS / share_bps
    return [(flow.size_bytes, lasting_ns / interval_ns)]


@lru_cache(maxsize=8)
def _are_receivers_shared(demands: tuple[Demand, ...]) -> bool:
    """Return True if flows of different hosts end at the same one."""
    heard: dict[str, str] = {}
    flows = (flow for demand in demands for flow in demand.flows)
    return any(heard.setdefault(flow.destination, flow.source) != flow.source for flow in flows)


@lru_cache(maxsize=8)
def _shares_bps(topology: Topology, demands: tuple[Demand, ...]) -> dict[tuple[str, str], float]:
    """Return the rates of greedy flows by their ends: fair shares of the busiest unavoidable link."""
    greedy = [
        flow for demand in demands for flow in demand.flows if flow.count is None and flow.interval_ns is None
    ]
    links = {ends: _certain_links(topology, *ends) for ends in map(_ends, greedy)}
    crowd = Counter(entry for flow in greedy for entry in links[_ends(flow)])
    return {ends: min(entry[1].rate_bps / crowd[entry] for entry in found) for ends, found in links.items()}


def _ends(flow: Flow) -> tuple[str, str]:
    return flow.source, flow.destination


def _certain_links(topology: Topology, source: str, destination: str) -> list[tuple[str, Link]]:
    """Return the links of a flow that no hash decides, each with the node that sends into it."""
    certain, node, found = set(topology.shortest_paths.certain(source, destination)), source, []
    for link in topology.path(source, destination):
        if link in certain:
            found.append((node, link))
        node = link.other_end(node)
    return found


def _moving(cell: Cell, carrier: FlowGroup) -> _Moving:
    topology, transport = cell.topology, carrier.transport
    base = transport.base
    if stream := transport.packets:
        parameters = RELIABILITIES[base].parameters
        (every,) = (int(each.value) for each in parameters if each.name == "ack_every_segments")
        return _Moving(
            stream.payload_bytes, float(stream.payload_fraction), every, WRITE_BYTES, is_stream=True
        )
    host = topology.host_names()[0]
    packets = full_packets(transport, cell_transports(cell), topology.frames, topology.mtu_bytes)
    acknowledged_every: int | None = profile_of(topology, host).ack_every_packets
    if transport.recovery or (transport.control and CONTROLS[transport.control].wants_acknowledgements):
        acknowledged_every = 1
    elif transport.service == "uc":
        acknowledged_every = None
    is_held_back = transport.has_pauses or transport.control is not None
    return _Moving(
        topology.mtu_bytes,
        float(packets.payload_fraction),
        acknowledged_every,
        carrier.settings.agents[topology.host_rate_bps(host)].segment_bytes,
        1.0 if is_held_back else REPEATS.get(base, 1.0),
        HOP_FACTORS.get(base, 1.0),
    )
