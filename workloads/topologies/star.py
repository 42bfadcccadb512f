"""One switch with every host on a link of its own."""

from typing import Literal

from rogue.workloads.specification import Rate
from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.topology import HostCount, Topology


class Star(Topology):
    """One switch with every host on a link of its own: the smallest network that has an incast."""

    kind: Literal["star"] = "star"
    hosts: HostCount
    """How many hosts."""
    rate_bps: Rate
    """Rate of every link."""

    def host_names(self) -> tuple[str, ...]:
        """h0, h1, ..."""
        return tuple(f"h{index}" for index in range(self.hosts))

    def switch_names(self) -> tuple[str, ...]:
        """The one switch, s0."""
        return ("s0",)

    def links(self) -> tuple[Link, ...]:
        """One link per host."""
        return tuple(Link(host, "s0", self.rate_bps, self.delay_ns) for host in self.host_names())
