"""Collectives in which every host has something for every other."""

from collections.abc import Sequence

from rogue.workloads.traffic.collectives.algorithm import Algorithm, split
from rogue.workloads.traffic.steps import Step, Steps, all_of


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
        came = [[ready[rank]] for rank in ranks]
        for source in ranks:
            for destination in ranks:
                if source != destination:
                    ends = self.hosts[source], self.hosts[destination]
                    for piece_bytes in split(sizes_bytes[source][destination], self.pieces):
                        sent = steps.send(*ends, max(1, piece_bytes), ready[source])
                        came[destination].append(sent.arrived)
        return [all_of(steps_of_host).later(self.compute_ns) for steps_of_host in came]


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
