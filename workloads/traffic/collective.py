"""Collective operations, as training of neural networks and MPI programs have them."""

from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from rogue.workloads.specification import Delay, Size, mistake, mistakes_at
from rogue.workloads.streams import start_jitter_ns
from rogue.workloads.topologies.topology import HOSTS_MAX, Placement
from rogue.workloads.traffic.collectives import ALGORITHMS, Algorithm, Operation
from rogue.workloads.traffic.steps import Step, Steps
from rogue.workloads.traffic.workload import Flow, Pushed, Workload

EXCHANGES: Final = ("all_to_all", "mixture_of_experts")


TRANSFERS_MAX: Final = 2_500_000
"""A ring of 1024 hosts takes two million."""


class Collective(Workload):
    """Hosts that carry out an operation together: a transfer starts when what it needs is at its source.

    Transfers between two hosts share a connection. Sizes and bus bandwidth are those of nccl-tests
    (doc/PERFORMANCE.md).
    """

    is_whole: ClassVar[bool] = True

    kind: Literal["collective"] = "collective"
    operation: Operation = "all_reduce"
    """What the hosts do."""
    algorithm: Literal["ring", "tree", "direct"] | None = None
    """How; by default the usual way of the operation."""
    hosts: Annotated[int, Field(ge=2, le=HOSTS_MAX)] = 8
    """How many hosts take part; each is a rank."""
    size_bytes: Size
    """What a rank has in all: before a reduce-scatter, after an all-gather."""
    pieces: Annotated[int, Field(ge=1, le=1000)] = 1
    """What goes from one rank to another goes in so many pieces, each of which is sent on for itself."""
    skew: Annotated[float, Field(ge=0, le=4)] = 0.0
    """Of all_to_all and mixture_of_experts: rank k (from 0) is sent a part in proportion to (k + 1)^-skew."""
    iterations: Annotated[int, Field(ge=1, le=1000)] = 1
    """How often; a rank begins again when it has what it needs."""
    compute_ns: Delay = 0
    """From the arrival of a piece until it is reduced; of an exchange, until the next one begins."""
    verb: Pushed = "write"
    """How the bytes are moved: by their source, which knows when it may begin."""

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
        """At most so many: there and back, to one host on a tree and to all others elsewhere."""
        peers = 1 if (self.algorithm or self._known()[0]) == "tree" else self.hosts - 1
        return 2 * self.hosts * peers * self.pieces * self.iterations

    def _known(self) -> list[str]:
        return [name for operation, name in ALGORITHMS if operation == self.operation]

    def hosts_min(self) -> int:
        """The hosts that take part."""
        return self.hosts

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        """One flow for each pair of hosts of which one sends to the other."""
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
        """Of all iterations; none is defined for unequal parts. Source: nccl-tests, doc/PERFORMANCE.md."""
        if self.skew or self.operation == "mixture_of_experts":
            return None
        rounds = 2 if self.operation == "all_reduce" else 1
        return self.iterations * self.size_bytes * rounds * (self.hosts - 1) / self.hosts

    @property
    def duration_ns(self) -> None:
        """When every transfer is done."""
        return None
