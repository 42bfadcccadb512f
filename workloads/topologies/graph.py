"""Links, and graph algorithms on the switches that they join."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

SEARCHED_AT_ONCE: Final = 64
"""Targets of one search: the bits of a word."""

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Link:
    """A full-duplex link between two nodes."""

    a: str
    b: str
    rate_bps: int
    delay_ns: int
    """Propagation delay in one direction."""

    @property
    def ports(self) -> tuple[str, str]:
        """Both directions, as node->neighbour."""
        return f"{self.a}->{self.b}", f"{self.b}->{self.a}"

    def other_end(self, node: str) -> str:
        """Return the node at the other end."""
        return self.b if node == self.a else self.a


LinksOf = Mapping[str, Mapping[str, Link]]
"""Neighbours of each node, each with the link to it."""


class SwitchGraph:
    """The switches: nodes with more than one link. Hosts never forward, so they are left out."""

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
        """Return the hops from each switch, by number; -1 where there is no path."""
        block, place = divmod(self.number[switch], SEARCHED_AT_ONCE)
        if block not in self._hops:
            self._hops[block] = self._search(block * SEARCHED_AT_ONCE)
        return self._hops[block][place]

    def _search(self, first: int) -> list[memoryview]:
        """Search breadth-first from up to 64 switches at once: each is a bit that spreads to neighbours."""
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
            seen = np.zeros_like(new)
            if len(self._starts):
                seen[self._joined] = np.bitwise_or.reduceat(new[self._far], self._starts)
            new, distance = seen & ~reached, distance + 1
            reached |= new
        return [np.ascontiguousarray(hops[:, place]).data for place in range(len(targets))]

    def costs_of(self, cost: Callable[[Link], int]) -> Integers:
        """Return the cost of each link, in the order that `costs_to` and `twins` expect."""
        return np.array([cost(link) for link in self.links], np.int64)

    def costs_to(self, number: int, costs: Integers) -> Integers:
        """Return the cost from each switch over the dearest shortest path; -1 where there is no path."""
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
        """Group those of the switches that have the same neighbours over links of the same costs.

        All other switches are equally far from each of a group, and its members are equally far apart.
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


class JoinedParts:
    """Connected parts of a network: a forest with a tree per part (union-find)."""

    def __init__(self, links: Iterable[Link]) -> None:
        self._above: dict[str, str] = {}
        for link in links:
            self.join(link)

    def join(self, link: Link) -> bool:
        """Join both ends; return True if they were not joined before."""
        a, b = self.root(link.a), self.root(link.b)
        self._above[a] = b
        return a != b

    def root(self, node: str) -> str:
        """Return the node that stands for the whole part."""
        above = self._above.setdefault(node, node)
        while above != node:
            self._above[node] = self._above[above]
            node, above = above, self._above[above]
        return node


def dispensable(links: Sequence[Link], drawn: Sequence[Link], count: int) -> list[Link]:
    """Return the first `count` of the drawn links without which `links` stay joined.

    If there are not enough of these, the first of the other drawn links follow.
    """
    candidates = set(drawn)
    parts = JoinedParts(link for link in links if link not in candidates)
    needed = {link for link in reversed(drawn) if parts.join(link)}
    return sorted(drawn, key=lambda link: link in needed)[:count]
