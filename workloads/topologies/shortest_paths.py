"""Shortest paths between hosts."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rogue.workloads.topologies.link import Link

LinksOf = Mapping[str, Mapping[str, Link]]
"""Per node its neighbours, each with the link that leads there."""
SEARCHED_AT_ONCE: Final = 64
"""Targets of one search: the bits of a word."""

Integers = NDArray[np.int64]


class SwitchGraph:
    """The switches: the nodes with more than one link. Hosts are left out, for they never forward."""

    def __init__(self, links_of: LinksOf) -> None:
        self.number = {node: n for n, node in enumerate(each for each in links_of if len(links_of[each]) > 1)}
        joined = [
            (self.number[node], self.number[neighbour], link)
            for node in self.number
            for neighbour, link in links_of[node].items()
            if neighbour in self.number
        ]
        self.links = tuple(link for _, _, link in joined)
        self._near = np.array([near for near, _, _ in joined], np.int64)
        self._far = np.array([far for _, far, _ in joined], np.int64)
        self._joined, self._starts = np.unique(self._near, return_index=True)
        self._hops: dict[int, list[memoryview]] = {}

    def hops_to(self, switch: str) -> Sequence[int]:
        """Hops from each switch, by number; -1 from where there is no way."""
        block, place = divmod(self.number[switch], SEARCHED_AT_ONCE)
        if block not in self._hops:
            self._hops[block] = self._search(block * SEARCHED_AT_ONCE)
        return self._hops[block][place]

    def _search(self, first: int) -> list[memoryview]:
        """Hops to the switches from this number on: each is a bit that spreads to its neighbours."""
        count = len(self.number)
        targets = range(first, min(first + SEARCHED_AT_ONCE, count))
        hops = np.full((count, len(targets)), -1, np.int32)
        reached = np.zeros(count, np.uint64)
        reached[targets.start : targets.stop] = np.uint64(1) << np.arange(len(targets), dtype=np.uint64)
        new, distance = reached.copy(), 0
        while new.any():
            rows = np.flatnonzero(new)
            bits = new[rows, None] >> np.arange(len(targets), dtype=np.uint64) & np.uint64(1)
            hops[rows] = np.where(bits, distance, hops[rows])
            seen = self._from_neighbours(np.bitwise_or, new)
            new, distance = seen & ~reached, distance + 1
            reached |= new
        return [np.ascontiguousarray(hops[:, place]).data for place in range(len(targets))]

    def _from_neighbours(self, fold: np.ufunc, values: NDArray[np.uint64]) -> NDArray[np.uint64]:
        found = np.zeros_like(values)
        if len(self._starts):
            found[self._joined] = fold.reduceat(values[self._far], self._starts)
        return found

    def costs_of(self, cost: Callable[[Link], int]) -> Integers:
        """What each link costs, in the order in which `costs_to` and `twins` take them."""
        return np.array([cost(link) for link in self.links], np.int64)

    def costs_to(self, number: int, costs: Integers) -> Integers:
        """From each switch, over the dearest of the shortest paths; -1 from where there is no way."""
        found = np.full(len(self.number), -1, np.int64)
        found[number] = 0
        at_edge = found >= 0
        while len(self._starts) and at_edge.any():
            offers = np.where(at_edge[self._far], found[self._far] + costs, -1)
            best = np.full_like(found, -1)
            best[self._joined] = np.maximum.reduceat(offers, self._starts)
            at_edge = (found < 0) & (best >= 0)
            found[at_edge] = best[at_edge]
        return found

    def twins(self, numbers: Sequence[int], costs: Integers) -> list[list[int]]:
        """Groups of these switches that have the same neighbours over links of the same costs.

        So all others are equally far from each of a group, and its members from each other.
        """
        groups: dict[bytes, list[int]] = {}
        ends = np.append(self._starts, len(self._far))
        part = {int(number): place for place, number in enumerate(self._joined)}
        for number in numbers:
            place = part.get(number)
            own = slice(0, 0) if place is None else slice(ends[place], ends[place + 1])
            order = np.argsort(self._far[own])
            key = self._far[own][order].tobytes() + costs[own][order].tobytes()
            groups.setdefault(key, []).append(number)
        return list(groups.values())


class _Islands:
    """Which nodes are joined, link by link: a forest, each tree an island (union-find)."""

    def __init__(self, links: Iterable[Link]) -> None:
        self._above: dict[str, str] = {}
        for link in links:
            self.join(link)

    def join(self, link: Link) -> bool:
        """Join both ends; whether they were not."""
        a, b = self._root(link.a), self._root(link.b)
        self._above[a] = b
        return a != b

    def _root(self, node: str) -> str:
        above = self._above.setdefault(node, node)
        while above != node:
            self._above[node] = self._above[above]
            node, above = above, self._above[above]
        return node


def dispensable(links: Sequence[Link], drawn: Sequence[Link], count: int) -> list[Link]:
    """The first `count` of those drawn without which `links` stay joined, all of them together.

    If these are too few, the first of the others are taken, too.
    """
    candidates = set(drawn)
    islands = _Islands(link for link in links if link not in candidates)
    needed = {link for link in reversed(drawn) if islands.join(link)}
    return [*(link for link in drawn if link not in needed), *(link for link in drawn if link in needed)][
        :count
    ]


PathShape = tuple[tuple[int, int], ...]
"""Rate (bit/s) and delay (ns) of each link of a path."""
JOINED: Final = "links that join all hosts; correct its links"


class Hop(NamedTuple):
    """The links that shortest paths between two hosts take as their n-th."""

    fastest_bps: int
    together_bps: int
    delay_ns: int
    """Of the shortest one."""


class NoPathError(ValueError):
    """Two hosts that no chain of switches joins."""

    def __init__(self, source: str, destination: str, expected: str = JOINED) -> None:
        super().__init__(f"topology: got no path from {source} to {destination}, expected {expected}")


class ShortestPaths:
    """Finds shortest paths; one search serves all that send to a switch's hosts, and to those beside it."""

    def __init__(self, links_of: LinksOf, expected: str = JOINED) -> None:
        """Take the links of each node, and what is expected, in words, where two hosts are not joined."""
        self._links_of = links_of
        self._expected = expected
        self._graph = SwitchGraph(links_of)
        self._first: dict[tuple[str, str], tuple[Link, ...]] = {}
        """Between the switches of two hosts, or between two hosts that are joined otherwise."""
        self._shapes: dict[tuple[object, ...], PathShape] = {}
        self._hops: dict[tuple[str, str], tuple[Hop, ...]] = {}
        """Between the switches of two hosts, as the next ones."""
        self._certain: dict[tuple[str, str], tuple[Link, ...]] = {}

    def first(self, source: str, destination: str) -> tuple[Link, ...]:
        """Links from source to destination; of equally short paths the one whose links come first."""
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

    def _access(self, source: str, destination: str) -> tuple[str, str, Link, Link] | None:
        """The switches of two hosts and the links to them; None where a host has several, or none."""
        near, far = self._links_of.get(source, {}), self._links_of.get(destination, {})
        if len(near) != 1 or len(far) != 1:
            return None
        ((switch, own),), ((last_switch, theirs),) = near.items(), far.items()
        return None if switch == destination else (switch, last_switch, own, theirs)

    def shape(self, source: str, destination: str) -> PathShape:
        """Rates and delays of that path's links, in order; kept once for all hosts of two switches."""
        access = self._access(source, destination)
        if access is None:
            key: tuple[object, ...] = source, destination
        else:
            switch, last_switch, own, theirs = access
            key = switch, last_switch, own.rate_bps, own.delay_ns, theirs.rate_bps, theirs.delay_ns
        if key not in self._shapes:
            links = self.first(source, destination)
            self._shapes[key] = tuple((link.rate_bps, link.delay_ns) for link in links)
        return self._shapes[key]

    def certain(self, source: str, destination: str) -> tuple[Link, ...]:
        """Links that every shortest path takes, whatever a hash chooses elsewhere, in order.

        Between the switches of two hosts they are those of all hosts there.
        """
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

        Where no link between switches is slower than those of hosts, their number does not matter.
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
        """What all links between switches have together; None if they are not all alike."""
        links = self._graph.links
        return _hop(links) if len({(link.rate_bps, link.delay_ns) for link in links}) == 1 else None

    def _links_by_hop(self, source: str, destination: str) -> Iterator[list[Link]]:
        nodes = {source: None}
        while destination not in nodes:
            ways = [(node, link) for node in nodes for link in self._next_links(node, destination)]
            nodes = {link.other_end(node): None for node, link in ways}
            yield [link for _, link in ways]

    def _every_path_takes(self, source: str, destination: str) -> tuple[Link, ...]:
        return tuple(links[0] for links in self._links_by_hop(source, destination) if len(links) == 1)

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
        dearest = {self._graph.number[switch]: max(costs) for switch, costs in access.items()}
        return max([*sums, *self._dearest_between(dearest, self._graph.costs_of(cost))], default=0)

    def _dearest_between(self, access: dict[int, int], costs: Integers) -> Iterator[int]:
        """From each switch with hosts to another one; `access` has what the dearest link of its hosts costs.

        Of switches that are alike one is searched from, for all of them.
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
        """Links by which a node on the way comes one hop closer."""
        neighbours = self._links_of.get(node, {})
        if destination in neighbours:
            yield neighbours[destination]
            return
        number = self._graph.number
        last_switch = next(iter(self._links_of.get(destination, ())), None)
        if last_switch not in number:  # it has no link, or one to another host alone
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
