"""Ideal goodput and completion times: those of the empty network."""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from rogue.workloads.framing import Packets
from rogue.workloads.packet_train import (
    Exchange,
    Links,
    PacketRules,
    Rates,
    Train,
    last_end_ps,
    sending_ps,
    train_of,
)
from rogue.workloads.topologies.graph import Link
from rogue.workloads.topologies.topology import Topology
from rogue.workloads.traffic.workload import Verb


def ideal_goodput_bps(topology: Topology, source: str, destination: str) -> float:
    """Return the payload rate of one flow that has the path for itself.

    Source: C * payload / (payload + headers + preamble and gap) of the slowest link.
    """
    rate_bps = topology.path_rate_bps(topology.path_shape(source, destination))
    return float(rate_bps * topology.frames.payload_fraction(topology.mtu_bytes))


class Fan(NamedTuple):
    """The links of all shortest paths from one host to another, hop by hop."""

    fastest_bps: Rates
    """Rate of the fastest link of each hop."""
    together_bps: Rates
    """Rate of all links of each hop together."""

    def reversed(self) -> "Fan":
        """Return the opposite direction."""
        return Fan(self.fastest_bps[::-1], self.together_bps[::-1])


class Route(NamedTuple):
    """The links from the host that posts a transfer to the other one, and back."""

    links: Links | Fan
    """The links of one path in each direction, or those of all paths of sprayed packets."""
    delay_ps: int
    """Propagation delay of the round trip."""


def plain_route(topology: Topology, initiator: str, responder: str) -> Route:
    """Return the first shortest path in both directions, over cables of exactly the stated length."""
    path = topology.path_shape(initiator, responder)
    rates_bps = tuple(rate_bps for rate_bps, _ in path)
    return Route(Links(rates_bps, rates_bps[::-1]), 2_000 * sum(delay_ns for _, delay_ns in path))


def sprayed_route(topology: Topology, initiator: str, responder: str) -> Route | None:
    """Return all shortest paths; None if there is only one."""
    if topology.shortest_paths.is_single(initiator, responder):
        return None
    hops = topology.shortest_paths.hops(initiator, responder)
    fan = Fan(tuple(hop.fastest_bps for hop in hops), tuple(hop.together_bps for hop in hops))
    return Route(fan, 2_000 * sum(hop.delay_ns for hop in hops))


def plain_rules(topology: Topology) -> PacketRules:
    """Return the rules for packets with the network's MTU and headers, and one verb per transfer."""
    return PacketRules(Packets(topology.frames, topology.mtu_bytes))


def ideal_transfer_ns(route: Route, rules: PacketRules, verb: Verb, size_bytes: int) -> int:
    """Return the time from posting a transfer to its completion at the host that posted it, alone.

    No window, rate or credit holds the sender back. A WRITE or SEND is complete when its last
    acknowledgement arrives, over an unreliable connection when its last packet has left, and a READ when its
    last response arrives. Links store and forward; times are integer picoseconds, and the result is in whole
    nanoseconds, as hosts count them.
    """
    if not rules.has_acknowledgements:
        return _sending_ps(Links(_hosts_link(route), ()), rules, verb, size_bytes) // 1_000
    if isinstance(route.links, Fan):
        return (least_sending_ps(route.links, rules, verb, size_bytes) + route.delay_ps) // 1_000
    return (_sending_ps(route.links, rules, verb, size_bytes) + route.delay_ps) // 1_000


def _hosts_link(route: Route) -> tuple[int, ...]:
    return route.links.fastest_bps[:1] if isinstance(route.links, Fan) else route.links.out_bps[:1]


@lru_cache(maxsize=16_384)
def _sending_ps(links: Links, rules: PacketRules, verb: Verb, size_bytes: int) -> int:
    return last_end_ps(links, train_of(rules, verb, size_bytes))


