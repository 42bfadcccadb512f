"""The switches of a network by number, and searches that serve many of them at once."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

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
