"""How long a simulation takes: by the packets that cross links, and what Python does per flow and segment."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil, log10
from typing import Final, NamedTuple, TypeAlias

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import Carried, Demand, FlowGroup, carried
from rogue.harness.cell.timing import SECOND_NS
from rogue.harness.testbeds.simulator.features import cell_transports
from rogue.harness.testbeds.simulator.flows import WRITE_BYTES
from rogue.harness.testbeds.simulator.nics import profile_of
from rogue.simulator import CONTROLS, RELIABILITIES, NicProfile
from rogue.workloads.topologies import Link, Topology
from rogue.workloads.traffic import Flow
from rogue.workloads.transports import TransportName, full_packets

START_SECONDS: Final = 0.5
HOP_SECONDS: Final = 5e-8
HOP_SECONDS_PER_DECADE: Final = 6e-8
SMALL_HOSTS: Final = 10
"""A packet over a link, and what each tenfold number of hosts adds, for memory is further away then.

Measured with nothing else running: 34, 48 and 80 ns with 9, 54 and 1024 hosts and DCQCN
(benchmarks/README.md).
"""
DEARER: Final[Mapping[str, float]] = {"uet": 2.5, "irn": 1.8, "irn-nobdp": 1.8, "irn-gbn": 1.5}
"""A packet over a link, as a multiple of that, of transports that keep much of each.

Measured, Ultra Ethernet with a permutation on fat trees of 128, 1024 and 8192 hosts: 1.9, 2.7 and 2.7 times;
IRN and IRN with go-back-N beside `roce`, with an incast and permutations of 10 to 128 hosts: 1.6 to 2.0 and
1.2 to 1.9 times.
"""
FLOW_SECONDS: Final = 1e-4
TRANSFER_SECONDS: Final = 1.5e-5
WAITING_SECONDS: Final = 2.5e-5
SEGMENT_SECONDS: Final = 8e-6
VERB_SECONDS: Final = 4e-6
"""What a flow and a transfer cost at their start and in the results, a transfer besides if it waits for
others, a segment in the agent, and each of the verbs of which an application makes it, if they are smaller.

Measured, verbs of 1 to 16 KiB with `roce` and `rogue`: 4.5 to 6.2 us with other work beside them.
"""
DEARER_SEGMENTS: Final[Mapping[str, float]] = {"rogue-uc": 2.3}
"""A segment in the agent, as a multiple of that, where the receiver's library acknowledges each batch.

Measured beside `rogue`, with an incast of 8 hosts at 10 Gb/s.
"""
FEW_TRANSFERS: Final = 100_000
MORE_PER_DECADE: Final = 0.35
"""By how much Python's share grows from so many transfers on, for what it touches is further away then.

Measured (benchmarks/README.md): 142, 175 and 207 us for a connection of an all-to-all of 256, 512 and 1024
hosts, 47 and 79 us for a transfer of a ring of 256 and 1024.
"""
REPEATS: Final[Mapping[str, float]] = {"roce-lossy": 3.0, "irn-gbn": 1.1}
"""Packets for each that is needed, where flows of several hosts end at one and nothing slows them down.

Measured with `roce-lossy`: 1.3 and 1.8 with 2 and 8 senders to one host, 4.6 and 9.2 in IRN's network with
Poisson arrivals; with `irn-gbn`, whose cap keeps queues short, 1.0 to 1.2.
"""
REPEATS_ALONE: Final[Mapping[str, float]] = {"roce-lossy": 1.5}
"""The same where hosts hear one each, and flows meet at most inside of the network: measured, 1.0 to 2.4."""
ASKING_SHARE: Final = 0.5
"""Of the packets that are sent by credit, how many take the last of it and so ask for an acknowledgement.

