"""What the empty network could do: the yardsticks of goodput and completion time."""

from functools import lru_cache
from typing import NamedTuple

from rogue.workloads.framing import Packets
from rogue.workloads.packet_train import PacketRules, train_of
from rogue.workloads.pipeline import Links, last_end_ps
from rogue.workloads.sprayed import Fan, least_sending_ps
from rogue.workloads.topologies.graph import Link
from rogue.workloads.topologies.topology import Topology
from rogue.workloads.traffic.workload import Verb


def ideal_goodput_bps(topology: Topology, source: str, destination: str) -> float:
    """Payload rate of one flow that has the path for itself.

    Source: C * payload / (payload + headers + preamble and gap) of the slowest link.
    """
    rate_bps = topology.path_rate_bps(topology.path_shape(source, destination))
    return float(rate_bps * topology.frames.payload_fraction(topology.mtu_bytes))


class Route(NamedTuple):
    """The links from the host that posts a transfer to the other one, and back."""

    links: Links | Fan
    """Those of one path each way, or those of all paths that sprayed packets may take."""
    delay_ps: int
    """Propagation there and back."""


def plain_route(topology: Topology, initiator: str, responder: str) -> Route:
    """Return the first of the shortest paths, there and back, over cables that are not longer than stated."""
    path = topology.path_shape(initiator, responder)
    rates_bps = tuple(rate_bps for rate_bps, _ in path)
    return Route(Links(rates_bps, rates_bps[::-1]), 2_000 * sum(delay_ns for _, delay_ns in path))


def sprayed_route(topology: Topology, initiator: str, responder: str) -> Route | None:
    """Return all of the shortest paths; None if there is only one."""
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

    The sender is never held up by a window, a rate or credit. A WRITE or SEND is complete when its last
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
    """Longest that a packet and its acknowledgement take in the empty network, of so many bytes on the wire.

    Source: sum over the links of the longest path (L_there + L_back) / C_i + 2 delay_i, as HPCC's repository
    works out its base round trip (third.cc), which leaves the acknowledgement's own bytes out.
    """
    bits = 8 * (there_bytes + back_bytes)
    spread_ns = topology.delay_spread_ns

    def picoseconds(link: Link) -> int:
        return -(-bits * 10**12 // link.rate_bps) + 2_000 * (link.delay_ns + spread_ns)

    return -(-topology.shortest_paths.dearest(picoseconds) // 1_000)
