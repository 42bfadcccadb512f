"""What every workload says: which flows it is made of and when it is over."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from workloads.specification import Specification

Verb = Literal["write", "read", "send"]


@dataclass(frozen=True, slots=True)
class Flow:
    """A sequence of transfers from one host to another, the next one started when the last one is done."""

    source: str
    """Host whose memory the bytes come from."""
    destination: str
    """Host whose memory the bytes go to."""
    verb: Verb
    size_bytes: int
    """Payload of each transfer."""
    start_ns: int
    """When the first transfer is asked for."""
    count: int | None = 1
    """How many transfers; None: no limit but time."""
    repeat_until_ns: int | None = None
    """No transfer starts at or after this instant; None: no limit but the count."""
    interval_ns: int | None = None
    """Transfers start on this grid, counted from `start_ns`; None: back to back."""


class Workload(Specification, ABC):
    """A pattern of flows over a list of hosts."""

    @abstractmethod
    def hosts_min(self) -> int:
        """How many hosts it needs."""

    @abstractmethod
    def flows(self, hosts: Sequence[str], seed: int) -> tuple[Flow, ...]:
        """The flows; the same hosts and seed give the same flows."""

    @property
    @abstractmethod
    def duration_ns(self) -> int | None:
        """When it stops, counted from the start of the run; None: when every transfer is done."""