Measured with permutations and incasts at 10 to 100 Gb/s: 0.4 to 0.8.
"""

_Transfers: TypeAlias = list[tuple[int, float]]
"""Sizes in bytes, each with a count."""


@dataclass(frozen=True, slots=True)
class _Moving:
    """How a group's transport moves bytes, as far as it matters for how long that takes."""

    packet_bytes: int
    payload_fraction: float
    """Share of a link's rate that is payload."""
    acknowledged_every: float | None
    """How many packets have one acknowledgement or grant; None: the NIC sends none."""
    segment_bytes: int
    repeats: float = 1.0
    """Packets for each that is needed where hosts hear several others."""
    repeats_alone: float = 1.0
    """Where they hear one each."""
    dearness: float = 1.0
    """What one of its packets costs over a link, as a multiple of what others do."""
    segment_dearness: float = 1.0
    """What one of its segments costs in the agent, likewise."""
    is_stream: bool = False
    """It has no verbs."""
    acknowledges_marked: bool = False
    """Each marked packet has an acknowledgement of its own."""

    def verb_bytes(self, flow: Flow) -> int:
        """The agent cuts what the application posts into segments, if that is larger."""
        return min(self.segment_bytes, flow.verb_bytes or self.segment_bytes)

    def when_marked(self) -> "_Moving":
        """The same while every packet is marked, as nearly all are where several hosts send to one.

        Measured with incasts of 2 to 32 hosts at 10 and 100 Gb/s: all packets but the first few; with Poisson
        arrivals half of them.
        """
        return replace(self, acknowledged_every=1) if self.acknowledges_marked else self


class _Work(NamedTuple):
    """What takes time of a group."""

    flows: int
    transfers: float
    waiting: int
    """Transfers that wait for others."""
    segments: float
    """Each as dear as its transport makes it."""
    small_verbs: float
    """Verbs of an application that are smaller than segments."""
    packet_hops: float
    """Packets times the links that they take."""
    weighted_hops: float
    """The same, each as dear as its transport makes it."""


def estimate_seconds(cell: Cell) -> float:
    """Expected time on an ordinary core that does nothing else."""
    work = [_work(*asked) for asked in _asked(cell)]
    hosts = len(cell.topology.host_names())
    hop_seconds = HOP_SECONDS + HOP_SECONDS_PER_DECADE * log10(max(1.0, hosts / SMALL_HOSTS))
    transfers = sum(each.transfers for each in work)
    further = 1 + MORE_PER_DECADE * log10(max(1.0, transfers / FEW_TRANSFERS))
    python_seconds = (
        FLOW_SECONDS * sum(each.flows for each in work)
        + TRANSFER_SECONDS * transfers
        + WAITING_SECONDS * sum(each.waiting for each in work)
        + SEGMENT_SECONDS * sum(each.segments for each in work)
        + VERB_SECONDS * sum(each.small_verbs for each in work)
    )
    return START_SECONDS + further * python_seconds + hop_seconds * sum(each.weighted_hops for each in work)


def expected_packet_hops(cell: Cell) -> float:
    """Packets and their acknowledgements, times the links that they cross."""
    return sum(_work(*asked).packet_hops for asked in _asked(cell))


def _asked(cell: Cell) -> Iterator[tuple[Topology, tuple[Demand, ...], int, int, _Moving]]:
    """Per group all that decides its work: the network, what moves in it, for how long, whose, and how."""
    demands = tuple(group.demand for group in cell.groups)
    for index, group in enumerate(cell.groups):
        yield cell.topology, demands, cell.timing.traffic_ns, index, _moving(cell, group)


@lru_cache(maxsize=64)
def _work(
    topology: Topology, demands: tuple[Demand, ...], traffic_ns: int, index: int, moving: _Moving
) -> _Work:
    """What one group of the demands costs; transports that move bytes alike share it."""
    shares_bps = _shares_bps(topology, demands)
    are_shared, moved = _are_receivers_shared(demands), carried(topology, demands[index], traffic_ns)
    moving = moving.when_marked() if are_shared else moving
    packet_hops = moved_bytes = transfers = small_verbs = 0.0
    for flow in demands[index].flows:
        links = len(topology.path_shape(flow.source, flow.destination))
        verb_bytes, share = moving.verb_bytes(flow), moved.share(flow)
        share_bps = shares_bps.get(_ends(flow), 0.0) * moving.payload_fraction
        for size_bytes, count in _transfers(flow, moved, traffic_ns, share_bps):
            transfers += count
            packet_hops += _packets(moving, size_bytes, verb_bytes) * count * links * share
            moved_bytes += size_bytes * count * share
            if verb_bytes < moving.segment_bytes:
                small_verbs += size_bytes * count * share / verb_bytes
    packet_hops *= moving.repeats if are_shared else moving.repeats_alone
    return _Work(
        len(demands[index].flows),
        transfers,
        sum(len(flow.waiting) for flow in demands[index].flows),
        moved_bytes / moving.segment_bytes * moving.segment_dearness,
        small_verbs,
        packet_hops,
        packet_hops * moving.dearness,
    )


