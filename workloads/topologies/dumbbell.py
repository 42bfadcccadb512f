"""Two switches with one link between them."""

from typing import Annotated, Literal

from pydantic import Field

from rogue.workloads.specification import Rate
from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.topology import HOSTS_MAX, Topology


class Dumbbell(Topology):
    """Hosts on the left (s0) and as many on the right (s1), with one link in between.

    Senders are taken from the left first; receiver and prober stand on the right.
    """

    kind: Literal["dumbbell"] = "dumbbell"
    hosts_per_side: Annotated[int, Field(ge=1, le=HOSTS_MAX // 2)]
    """How many hosts each switch has."""
    rate_bps: Rate
    """Rate of every host's link."""
    bottleneck_rate_bps: Rate
    """Rate of the link between the switches."""

    def host_names(self) -> tuple[str, ...]:
        """The left ones, then the right ones."""
        return tuple(f"h{index}" for index in range(2 * self.hosts_per_side))

    def receiving_hosts(self) -> tuple[str, ...]:
        """The right side; where it has one host only, the prober stands on the left."""
        return self.host_names()[-max(2, self.hosts_per_side) :]

    def switch_names(self) -> tuple[str, ...]:
        """Left and right."""
        return ("s0", "s1")

    def links(self) -> tuple[Link, ...]:
        """One link per host, and the one in between."""
        hosts = [
            Link(host, "s0" if index < self.hosts_per_side else "s1", self.rate_bps, self.delay_ns)
            for index, host in enumerate(self.host_names())
        ]
        return (*hosts, Link("s0", "s1", self.bottleneck_rate_bps, self.delay_ns))
