"""Networks of one switch, of two, and of a ring of switches."""

from typing import Annotated, Final, Literal

from pydantic import Field

from rogue.workloads.specification import Rate
from rogue.workloads.topologies.graph import Link
from rogue.workloads.topologies.topology import HOSTS_MAX, HostCount, Topology, numbered

SWITCHES_MAX: Final = 256


class Star(Topology):
    """One switch with a link to every host: the smallest network that has an incast."""

    kind: Literal["star"] = "star"
    hosts: HostCount
    """How many hosts."""
    rate_bps: Rate
    """Rate of every link."""

    def host_names(self) -> tuple[str, ...]:
        return numbered("h", self.hosts)

    def switch_names(self) -> tuple[str, ...]:
        return ("s0",)

    def links(self) -> tuple[Link, ...]:
        return self.host_links(self.hosts, self.rate_bps)


class Dumbbell(Topology):
    """Hosts on the left (s0) and as many on the right (s1), with one link in between.

    Workloads use the left hosts first as senders; receiver and prober are on the right.
    """

    kind: Literal["dumbbell"] = "dumbbell"
    hosts_per_side: Annotated[int, Field(ge=1, le=HOSTS_MAX // 2)]
    """How many hosts each switch has."""
    rate_bps: Rate
    """Rate of every host's link."""
    bottleneck_rate_bps: Rate
    """Rate of the link between the switches."""

    def host_names(self) -> tuple[str, ...]:
        return numbered("h", 2 * self.hosts_per_side)

    def receiving_hosts(self) -> tuple[str, ...]:
        """Return the right side; where it has one host only, the prober is on the left."""
        return self.host_names()[-max(2, self.hosts_per_side) :]

    def switch_names(self) -> tuple[str, ...]:
        return ("s0", "s1")

    def links(self) -> tuple[Link, ...]:
        hosts = self.host_links(self.hosts_per_side, self.rate_bps)
        return (*hosts, Link("s0", "s1", self.bottleneck_rate_bps, self.delay_ns))


class Ring(Topology):
    """Switches s0, s1, ... in a ring with the same number of hosts each, which are numbered switch by switch.

    It is the smallest network in which pauses can wait for each other. With five switches, one host each, and
    every host sending two switches further (workload `permutation`, shift 2), all traffic goes around in the
    same direction, every link's traffic needs room behind the next one, and under flow control the ring can
    deadlock. Between two equally short paths a hash chooses.

    Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 4.2, on cyclic
    dependencies between buffers.
    """

    kind: Literal["ring"] = "ring"
    switch_count: Annotated[int, Field(ge=3, le=SWITCHES_MAX)] = 5
    """How many switches."""
    hosts_per_switch: Annotated[int, Field(ge=1, le=16)] = 1
    """How many hosts each switch has."""
    rate_bps: Rate
    """Rate of every host's link."""
    ring_rate_bps: Rate | None = None
    """Rate of the links between switches; by default that of the hosts' links."""

    def host_names(self) -> tuple[str, ...]:
        return numbered("h", self.switch_count * self.hosts_per_switch)

    def switch_names(self) -> tuple[str, ...]:
        return numbered("s", self.switch_count)

    def links(self) -> tuple[Link, ...]:
        count, rate_bps = self.switch_count, self.ring_rate_bps or self.rate_bps
        ring = (Link(f"s{n}", f"s{(n + 1) % count}", rate_bps, self.delay_ns) for n in range(count))
        return (*self.host_links(self.hosts_per_switch, self.rate_bps), *ring)
