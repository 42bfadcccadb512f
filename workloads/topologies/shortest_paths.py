"""Shortest paths between hosts, which never forward."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping

from rogue.workloads.topologies.link import Link

LinksOf = Mapping[str, Mapping[str, Link]]
"""Per node its neighbours, each with the link that leads there."""
PathShape = tuple[tuple[int, int], ...]
"""Rate (bit/s) and delay (ns) of each link of a path."""


class NoPathError(ValueError):
    """Two hosts that no chain of switches joins."""


class ShortestPaths:
    """Finds shortest paths; one search per host that is asked for serves all that send to it."""

    def __init__(self, links_of: LinksOf) -> None:
        self._links_of = links_of
        self._hops_to: dict[str, dict[str, int]] = {}
        self._first: dict[tuple[str, str], tuple[Link, ...]] = {}
        self._shapes: dict[tuple[str, str], PathShape] = {}
        self._certain: dict[tuple[str, str], tuple[Link, ...]] = {}

    def first(self, source: str, destination: str) -> tuple[Link, ...]:
        """Links from source to destination; of equally short paths the one whose links come first."""
        ends = source, destination
        if ends not in self._first:
            links, node = [], source
            while node != destination:
                link = next(self._next_links(node, destination))
                links.append(link)
                node = link.other_end(node)
            self._first[ends] = tuple(links)
        return self._first[ends]

    def shape(self, source: str, destination: str) -> PathShape:
        """Rates and delays of that path's links, in order."""
        ends = source, destination
        if ends not in self._shapes:
            self._shapes[ends] = tuple((link.rate_bps, link.delay_ns) for link in self.first(*ends))
        return self._shapes[ends]

    def certain(self, source: str, destination: str) -> tuple[Link, ...]:
        """Links that every shortest path takes, whatever a hash chooses elsewhere, in order.

        Between the switches of two hosts they are those of all hosts there.
        """
        (switch, own), *others = self._links_of[source].items()
        (last_switch, theirs), *other_ends = self._links_of[destination].items()
        if others or other_ends or switch == destination:
            return self._every_path_takes(source, destination)
        between = switch, last_switch
        if between not in self._certain:
            self._certain[between] = self._every_path_takes(source, destination)[1:-1]
        return own, *self._certain[between], theirs

    def _every_path_takes(self, source: str, destination: str) -> tuple[Link, ...]:
        links, nodes = [], {source: None}
        while destination not in nodes:
            ways = [(node, link) for node in nodes for link in self._next_links(node, destination)]
            nodes = {link.other_end(node): None for node, link in ways}
            if len(ways) == 1:
                links.append(ways[0][1])
        return tuple(links)

    def count(self, source: str, destination: str) -> int:
        """How many shortest paths there are."""
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
        """Largest sum of the links' costs on a shortest path between hosts, of all that a hash may take."""
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
        dearest = {switch: max(costs) for switch, costs in access.items()}
        for switch, own in dearest.items():
            between = self._costs_to(switch, cost)
            sums += [
                own + between[other] + dearest[other]
                for other in dearest
                if other in between and other != switch
            ]
        return max(sums, default=0)

    def _costs_to(self, switch: str, cost: Callable[[Link], int]) -> dict[str, int]:
        """From every switch that can be reached, over the dearest of the shortest paths."""
        hops, costs = self._hops(switch), {switch: 0}
        for node, far in hops.items():
            if node == switch:
                continue
            neighbours = self._links_of[node].items()
            costs[node] = max(
                costs[neighbour] + cost(link)
                for neighbour, link in neighbours
                if hops.get(neighbour) == far - 1
            )
        return costs

    def _next_links(self, node: str, destination: str) -> Iterator[Link]:
        """Links by which a node on the way comes one hop closer."""
        neighbours = self._links_of[node]
        if destination in neighbours:
            yield neighbours[destination]
            return
        hops = self._hops(next(iter(self._links_of[destination])))
        if node not in hops:
            closer = [link for neighbour, link in neighbours.items() if neighbour in hops]
            if not closer:
                raise NoPathError(f"no path from {node} to {destination}")
            yield from closer
            return
        for neighbour, link in neighbours.items():
            if hops.get(neighbour) == hops[node] - 1:
                yield link

    def _hops(self, switch: str) -> dict[str, int]:
        """Count the hops from every switch that can be reached to this one."""
        known = self._hops_to.get(switch)
        if known is not None:
            return known
        hops, waiting = {switch: 0}, deque([switch])
        while waiting:
            node = waiting.popleft()
            for neighbour in self._links_of[node]:
                if neighbour not in hops and len(self._links_of[neighbour]) > 1:
                    hops[neighbour] = hops[node] + 1
                    waiting.append(neighbour)
        self._hops_to[switch] = hops
        return hops
