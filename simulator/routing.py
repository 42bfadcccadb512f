"""Shortest paths over the topology; a hash chooses among equal ones, as in switches."""

from collections import deque
from collections.abc import Sequence

_MASK = (1 << 64) - 1

NextHop = tuple[int, int]
"""A neighbour, and the number of the link to it."""

EXPIRES = 2**32 - 1
"""End of a route on which packets make too many hops."""
FLOODS = 2**32 - 2
"""End of a route at a switch that floods: it sends copies out of all other ports.

No link has such a number, or a larger one.
"""


class RoutingLoopError(Exception):
    """Switches send packets in a loop of ``nodes``; the last one equals the first."""

    def __init__(self, nodes: list[int]) -> None:
        super().__init__(nodes)
        self.nodes = nodes


class ForwardingTables:
    """Rules of switches for packets to a host, instead of a shortest path.

    A packet in a loop may take ``ttl_hops`` links; None: loops are errors.
    """

    def __init__(self, ttl_hops: int | None = None) -> None:
        self.ttl_hops = ttl_hops
        self.next_hops: dict[tuple[int, int], NextHop] = {}  # by switch and host
        self.flooding: set[tuple[int, int]] = set()

    def has_rules(self) -> bool:
        """True if any switch has a rule."""
        return bool(self.next_hops or self.flooding)

    def has_rules_for(self, destination: int) -> bool:
        """True if any switch has a rule for a host."""
        return any(host == destination for _, host in (*self.next_hops, *self.flooding))


def _mix(value: int) -> int:
    """Scramble 64 bits.

    Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 (finalizer of
    splitmix64, with the constants of its reference code).
    """
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


class Router:
    """Finds routes between hosts. ``neighbours[node]`` lists (neighbour, number of the link to it).

    Equal-cost multipath by 5-tuple: addresses and ports are hashed with the seed, and each switch on the path
    hashes the result with its number, so that switches choose independently. Protocol and destination port
    are the same for all packets of RoCEv2; the entropy is the source port.
    """

    def __init__(
        self,
        neighbours: Sequence[Sequence[NextHop]],
        is_host: Sequence[bool],
        seed: int = 0,
        tables: ForwardingTables | None = None,
    ) -> None:
        self._tables = tables or ForwardingTables()
        self._neighbours = neighbours
        self._is_host = is_host
        self._key = _mix(seed & _MASK)
        self._hops_to: dict[int, list[int]] = {}

    def route(self, source: int, destination: int, entropy: int) -> list[int] | None:
        """Return the numbers of the links from source to destination, or None if there is no path.

        Hosts do not forward. The same 5-tuple always takes the same path; the reverse one is independent.
        With rules of switches the route may end in EXPIRES or FLOODS.
        """
        target, last_hop = self._last_hop(destination)
        hops = self._hops(target)
        flow = _mix(_mix(_mix(self._key ^ source) ^ destination) ^ (entropy & _MASK))
        if hops[source] < 0:
            return None
        links: list[int] = []
        nodes = [source]
        while nodes[-1] != destination:
            node = nodes[-1]
            if len(links) == self._tables.ttl_hops:
                return [*links, EXPIRES]
            if (node, destination) in self._tables.flooding:
                return [*links, FLOODS]
            rule = self._tables.next_hops.get((node, destination), last_hop if node == target else None)
            node, link = rule or self._next_hop(hops, node, flow)
            if node in nodes and self._tables.ttl_hops is None:
                raise RoutingLoopError([*nodes[nodes.index(node) :], node])
            nodes.append(node)
            links.append(link)
        return links

    def _next_hop(self, hops: list[int], node: int, flow: int) -> NextHop:
        """Return the next hop on a shortest path."""
        equal = [hop for hop in self._neighbours[node] if hops[hop[0]] == hops[node] - 1]
        return equal[_mix(flow ^ node) % len(equal)] if len(equal) > 1 else equal[0]

    def _last_hop(self, destination: int) -> tuple[int, NextHop | None]:
        """Return the switch of the destination, whose hosts all share a search, and the hop from there."""
        if len(self._neighbours[destination]) != 1:
            return destination, None
        [(switch, _)] = self._neighbours[destination]
        if self._is_host[switch]:
            return destination, None
        return switch, next(hop for hop in self._neighbours[switch] if hop[0] == destination)

    def _hops(self, target: int) -> list[int]:
        """Count the hops from every node to the target; -1 without a path."""
        known = self._hops_to.get(target)
        if known is not None:
            return known
        hops = [-1] * len(self._neighbours)
        hops[target] = 0
        queue = deque([target])
        while queue:
            node = queue.popleft()
            for neighbour, _ in self._neighbours[node]:
                if hops[neighbour] < 0:
                    hops[neighbour] = hops[node] + 1
                    if not self._is_host[neighbour]:
                        queue.append(neighbour)
        self._hops_to[target] = hops
        return hops
