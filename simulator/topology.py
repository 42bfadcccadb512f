"""The names of nodes and links of a simulated network, and the routes between its hosts."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rogue.simulator.errors import SimulationError
from rogue.simulator.framing import Framing
from rogue.simulator.profiles import NicProfile
from rogue.simulator.routing import FLOODS, ForwardingTables, Router, RoutingLoopError

FindRoute: TypeAlias = Callable[[int, int, int], list[int]]
"""Links of a shortest path from host to host for an entropy; empty if there is none."""


class Path(NamedTuple):
    """The links of a connection: the rate (bit/s) of each, and the delay of all together."""

    there_bps: tuple[int, ...]
    back_bps: tuple[int, ...]
    delay_ps: int

    def base_rtt_ps(self, framing: Framing, mtu_bytes: int) -> int:
        """Return the round-trip time of a full packet and its acknowledgement in an idle network.

        Source: sum of L / C + delay over the links, as packets are stored and forwarded.
        """
        data_bytes = framing.wire_bytes(framing.write_frame_bytes(mtu_bytes, is_first=False))
        ack_bytes = framing.wire_bytes(framing.ack_frame_bytes)
        return _sending_ps(data_bytes, self.there_bps) + _sending_ps(ack_bytes, self.back_bps) + self.delay_ps


@lru_cache
def _sending_ps(size_bytes: int, rates_bps: tuple[int, ...]) -> int:
    """Return the sum of the serialization times of a packet over links."""
    return sum(-(-8 * size_bytes * 10**12 // rate_bps) for rate_bps in rates_bps)


class Topology:
    """The network of a simulation by name; the engine knows it by number.

    Nodes are numbered in the order they are added. Each link is two directed links: the one from a to b has
    an even number n, the reverse one n + 1. ``seed`` is that of the hash that chooses among equal routes.
    ``find_route`` is the engine's fast search; without it, and with rules of switches, this class searches.
    """

    def __init__(
        self, seed: int = 0, ttl_hops: int | None = None, find_route: FindRoute | None = None
    ) -> None:
        self._seed = seed
        self._find_route = find_route
        self.tables = ForwardingTables(ttl_hops)
        self.names: list[str] = []
        self.link_ends: list[tuple[int, int]] = []
        self.may_reroute = False  # some link will be excluded for a time
        self.reroutings = 0  # number of changes of routes so far
        self._node_of_name: dict[str, int] = {}
        self._profiles: list[NicProfile | None] = []  # None for a switch
        self._link_to: list[dict[int, int]] = []  # by node, then by neighbour
        self._delays_ps: list[int] = []
        self._rates_bps: list[int] = []
        self._kept_rates: dict[tuple[int, ...], tuple[int, ...]] = {}  # one tuple for all alike routes
        self._router: Router | None = None

    def require_new(self, where: str, name: str) -> None:
        """Refuse a name that no new node can have, and new nodes once the topology is fixed."""
        if not isinstance(name, str) or not name or name in self._node_of_name:
            raise SimulationError(f"{where}: expected a new name that is not empty, got {name!r}")
        self._require_open(where)

    def add_node(self, name: str, profile: NicProfile | None) -> None:
        """Add a host with the profile of its NIC, or a switch; the engine has it already."""
        self._node_of_name[name] = len(self.names)
        self.names.append(name)
        self._profiles.append(profile)
        self._link_to.append({})

    def require_new_link(self, where: str, a: int, b: int) -> None:
        """Refuse a link that two nodes cannot have."""
        self._require_open(where)
        if a == b or b in self._link_to[a]:
            raise SimulationError(f"{where}: expected two different nodes that are not joined yet")
        for node in (a, b):
            if self._profiles[node] is not None and self._link_to[node]:
                raise SimulationError(f"{where}: host {self.names[node]!r} has its only link already")

    def add_link(self, a: int, b: int, delay_ps: int, rate_bps: int) -> None:
        """Join two nodes; the engine has the link already."""
        link = len(self.link_ends)
        self._link_to[a][b], self._link_to[b][a] = link, link + 1
        self.link_ends += [(a, b), (b, a)]
        self._delays_ps += [delay_ps, delay_ps]
        self._rates_bps += [rate_bps, rate_bps]

    def node(self, where: str, name: str) -> int:
        """Return the number of the node with that name."""
        if name not in self._node_of_name:
            raise SimulationError(f"{where}: expected the name of a host or switch, got {name!r}")
        return self._node_of_name[name]

    def host(self, where: str, name: str) -> tuple[int, NicProfile]:
        """Return the number of the host with that name, and the profile of its NIC."""
        node = self.node(where, name)
        profile = self._profiles[node]
        if profile is None:
            raise SimulationError(f"{where}: expected the name of a host, got switch {name!r}")
        return node, profile

    def close(self) -> Router:
        """Fix the topology."""
        if self._router is None:
            is_host = [profile is not None for profile in self._profiles]
            neighbours = [list(links.items()) for links in self._link_to]
            self._router = Router(neighbours, is_host, self._seed, self.tables)
        return self._router

    def route(self, where: str, source: int, destination: int, entropy: int) -> list[int]:
        """Return the numbers of the links from one host to another. From then on the topology is fixed."""
        router = self.close()
        route: list[int] | None
        if self._find_route is not None and not self.tables.has_rules_for(destination):
            route = self._find_route(source, destination, entropy)
        else:
            route = self._search(where, router, source, destination, entropy)
        if not route:
            raise SimulationError(f"{where}: there is no path from {self._ends(source, destination)}")
        return route

    def _search(
        self, where: str, router: Router, source: int, destination: int, entropy: int
    ) -> list[int] | None:
        try:
            return router.route(source, destination, entropy)
        except RoutingLoopError as loop:
            nodes = ", ".join(self.names[node] for node in loop.nodes)
            raise SimulationError(
                f"{where}: packets from {self._ends(source, destination)} go in a loop: {nodes}; "
                "expected a path that ends there, or ttl_hops after which they are dropped"
            ) from None

    def _ends(self, source: int, destination: int) -> str:
        return f"{self.names[source]!r} to {self.names[destination]!r}"

    def require_shortest_paths(self, where: str, hosts: tuple[int, int]) -> None:
        """Raise SimulationError if a switch has a rule for one of these hosts."""
        for host in hosts:
            if self.tables.has_rules_for(host):
                raise SimulationError(
                    f"{where}: expected no rule (forward, flood) for {self.names[host]!r}, whose packets are "
                    "sprayed over all shortest paths; remove the rule or the spraying"
                )

    def hosts(self) -> set[int]:
        """Return the numbers of all hosts."""
        return {node for node, profile in enumerate(self._profiles) if profile is not None}

    def switch(self, where: str, name: str) -> int:
        """Return the number of the switch with that name."""
        node = self.node(where, name)
        if self._profiles[node] is not None:
            raise SimulationError(f"{where}: expected the name of a switch, got host {name!r}")
        return node

    def link_between(self, where: str, a: int, b: int) -> int:
        """Return the number of the link from a to b."""
        if b in self._link_to[a]:
            return self._link_to[a][b]
        raise SimulationError(f"{where}: {self.names[a]!r} and {self.names[b]!r} are not joined by a link")

    def neighbour_of_host(self, where: str, host: int) -> int:
        """Return the number of the node that a host is joined to."""
        if not self._link_to[host]:
            raise SimulationError(
                f"{where}: expected {self.names[host]!r} to be joined to a switch, got no link; add it first"
            )
        return next(iter(self._link_to[host]))

    def path(self, there: list[int], back: list[int]) -> Path:
        """Return the links of two routes, as far as the routes lead."""
        links = [link for link in (*there, *back) if link < FLOODS]
        delay_ps = sum([self._delays_ps[link] for link in links])
        return Path(self._rates(there), self._rates(back), delay_ps)

    def _rates(self, route: list[int]) -> tuple[int, ...]:
        rates_bps = tuple([self._rates_bps[link] for link in route if link < FLOODS])
        return self._kept_rates.setdefault(rates_bps, rates_bps)

    def link_name(self, link: int) -> str:
        """Return the name of the port that sends on this link, such as ``s0->h8``."""
        a, b = self.link_ends[link]
        return f"{self.names[a]}->{self.names[b]}"

    def senders_of(self, links: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Return columns node and port: of each link its sender, and the name of the port."""
        nodes = np.array([self.names[start] for start, _ in self.link_ends], dtype=object)
        ports = np.array([self.link_name(each) for each in range(len(self.link_ends))], dtype=object)
        return {"node": nodes[links], "port": ports[links]}

    def _require_open(self, where: str) -> None:
        if self._router is not None:
            raise SimulationError(f"{where}: the topology must be complete before the first connection")
