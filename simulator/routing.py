"""Shortest paths over the topology, one of equal ones chosen by a hash as switches do."""

from collections import deque
from collections.abc import Sequence

_MASK = (1 << 64) - 1


def _mix(value: int) -> int:
    """Scramble 64 bits (the finalizer of splitmix64)."""
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


class Router:
    """Finds routes between hosts. ``neighbours[node]`` lists (neighbour, number of the link to it)."""

    def __init__(self, neighbours: Sequence[Sequence[tuple[int, int]]], is_host: Sequence[bool]) -> None:
        self._neighbours = neighbours
        self._is_host = is_host
        self._hops_to: dict[int, list[int]] = {}

    def route(self, source: int, destination: int, entropy: int) -> list[int] | None:
        """Return the numbers of the links from source to destination, or None if there is no way.

        Hosts do not forward. ``entropy`` stands for the UDP source port: each node on the way hashes it with
        its own number to choose among its equally short ways.
        """
        hops_to = self._hops(destination)
        if hops_to[source] < 0:
            return None
        links = []
        node = source
        while node != destination:
            ways = [way for way in self._neighbours[node] if hops_to[way[0]] == hops_to[node] - 1]
            node, link = ways[_mix(_mix(entropy & _MASK) ^ node) % len(ways)]
            links.append(link)
        return links

    def _hops(self, destination: int) -> list[int]:
        """Count the hops from every node to the destination, -1 where there is no way."""
        known = self._hops_to.get(destination)
        if known is not None:
            return known
        hops = [-1] * len(self._neighbours)
        hops[destination] = 0
        queue = deque([destination])
        while queue:
            node = queue.popleft()
            for neighbour, _ in self._neighbours[node]:
                if hops[neighbour] < 0:
                    hops[neighbour] = hops[node] + 1
                    if not self._is_host[neighbour]:
                        queue.append(neighbour)
        self._hops_to[destination] = hops
        return hops
