"""Flows that always have something to send."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from rogue.workloads.specification import Size, Time
from rogue.workloads.streams import start_jitter_ns
from rogue.workloads.topologies.topology import Placement
from rogue.workloads.traffic.workload import Flow, Verb, Workload


class Greedy(Workload):
    """Some hosts send to others as fast as they can, over as many connections as they like."""

    size_bytes: Size
    """Payload of one transfer."""
    connections: Annotated[int, Field(ge=1, le=1024)] = 1
    """How many connections a host has to each that it sends to."""
    verb: Verb = "write"
    """How the bytes are moved."""
    repeat_for_ns: Time | None = None
    """Every connection repeats the transfer back to back for this time; by default it has one transfer."""

    @abstractmethod
    def ends(self, hosts: tuple[str, ...], seed: int) -> Iterable[tuple[str, str]]:
        """Pairs of source and destination."""

    @abstractmethod
    def pairs_of(self, hosts: int) -> int:
        """Return the number of pairs of source and destination."""

    def expected_connections(self, placement: Placement) -> float:
        """Return the connections of all pairs."""
        return self.pairs_of(len(placement.hosts)) * self.connections

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        """One flow per connection, each with its own start jitter."""
        return tuple(
            Flow(
                source=source,
                destination=destination,
                verb=self.verb,
                size_bytes=self.size_bytes,
                start_ns=start_jitter_ns(seed, f"{source}->{destination}" + (f"#{number}" if number else "")),
                count=1 if self.repeat_for_ns is None else None,
                repeat_until_ns=self.repeat_for_ns,
                number=number,
            )
            for source, destination in self.ends(placement.hosts, seed)
            for number in range(self.connections)
        )

    @property
    def duration_ns(self) -> int | None:
        """`repeat_for`, if given."""
        return self.repeat_for_ns