@lru_cache(maxsize=64)
def longest_round_trip_ns(topology: Topology, there_bytes: int, back_bytes: int) -> int:
    """Return the longest round trip of a packet and its acknowledgement in the empty network.

    Source: sum over the links of the longest path (L_there + L_back) / C_i + 2 delay_i, as HPCC's repository
    computes its base round trip (third.cc), which leaves out the bytes of the acknowledgement.
    """
    bits = 8 * (there_bytes + back_bytes)
    spread_ns = topology.delay_spread_ns

    def picoseconds(link: Link) -> int:
        return -(-bits * 10**12 // link.rate_bps) + 2_000 * (link.delay_ns + spread_ns)

    return -(-topology.shortest_paths.dearest(picoseconds) // 1_000)


@lru_cache(maxsize=16_384)
def least_sending_ps(out: Fan, rules: PacketRules, verb: Verb, size_bytes: int) -> int:
    """Return a lower bound of the duration of a sprayed transfer, without propagation.

    Packets on different paths may overtake each other, so they form no pipeline. The bound holds for all
    choices of paths. Packets reach it if they wait for each other only at the links of hosts.
    """
    train = train_of(rules, verb, size_bytes)
    counts = Counter[Exchange]()
    _count(train, 1, counts)
    (first,), ends = islice(_exchanges(train), 1), list(islice(_reversed_exchanges(train), 2))
    if verb == "read":
        request_ps = sum(sending_ps(first.out_bytes, rate_bps) for rate_bps in out.fastest_bps)
        data = Counter[int]()
        for exchange, count in counts.items():
            data[exchange.back_bytes] += count
        sizes = first.back_bytes, [end.back_bytes for end in ends]
        return request_ps + _data_ps(out.reversed(), data, *sizes)
    ack_ps = sum(sending_ps(ends[0].back_bytes, rate_bps) for rate_bps in out.fastest_bps)
    data = Counter[int]()
    for exchange, count in counts.items():
        data[exchange.out_bytes] += count
    return ack_ps + _data_ps(out, data, first.out_bytes, [end.out_bytes for end in ends])


def _data_ps(fan: Fan, counts: Counter[int], first_bytes: int, ends_bytes: list[int]) -> int:
    """Return the latest of several instants before which the last packet cannot arrive.

    `ends_bytes`: the last packet, and the one before it if there is one.
    """
    rates_bps = fan.fastest_bps
    all_left_ps = _together_ps(counts, rates_bps[0])
    last_left_ps = all_left_ps
    instants_ps = []
    for end_bytes in ends_bytes:
        instants_ps.append(last_left_ps + _crossing_ps(end_bytes, rates_bps[1:]))
        last_left_ps -= sending_ps(end_bytes, rates_bps[0])
    first_left_ps = sending_ps(first_bytes, rates_bps[0])
    soonest_ps = min(
        first_left_ps + _crossing_ps(first_bytes, rates_bps[1:-1]),
        all_left_ps + _crossing_ps(ends_bytes[0], rates_bps[1:-1]),
        *(
            first_left_ps + _crossing_ps(size_bytes, (rates_bps[0], *rates_bps[1:-1]))
            for size_bytes in counts
            if size_bytes != ends_bytes[0] or counts[size_bytes] > 1
        ),
    )
    instants_ps.append(soonest_ps + _together_ps(counts, rates_bps[-1]))
    least_bytes, all_bytes = min(counts), sum(size_bytes * count for size_bytes, count in counts.items())
    for hop in range(1, len(rates_bps) - 1):
        others_ps = _crossing_ps(least_bytes, (*rates_bps[1:hop], *rates_bps[hop + 1 :]))
        instants_ps.append(first_left_ps + others_ps + all_bytes * 8 * 10**12 // fan.together_bps[hop])
    return max(instants_ps)


def _together_ps(counts: Counter[int], rate_bps: int) -> int:
    return sum(count * sending_ps(size_bytes, rate_bps) for size_bytes, count in counts.items())


def _crossing_ps(size_bytes: int, rates_bps: Rates) -> int:
    return sum(sending_ps(size_bytes, rate_bps) for rate_bps in rates_bps)


def _count(train: Train, times: int, counts: Counter[Exchange]) -> None:
    for count, part in train:
        if not count:
            continue
        if isinstance(part, Exchange):
            counts[part] += times * count
        else:
            _count(part, times * count, counts)


def _exchanges(train: Train) -> Iterator[Exchange]:
    for count, part in train:
        for _ in range(count):
            yield from (part,) if isinstance(part, Exchange) else _exchanges(part)


def _reversed_exchanges(train: Train) -> Iterator[Exchange]:
    for count, part in reversed(train):
        for _ in range(count):
            yield from (part,) if isinstance(part, Exchange) else _reversed_exchanges(part)
