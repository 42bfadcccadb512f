"""Algorithms of collective operations: the transfers, and which transfers each one waits for."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

import numpy as np

from rogue.workloads.traffic.transfer_steps import Step, Steps, all_arrived, all_of

Operation = Literal["all_reduce", "reduce_scatter", "all_gather", "all_to_all", "mixture_of_experts"]


def split(size_bytes: int, parts: int) -> list[int]:
    """Split bytes into parts that differ by at most one byte, the larger ones first."""
    each, more = divmod(size_bytes, parts)
    return [each + (part < more) for part in range(parts)]


@dataclass(frozen=True, slots=True)
class Algorithm(ABC):
    """An operation over some hosts, which have `size_bytes` each (before or after it), as in nccl-tests.

    Data from one host to another go in separate `pieces`; a piece can be forwarded `compute_ns` after its
    arrival.
    """

    hosts: Sequence[str]
    size_bytes: int
    pieces: int
    compute_ns: int
    skew: float = 0.0
    """Exponent of the unequal parts of hosts, if every host sends to every other."""

    @abstractmethod
    def add(self, steps: Steps, ready: Sequence[Step]) -> list[Step]:
        """Add its transfers, which start when each host is ready; return when each host has its result."""


class _Ring(Algorithm):
    """Rounds of n - 1 steps on a ring: each host sends to the next one what came from the one before.

    With n hosts and S bytes each, a block has S/n. Step t of host r carries block (r - t) mod n: n - 1 steps
    leave each host one reduced block (reduce-scatter), n - 1 more spread these (all-gather).

    Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009.
    """

    rounds: ClassVar[int]
    reducing: ClassVar[int]
    """How many of the first rounds reduce a block before it is forwarded."""

    def add(self, steps: Steps, ready: Sequence[Step]) -> list[Step]:
        """Add all steps: each waits for the previous step of the previous host."""
        count, ranks = len(self.hosts), np.arange(len(self.hosts))
        blocks = np.array([split(block, self.pieces) for block in split(self.size_bytes, count)])
        following = [*self.hosts[1:], self.hosts[0]]
        ring = [steps.connection(*ends) for ends in zip(self.hosts, following, strict=True)]
        connections = np.repeat(ring, self.pieces)
        sent = np.concatenate(
            [
                steps.send_all([connection] * self.pieces, block, after)
                for connection, block, after in zip(ring, blocks.tolist(), ready, strict=True)
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
        """Return the pause after the arrivals of a step."""
        return self.compute_ns if step < self.reducing * (len(self.hosts) - 1) else 0


class RingReduceScatter(_Ring):
    """n - 1 steps that reduce."""

    rounds = reducing = 1


class RingAllGather(_Ring):
    """n - 1 steps that do not reduce."""

    rounds, reducing = 1, 0


class RingAllReduce(_Ring):
    """Reduce-scatter and all-gather: 2(n - 1) steps."""

    rounds, reducing = 2, 1


class TreeAllReduce(Algorithm):
    """Reduce to host 0 up a binary heap, and broadcast down again; the pieces form a pipeline.

    Host i is below host (i - 1) div 2. Deviation: NCCL has two such trees, each for half of the bytes, so
    that no host only receives; here there is one.
    """

    def add(self, steps: Steps, ready: Sequence[Step]) -> list[Step]:
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


def shares(size_bytes: int, hosts: int, skew: float) -> list[int]:
    """Return a host's bytes for each other: host k's part is proportional to (k + 1)^-skew, at least 1."""
    weights = [(rank + 1) ** -skew for rank in range(hosts)]
    return [max(1, round(size_bytes * weight / sum(weights))) for weight in weights]


class DirectAllToAll(Algorithm):
    """All transfers at once, each pair over its own connection."""

    def add(self, steps: Steps, ready: Sequence[Step]) -> list[Step]:
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
            to = [steps.connection(self.hosts[source], self.hosts[rank]) for rank in others]
            sent = steps.send_all(
                [connection for connection in to for _ in range(self.pieces)],
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
    """Tokens go to the hosts of their experts, which compute when they have all of them, and back.

    Source: Lepikhin et al., "GShard", 2021, section 3.2 (two all-to-alls around the experts).
    """

    def add(self, steps: Steps, ready: Sequence[Step]) -> list[Step]:
        there = shares(self.size_bytes, len(self.hosts), self.skew)
        computed = self._exchange(steps, ready, [there] * len(self.hosts))
        back = [[size_bytes] * len(self.hosts) for size_bytes in there]
        return self._exchange(steps, computed, back)


ALGORITHMS: Final[Mapping[tuple[Operation, str], type[Algorithm]]] = {
    ("all_reduce", "ring"): RingAllReduce,
    ("all_reduce", "tree"): TreeAllReduce,
    ("reduce_scatter", "ring"): RingReduceScatter,
    ("all_gather", "ring"): RingAllGather,
    ("all_to_all", "direct"): DirectAllToAll,
    ("mixture_of_experts", "direct"): MixtureOfExperts,
}
"""By operation and name; the first of an operation is its usual one."""

__all__ = ["ALGORITHMS", "Algorithm", "Operation"]
