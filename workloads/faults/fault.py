"""Base classes of injected faults."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from random import Random
from typing import Annotated, ClassVar, Protocol

from pydantic import Field

from rogue.workloads.specification import Specification
from rogue.workloads.topologies.graph import Link
from rogue.workloads.topologies.topology import Topology
from rogue.workloads.traffic.pairs import HostName


class FaultyNetwork(Protocol):
    """A network whose hosts and switches can break, such as `rogue.simulator.Simulation`."""

    def pause_storm(
        self, host: str, *, start_ns: int, duration_ns: int, watchdog_ns: int | None = None
    ) -> None:
        """Make a NIC pause its switch without a break."""

    def receive_slowly(  # noqa: PLR0913 - a receiver has that many properties, all named
        self,
        host: str,
        *,
        rate_bps: int,
        start_ns: int = 0,
        duration_ns: int | None = None,
        buffer_bytes: int = 256_000,
        xoff_bytes: int = 128_000,
        xon_bytes: int = 64_000,
    ) -> None:
        """Limit the rate at which a NIC takes in frames; it pauses its switch above `xoff_bytes`."""

    def forward(self, switch: str, destination: str, neighbour: str) -> None:
        """Make a switch send packets for a host to a neighbour."""

    def flood(self, switch: str, destination: str) -> None:
        """Make a switch send packets for a host out of all other ports."""


class Fault(Specification, ABC):
    """Something that goes wrong on purpose.

    Testbeds carry out four sorts of faults: `LinkCut`, `Loss`, `PacketEvent`, and each `Breakage` of a host
    or a switch. A fault that `drawn` turns into cuts and losses works on every testbed that has these.
    """

    @property
    @abstractmethod
    def place(self) -> str:
        """Return where it happens, for the table of events."""

    def is_there(self, topology: Topology) -> bool:
        """True if the topology has what the fault strikes."""
        return True

    def drawn(self, topology: Topology, stream: Random, struck: Collection[Link]) -> "Sequence[Fault]":
        """Return its cuts, losses and breakages, by default itself; other faults cut the links `struck`."""
        return (self,)

    def changes(self) -> list[tuple[int, str]]:
        """Return when it begins and ends (ns), each with a word for the table of events."""
        return []

    def described_target(self) -> str:
        """Describe the target for the message that the topology lacks it."""
        return f"the target {self.place}"

    def expected_target(self, topology: Topology) -> str:
        """Describe the targets that the topology has."""
        last = topology.links()[-1]
        return f"a host or two neighbours of the topology, such as {last.a}-{last.b}"


class TargetedFault(Fault, ABC):
    """A fault of a link, a host or a switch."""

    target: Annotated[str, Field(pattern=r"^[hs][0-9]+(-[hs][0-9]+)?$")]
    """A link, both directions of it: a host, such as h1, for its link, or two neighbours, such as s0-s1."""

    @property
    def place(self) -> str:
        """Return the target."""
        return self.target

    def link(self, topology: Topology) -> Link | None:
        """Return the target's link; None if the topology has no such link."""
        first, _, second = self.target.partition("-")
        neighbours = topology.links_of.get(first, {})
        if second:
            return neighbours.get(second)
        return next(iter(neighbours.values())) if first in topology.host_names() else None

    def is_there(self, topology: Topology) -> bool:
        return self.link(topology) is not None


class Breakage(TargetedFault, ABC):
    """A host or a switch that misbehaves."""

    is_pausing: ClassVar[bool] = False
    """True if a host pauses its switch, which must obey. A host has at most one such fault."""

    @abstractmethod
    def strike(self, network: FaultyNetwork) -> None:
        """Break the network's host or switch."""


class HostFault(Breakage, ABC):
    """A fault of a host, which begins once everything is connected."""

    target: Annotated[str, Field(pattern=r"^h[0-9]+$")]
    """The host, such as h1."""

    def expected_target(self, topology: Topology) -> str:
        return f"a host of the topology, such as {topology.host_names()[-1]}"


class ForwardingFault(Breakage, ABC):
    """A switch that ignores shortest paths to one host, before anything is connected."""

    destination: HostName
    """Host whose packets are forwarded wrongly."""

    @property
    def rule(self) -> tuple[str, str]:
        """Return the switch and the destination of the packets."""
        return self.target.partition("-")[0], self.destination


def links_between_switches(topology: Topology) -> list[Link]:
    """Return all links that have no host at an end."""
    switches = set(topology.switch_names())
    return [link for link in topology.links() if {link.a, link.b} <= switches]
