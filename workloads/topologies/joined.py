"""Links that can be taken away while what is left joins all switches."""

from collections.abc import Iterable, Sequence

from rogue.workloads.topologies.link import Link


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
    """The first `count` of those drawn, but for links without which `links` would fall apart.

    Each of these makes room for the next one drawn; when there is none left, it stays.
    """
    taken, spare = list(drawn[:count]), list(drawn[count:])
    while True:
        away = set(taken)
        islands = _Islands(link for link in links if link not in away)
        needed = [number for number, link in enumerate(taken) if islands.join(link)]
        if not needed or not spare:
            return taken
        for number in needed[: len(spare)]:
            taken[number] = spare.pop(0)
