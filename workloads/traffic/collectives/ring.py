"""Collectives on a ring: each host sends to the next one what came from the one before.

Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009.
With n hosts and S bytes each, a block has S/n. Step t of host r carries block (r - t) mod n: n - 1 steps
leave each host one reduced block (reduce-scatter), n - 1 more spread these (all-gather).
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from rogue.workloads.traffic.collectives.algorithm import Algorithm, split
from rogue.workloads.traffic.steps import Step, Steps, all_arrived


class _Ring(Algorithm):
    """So many rounds of n - 1 steps each."""

    rounds: ClassVar[int]
    reducing: ClassVar[int]
    """In how many of them, the first ones, what arrives is reduced before it is sent on."""

    def add(self, steps: Steps, ready: Sequence[Step]) -> list[Step]:
        """A step of a host waits for the step before it of the host before it."""
        count, ranks = len(self.hosts), np.arange(len(self.hosts))
        blocks = np.array([split(block, self.pieces) for block in split(self.size_bytes, count)])
        following = [*self.hosts[1:], self.hosts[0]]
        ways = [steps.connection(*ends) for ends in zip(self.hosts, following, strict=True)]
        connections = np.repeat(ways, self.pieces)
        sent = np.concatenate(
            [
                steps.send_all([way] * self.pieces, block, after)
                for way, block, after in zip(ways, blocks.tolist(), ready, strict=True)
            ]
        )
        for step in range(1, self.rounds * (count - 1)):
            arrived = np.roll(sent, self.pieces)
            sent = steps.send_on(
                connections, blocks[(ranks - step) % count].ravel(), arrived, self._pause_ns(step - 1)
            )
        came, pause_ns = np.roll(sent, self.pieces), self._pause_ns(self.rounds * (count - 1) - 1)
        return [all_arrived(own).later(pause_ns) for own in came.reshape(count, self.pieces).tolist()]

    def _pause_ns(self, step: int) -> int:
        """From the arrival of what was sent in a step until it can be sent on."""
        return self.compute_ns if step < self.reducing * (len(self.hosts) - 1) else 0


class RingReduceScatter(_Ring):
    """n - 1 steps."""

    rounds = reducing = 1


class RingAllGather(_Ring):
    """n - 1 steps; nothing is reduced."""

    rounds, reducing = 1, 0


class RingAllReduce(_Ring):
    """Reduce-scatter and all-gather: 2(n - 1) steps."""

    rounds, reducing = 2, 1
