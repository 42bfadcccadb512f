"""Collective operations of neural-network training and MPI programs."""

from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from rogue.workloads.specification import Delay, Size, mistake, mistakes_at
from rogue.workloads.streams import start_jitter_ns
from rogue.workloads.topologies.topology import HOSTS_MAX, Placement
from rogue.workloads.traffic.collective_algorithms import ALGORITHMS, Algorithm, Operation
from rogue.workloads.traffic.transfer_steps import Step, Steps
from rogue.workloads.traffic.workload import Flow, Pushed, Workload

EXCHANGES: Final = ("all_to_all", "mixture_of_experts")


TRANSFERS_MAX: Final = 2_500_000
"""A ring of 1024 hosts takes two million."""


class Collective(Workload):
    """An operation of several hosts: a transfer starts when the data that it needs are at its source.

    Transfers between two hosts share a connection. Sizes and bus bandwidth are those of nccl-tests
    (doc/PERFORMANCE.md).
    """

    is_whole: ClassVar[bool] = True

    kind: Literal["collective"] = "collective"
    operation: Operation = "all_reduce"
    """Operation of the hosts."""
    algorithm: Literal["ring", "tree", "direct"] | None = None
    """Algorithm; by default the usual one of the operation."""
    hosts: Annotated[int, Field(ge=2, le=HOSTS_MAX)] = 8
    """How many hosts take part; each is a rank."""
    size_bytes: Size
    """Bytes of a rank: before a reduce-scatter, after an all-gather."""
    pieces: Annotated[int, Field(ge=1, le=1000)] = 1
    """Pieces of what goes from one rank to another; each is forwarded separately."""
    skew: Annotated[float, Field(ge=0, le=4)] = 0.0
    """Of all_to_all and mixture_of_experts: the part for rank k (from 0) is proportional to (k + 1)^-skew."""
    iterations: Annotated[int, Field(ge=1, le=1000)] = 1
    """How often; a rank starts again when it has its result."""
    compute_ns: Delay = 0
    """Time from the arrival of a piece until it is reduced; of an exchange, until the next one starts."""
    verb: Pushed = "write"
    """How the bytes are moved: by their source, which knows when it may start."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        known = self._known()
        if self.algorithm is not None and self.algorithm not in known:
            found = mistake(f"one of {', '.join(known)} for {self.operation}", "leave it out", self.algorithm)
            raise mistakes_at({"algorithm": found})
        if self.skew and self.operation not in EXCHANGES:
            found = mistake(f"a skew of 0 but for {' and '.join(EXCHANGES)}", "leave it out")
            raise mistakes_at({"skew": found})
        if self._transfers > TRANSFERS_MAX:
            got, advice = f"{self._transfers} transfers", "take fewer iterations, pieces or hosts"
            found = mistake(f"at most {TRANSFERS_MAX} transfers", advice, got)
            raise mistakes_at({"iterations": found})
        if self.size_bytes < self.hosts * self.pieces:
            raise mistakes_at({"size": mistake("a byte or more for each piece of each host", "raise it")})
        return self

    @property
    def _transfers(self) -> int:
        """Return an upper bound: two transfers per peer, which is one host on a tree and else all others."""
        peers = 1 if (self.algorithm or self._known()[0]) == "tree" else self.hosts - 1
        return 2 * self.hosts * peers * self.pieces * self.iterations

    def _known(self) -> list[str]:
        return [name for operation, name in ALGORITHMS if operation == self.operation]

    def hosts_min(self) -> int:
        return self.hosts

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        steps, algorithm = Steps(), self._algorithm(placement)
        ready = [Step(least_ns=start_jitter_ns(seed, host)) for host in algorithm.hosts]
        for _ in range(self.iterations):
            ready = algorithm.add(steps, ready)
        return steps.flows(self.verb)

    def _algorithm(self, placement: Placement) -> Algorithm:
        kind = ALGORITHMS[self.operation, self.algorithm or self._known()[0]]
        return kind(placement.hosts[: self.hosts], self.size_bytes, self.pieces, self.compute_ns, self.skew)

    @property
    def bus_bytes(self) -> float | None:
        """Return the bytes of all iterations; None for unequal parts.

        Source: nccl-tests, doc/PERFORMANCE.md.
        """
        if self.skew or self.operation == "mixture_of_experts":
            return None
        rounds = 2 if self.operation == "all_reduce" else 1
        return self.iterations * self.size_bytes * rounds * (self.hosts - 1) / self.hosts
