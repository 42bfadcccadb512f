"""Collectives in which every host has something for every other."""

from collections.abc import Sequence

from rogue.workloads.traffic.collectives.algorithm import Algorithm, split
from rogue.workloads.traffic.steps import Step, Steps, all_arrived, all_of


def shares(size_bytes: int, hosts: int, skew: float) -> list[int]:
    """What a host has for each: host k's part is in proportion to (k + 1)^-skew, a byte at least."""
    weights = [(rank + 1) ** -skew for rank in range(hosts)]
    return [max(1, round(size_bytes * weight / sum(weights))) for weight in weights]


class DirectAllToAll(Algorithm):
    """All at once, each pair over a connection of its own."""

    def add(self, steps: Steps, ready: Sequence[Step]) -> list[Step]:
        """Return when each host has what all others had for it, and has computed."""
        sizes_bytes = shares(self.size_bytes, len(self.hosts), self.skew)
        return self._exchange(steps, ready, [sizes_bytes] * len(self.hosts))

    def _exchange(
        self, steps: Steps, ready: Sequence[Step], sizes_bytes: Sequence[Sequence[int]]
    ) -> list[Step]:
        """Move `sizes_bytes[a][b]` from each host to each other."""
        ranks = range(len(self.hosts))
        came: list[list[int]] = [[] for _ in ranks]
        for source in ranks:
            others = [rank for rank in ranks if rank != source]
            ways = [steps.connection(self.hosts[source], self.hosts[rank]) for rank in others]
            sent = steps.send_all(
                [way for way in ways for _ in range(self.pieces)],
                [max(1, each) for rank in others for each in split(sizes_bytes[source][rank], self.pieces)],
                ready[source],
            )
            for rank, pieces in zip(others, sent.reshape(-1, self.pieces).tolist(), strict=True):
                came[rank] += pieces
        return [
            all_of((own, all_arrived(arrived))).later(self.compute_ns)
            for own, arrived in zip(ready, came, strict=True)
        ]


class MixtureOfExperts(DirectAllToAll):
    """Tokens go to the hosts of their experts, which compute when they have all, and back again.

    Source: Lepikhin et al., "GShard", 2021, section 3.2 (two all-to-alls around the experts).
    """

    def add(self, steps: Steps, ready: Sequence[Step]) -> list[Step]:
        """Return when each host has its tokens back."""
        there = shares(self.size_bytes, len(self.hosts), self.skew)
        computed = self._exchange(steps, ready, [there] * len(self.hosts))
        back = [[size_bytes] * len(self.hosts) for size_bytes in there]
        return self._exchange(steps, computed, back)
