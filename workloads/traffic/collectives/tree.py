"""Collectives on a tree: sums go up to its root, and the result comes down again.

The hosts stand as in a heap: host i is below host (i - 1) div 2. Deviation: NCCL has two such trees, each for
half of the bytes, so that no host only receives; here there is one.
"""

from collections.abc import Sequence

from rogue.workloads.traffic.collectives.algorithm import Algorithm, split
from rogue.workloads.traffic.steps import Step, Steps, all_of


class TreeAllReduce(Algorithm):
    """Reduce to host 0, and broadcast from there; the pieces follow each other like a pipeline."""

    def add(self, steps: Steps, ready: Sequence[Step]) -> list[Step]:
        """Piece by piece: up from the leaves, down from the root."""
        sizes_bytes = split(self.size_bytes, self.pieces)
        done = [self._all_reduce(steps, ready, size_bytes) for size_bytes in sizes_bytes]
        return [all_of(pieces) for pieces in zip(*done, strict=True)]

    def _all_reduce(self, steps: Steps, ready: Sequence[Step], size_bytes: int) -> list[Step]:
        """Return when each host has the sum of a piece."""
        sums = list(ready)
        for child in reversed(range(1, len(self.hosts))):
            parent = (child - 1) // 2
            sent = steps.send(self.hosts[child], self.hosts[parent], size_bytes, sums[child])
            sums[parent] = all_of((sums[parent], sent.arrived.later(self.compute_ns)))
        for child in range(1, len(self.hosts)):
            parent = (child - 1) // 2
            sums[child] = steps.send(self.hosts[parent], self.hosts[child], size_bytes, sums[parent]).arrived
        return sums
