"""Switches in a ring: the smallest network in which pauses can wait for each other."""

from typing import Annotated, Final, Literal

from pydantic import Field

from rogue.workloads.specification import Rate
from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.topology import Topology

SWITCHES_MAX: Final = 256


class Ring(Topology):
    """Switches s0, s1, ... in a ring, each with as many hosts, which stand switch by switch.

    With five switches and every host sending two switches on (workload `permutation`, shift 2 for one host
    each) all traffic goes around the same way, every link's traffic needs room behind the next one, and under
    flow control the ring can come to a stand. Where two ways are equally short a hash chooses.

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
        """Switch by switch."""
        return tuple(f"h{index}" for index in range(self.switch_count * self.hosts_per_switch))

    def switch_names(self) -> tuple[str, ...]:
        """In the order of the ring."""
        return tuple(f"s{index}" for index in range(self.switch_count))

    def links(self) -> tuple[Link, ...]:
        """Hosts' links, then the ring's."""
        hosts = [
            Link(host, f"s{index // self.hosts_per_switch}", self.rate_bps, self.delay_ns)
            for index, host in enumerate(self.host_names())
        ]
        count, rate_bps = self.switch_count, self.ring_rate_bps or self.rate_bps
        ring = [
            Link(f"s{index}", f"s{(index + 1) % count}", rate_bps, self.delay_ns) for index in range(count)
        ]
        return (*hosts, *ring)
