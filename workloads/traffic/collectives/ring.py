"""Collectives on a ring: each host sends to the next one what came from the one before.

Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009.
With n hosts and S bytes each, a block has S/n. Step t of host r carries block (r - t) mod n: n - 1 steps
leave each host one reduced block (reduce-scatter), n - 1 more spread these (all-gather).
"""

from collections.abc import Sequence
from typing import ClassVar

from rogue.workloads.traffic.collectives.algorithm import Algorithm, split
from rogue.workloads.traffic.steps import Step, Steps, all_of


class _Ring(Algorithm):
    """So many rounds of n - 1 steps each."""

    rounds: ClassVar[int]
    reducing: ClassVar[int]
    """In how many of them, the first ones, what arrives is reduced before it is sent on."""

    def add(self, steps: Steps, ready: Sequence[Step]) -> list[Step]:
        """A step of a host waits for the step before it of the host before it."""
        count = len(self.hosts)
        blocks = [split(block, self.pieces) for block in split(self.size_bytes, count)]
        there = [[step] * self.pieces for step in ready]
        for step in range(self.rounds * (count - 1)):
            compute_ns = self.compute_ns if step < self.reducing * (count - 1) else 0
            sent = [
                self._send(steps, rank, blocks[(rank - step) % count], there[rank], compute_ns)
                for rank in range(count)
            ]
            there = [sent[rank - 1] for rank in range(count)]
        return [all_of(pieces) for pieces in there]

    def _send(
        self, steps: Steps, rank: int, block: Sequence[int], there: Sequence[Step], compute_ns: int
    ) -> list[Step]:
        """Send the pieces of a block to the next host as each arrives; return when they can be sent on."""
        source, destination = self.hosts[rank], self.hosts[(rank + 1) % len(self.hosts)]
        return [
            steps.send(source, destination, size_bytes, after).arrived.later(compute_ns)
            for size_bytes, after in zip(block, there, strict=True)
        ]


class RingReduceScatter(_Ring):
    """n - 1 steps."""

    rounds = reducing = 1


class RingAllGather(_Ring):
    """n - 1 steps; nothing is reduced."""

    rounds, reducing = 1, 0


class RingAllReduce(_Ring):
    """Reduce-scatter and all-gather: 2(n - 1) steps."""

    rounds, reducing = 2, 1
