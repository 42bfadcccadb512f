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
    """The first `count` of those drawn without which `links` stay joined, all of them together.

    If these are too few, the first of the others are taken, too.
    """
    candidates = set(drawn)
    islands = _Islands(link for link in links if link not in candidates)
    needed = {link for link in reversed(drawn) if islands.join(link)}
    return [*(link for link in drawn if link not in needed), *(link for link in drawn if link in needed)][
        :count
    ]
