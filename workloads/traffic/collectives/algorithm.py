"""What every algorithm of a collective operation is given, and what it says."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rogue.workloads.traffic.steps import Step, Steps

Operation = Literal["all_reduce", "reduce_scatter", "all_gather", "all_to_all", "mixture_of_experts"]


def split(size_bytes: int, parts: int) -> list[int]:
    """Parts that differ by a byte at most, the larger ones first."""
    each, more = divmod(size_bytes, parts)
    return [each + (part < more) for part in range(parts)]


@dataclass(frozen=True, slots=True)
class Algorithm(ABC):
    """An operation over some hosts, which have `size_bytes` each (before, or after it), as in nccl-tests.

    Whatever goes from one host to another goes in `pieces`, each for itself; `compute_ns` passes from the
    arrival of a piece until it can be sent on.
    """

    hosts: Sequence[str]
    size_bytes: int
    pieces: int
    compute_ns: int
    skew: float = 0.0
    """How unequal the parts of hosts are, where every host has something for every other."""

    @abstractmethod
    def add(self, steps: Steps, ready: Sequence[Step]) -> list[Step]:
        """Add its transfers, which begin when each host is ready; return when each has what it needs."""