def _packets(moving: _Moving, size_bytes: int, verb_bytes: int) -> float:
    """Packets of a transfer and their acknowledgements. The last packet of a verb always has one."""
    verbs = 1.0 if moving.is_stream else max(1.0, size_bytes / verb_bytes)
    packets = max(1, ceil(size_bytes / verbs / moving.packet_bytes))
    return verbs * (packets + (ceil(packets / moving.acknowledged_every) if moving.acknowledged_every else 0))


def _transfers(flow: Flow, moved: Carried, traffic_ns: int, share_bps: float) -> _Transfers:
    """Return the sizes of a flow's transfers with their counts; a greedy flow has as many as fit."""
    if flow.arrivals or flow.count is not None:
        return list(moved.sizes_bytes(flow).items())
    lasting_ns = max(0, min(flow.repeat_until_ns or traffic_ns, traffic_ns) - flow.start_ns)
    interval_ns = flow.interval_ns or flow.size_bytes * 8 * SECOND_NS / share_bps
    return [(flow.size_bytes, lasting_ns / interval_ns)]


@lru_cache(maxsize=8)
def _are_receivers_shared(demands: tuple[Demand, ...]) -> bool:
    """Whether flows of different hosts end at the same one."""
    heard: dict[str, str] = {}
    flows = (flow for demand in demands for flow in demand.flows)
    return any(heard.setdefault(flow.destination, flow.source) != flow.source for flow in flows)


@lru_cache(maxsize=8)
def _shares_bps(topology: Topology, demands: tuple[Demand, ...]) -> dict[tuple[str, str], float]:
    """By its ends the rate of a greedy flow: a fair share of the busiest link that it cannot avoid."""
    greedy = [
        flow for demand in demands for flow in demand.flows if flow.count is None and flow.interval_ns is None
    ]
    ways = {ends: _certain_way(topology, *ends) for ends in map(_ends, greedy)}
    crowd = Counter(entry for flow in greedy for entry in ways[_ends(flow)])
    return {ends: min(entry[1].rate_bps / crowd[entry] for entry in way) for ends, way in ways.items()}


def _ends(flow: Flow) -> tuple[str, str]:
    return flow.source, flow.destination


def _certain_way(topology: Topology, source: str, destination: str) -> list[tuple[str, Link]]:
    """Links that a flow takes whatever a hash chooses elsewhere, each with the node that sends into it."""
    certain, node, way = set(topology.shortest_paths.certain(source, destination)), source, []
    for link in topology.path(source, destination):
        if link in certain:
            way.append((node, link))
        node = link.other_end(node)
    return way


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
    settings = carrier.settings.agents[topology.host_rate_bps(host)]
    packets = full_packets(transport, cell_transports(cell), topology.frames, topology.mtu_bytes)
    is_held_back = transport.has_pauses or transport.control is not None
    return _Moving(
        topology.mtu_bytes,
        float(packets.payload_fraction),
        _uet_acknowledged_every(topology, carrier)
        if base == "uet"
        else _acknowledged_every(transport, profile_of(topology, host)),
        settings.segment_bytes,
        1.0 if is_held_back else REPEATS.get(base, 1.0),
        1.0 if is_held_back else REPEATS_ALONE.get(base, 1.0),
        DEARER.get(base, 1.0),
        DEARER_SEGMENTS.get(base, 1.0),
        acknowledges_marked=base == "uet" and not carrier.transport.has_credits,
    )


def _uet_acknowledged_every(topology: Topology, carrier: FlowGroup) -> float:
    """While nothing is marked. What receivers grant is counted, too."""
    every_bytes = _uet_value(carrier, "uet", "sack_every_bytes")
    every = max(1, ceil(every_bytes / (topology.mtu_bytes + topology.frames.header_bytes)))
    if not carrier.transport.has_credits:
        return every
    return 1 / (max(1 / every, ASKING_SHARE) + 1 / _uet_value(carrier, "uet-rccc", "credit_packets"))


def _uet_value(carrier: FlowGroup, reliability: str, name: str) -> float:
    (usual,) = (each for each in RELIABILITIES[reliability].parameters if each.name == name)
    recovery = carrier.settings.recovery
    return usual.value if recovery is None else recovery.values.get(name, usual.value)


def _acknowledged_every(transport: TransportName, profile: NicProfile) -> int | None:
    if transport.recovery or (transport.control and CONTROLS[transport.control].wants_acknowledgements):
        return 1
    return None if transport.service == "uc" else profile.ack_every_packets
