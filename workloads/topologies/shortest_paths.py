"""Shortest paths between hosts."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from rogue.workloads.topologies.graph import Integers, Link, LinksOf, SwitchGraph

PathShape = tuple[tuple[int, int], ...]
"""Rate (bit/s) and delay (ns) of each link of a path."""
Access = tuple[str, str, Link, Link]
"""The switches of two hosts, and the links to them."""
JOINED: Final = "links that join all hosts; correct its links"


class Hop(NamedTuple):
    """The links that are the n-th of a shortest path between two hosts."""

    fastest_bps: int
    together_bps: int
    delay_ns: int
    """Delay of the shortest of them."""


class NoPathError(ValueError):
    """There is no path between two hosts."""

    def __init__(self, source: str, destination: str, expected: str = JOINED) -> None:
        super().__init__(f"topology: got no path from {source} to {destination}, expected {expected}")


class ShortestPaths:
    """Shortest paths between hosts; one search serves up to 64 switches and all their hosts."""

    def __init__(self, links_of: LinksOf, expected: str = JOINED) -> None:
        """`expected` ends the error message for two hosts that are not joined."""
        self._links_of = links_of
        self._expected = expected
        self._graph = SwitchGraph(links_of)
        self._first: dict[tuple[str, str], tuple[Link, ...]] = {}
        """By the switches of two hosts, or by the hosts themselves if they have no switch."""
        self._shapes: dict[tuple[object, ...], PathShape] = {}
        self._hops: dict[tuple[str, str], tuple[Hop, ...]] = {}
        """By the switches of two hosts, as the next one."""
        self._certain: dict[tuple[str, str], tuple[Link, ...]] = {}

    def first(self, source: str, destination: str) -> tuple[Link, ...]:
        """Return the links of a shortest path; of equally short paths the one whose links come first."""
        access = self._access(source, destination)
        between = (source, destination) if access is None else access[:2]
        if between not in self._first:
            links = self._walk(source, destination)
            self._first[between] = links if access is None else links[1:-1]
        return self._first[between] if access is None else (access[2], *self._first[between], access[3])

    def _walk(self, source: str, destination: str) -> tuple[Link, ...]:
        links, node = [], source
        while node != destination:
            link = next(self._next_links(node, destination))
            links.append(link)
            node = link.other_end(node)
        return tuple(links)

    def _access(self, source: str, destination: str) -> Access | None:
        """Return the switches of two hosts and the links to them; None where a host has several, or none."""
        near, far = self._links_of.get(source, {}), self._links_of.get(destination, {})
        if len(near) != 1 or len(far) != 1:
            return None
        ((switch, own),), ((last_switch, theirs),) = near.items(), far.items()
        return None if switch == destination else (switch, last_switch, own, theirs)

    def shape(self, source: str, destination: str) -> PathShape:
        """Return rate and delay of each link of the first path; shared by all hosts of two switches."""
        access = self._access(source, destination)
        if access is None:
            key: tuple[object, ...] = source, destination
        else:
            switch, last_switch, own, theirs = access
            key = switch, last_switch, own.rate_bps, own.delay_ns, theirs.rate_bps, theirs.delay_ns
        if key not in self._shapes:
            self._shapes[key] = self._shape_between_switches(access) or tuple(
                (link.rate_bps, link.delay_ns) for link in self.first(source, destination)
            )
        return self._shapes[key]

    def _shape_between_switches(self, access: Access | None) -> PathShape | None:
        """Return a shape from the number of links, if all links between switches are alike; else None."""
        number, trunk = self._graph.number, self._trunk
        if access is None or trunk is None or not {access[0], access[1]} <= number.keys():
            return None
        switch, last_switch, own, theirs = access
        links = self._graph.hops_to(last_switch)[number[switch]]
        if links < 0:
            return None
        middle = ((trunk.fastest_bps, trunk.delay_ns),) * links
        return ((own.rate_bps, own.delay_ns), *middle, (theirs.rate_bps, theirs.delay_ns))

    def certain(self, source: str, destination: str) -> tuple[Link, ...]:
        """Return the links that all shortest paths have in common, in order."""
        access = self._access(source, destination)
        if access is None:
            return self._every_path_takes(source, destination)
        switch, last_switch, own, theirs = access
        between = switch, last_switch
        if between not in self._certain:
            self._certain[between] = self._every_path_takes(source, destination)[1:-1]
        return own, *self._certain[between], theirs

    def is_single(self, source: str, destination: str) -> bool:
        """True if there is one shortest path."""
        node = source
        while node != destination:
            link, *others = islice(self._next_links(node, destination), 2)
            if others:
                return False
            node = link.other_end(node)
        return True

    def hops(self, source: str, destination: str) -> tuple[Hop, ...]:
        """Return the links of all shortest paths together, hop by hop.

        If no link between switches is slower than those of the hosts, the number of links does not matter.
        """
        access = self._access(source, destination)
        if access is None:
            return tuple(map(_hop, self._links_by_hop(source, destination)))
        switch, last_switch, own, theirs = access
        between = switch, last_switch
        if self._trunk is not None and self._trunk.fastest_bps >= max(own.rate_bps, theirs.rate_bps):
            middle = (self._trunk,) * (len(self.shape(source, destination)) - 2)
        else:
            middle = (
                self._hops.get(between) or tuple(map(_hop, self._links_by_hop(source, destination)))[1:-1]
            )
            self._hops[between] = middle
        return _hop((own,)), *middle, _hop((theirs,))

    @cached_property
    def _trunk(self) -> Hop | None:
        """Return all links between switches as one hop; None if they are not all alike."""
        links = self._graph.links
        return _hop(links) if len({(link.rate_bps, link.delay_ns) for link in links}) == 1 else None

    def _links_by_hop(self, source: str, destination: str) -> Iterator[list[Link]]:
        nodes = {source: None}
        while destination not in nodes:
            taken = [(node, link) for node in nodes for link in self._next_links(node, destination)]
            nodes = {link.other_end(node): None for node, link in taken}
            yield [link for _, link in taken]

    def _every_path_takes(self, source: str, destination: str) -> tuple[Link, ...]:
        return tuple(links[0] for links in self._links_by_hop(source, destination) if len(links) == 1)

    def count(self, source: str, destination: str) -> int:
        """Return the number of shortest paths."""
        counts = {source: 1}
        while destination not in counts:
            further: dict[str, int] = {}
            for node, paths in counts.items():
                for link in self._next_links(node, destination):
                    end = link.other_end(node)
                    further[end] = further.get(end, 0) + paths
            counts = further
        return counts[destination]

    def dearest(self, cost: Callable[[Link], int]) -> int:
        """Return the largest sum of link costs on any shortest path between two hosts."""
        access: dict[str, list[int]] = defaultdict(list)
        sums = []
        for links in self._links_of.values():
            if len(links) > 1:
                continue
            ((other, link),) = links.items()
            if len(self._links_of[other]) > 1:
                access[other].append(cost(link))
            else:
                sums.append(cost(link))
        sums += [sum(sorted(costs)[-2:]) for costs in access.values() if len(costs) > 1]
        dearest = {self._graph.number[switch]: max(costs) for switch, costs in access.items()}
        return max([*sums, *self._dearest_between(dearest, self._graph.costs_of(cost))], default=0)

    def _dearest_between(self, access: dict[int, int], costs: Integers) -> Iterator[int]:
        """Yield the largest cost from each switch with hosts; `access` has the cost of its dearest host link.

        One search serves all switches with the same neighbours.
        """
        own = np.full(len(self._graph.number), -1, np.int64)
        own[list(access)] = list(access.values())
        for group in self._graph.twins(list(access), costs):
            between = self._graph.costs_to(group[0], costs)
            others = (own >= 0) & (between >= 0)
            others[group] = False
            if others.any():
                yield int(own[group].max() + (own + between)[others].max())
            if len(group) > 1 and between[group[1]] >= 0:
                yield int(np.sort(own[group])[-2:].sum() + between[group[1]])

    def _next_links(self, node: str, destination: str) -> Iterator[Link]:
        """Yield the links that lead from a node one hop closer to the destination."""
        neighbours = self._links_of.get(node, {})
        if destination in neighbours:
            yield neighbours[destination]
            return
        number = self._graph.number
        last_switch = next(iter(self._links_of.get(destination, ())), None)
        if last_switch not in number:  # it has no link, or only one to another host
            raise NoPathError(node, destination, self._expected)
        hops = self._graph.hops_to(last_switch)
        if node not in number or hops[number[node]] < 0:
            closer = [link for each, link in neighbours.items() if each in number and hops[number[each]] >= 0]
            if not closer:
                raise NoPathError(node, destination, self._expected)
            yield from closer
            return
        closer_hops = hops[number[node]] - 1
        for neighbour, link in neighbours.items():
            if neighbour in number and hops[number[neighbour]] == closer_hops:
                yield link


def _hop(links: Sequence[Link]) -> Hop:
    rates_bps = [link.rate_bps for link in links]
    return Hop(max(rates_bps), sum(rates_bps), min(link.delay_ns for link in links))
