"""A switch that forwards to the wrong neighbour, or in all directions."""

from typing import Annotated, Literal

from pydantic import Field

from workloads.faults.fault import Fault
from workloads.topologies.topology import Topology
from workloads.traffic.pairs import HostName


class Misrouting(Fault):
    """A switch sends what is for a host to a certain neighbour, from the beginning on.

    Packets that go in a circle then are dropped after `topology.ttl_hops` links; without it the circle is
    refused.
    """

    kind: Literal["misrouting"] = "misrouting"
    target: Annotated[str, Field(pattern=r"^s[0-9]+-[hs][0-9]+$")]
    """The switch and the neighbour that it sends to, such as s0-s1."""
    destination: HostName
    """Host whose packets go there."""

    @property
    def switch(self) -> str:
        """The switch that does so."""
        return self.target.partition("-")[0]

    def is_there(self, topology: Topology) -> bool:
        """Whether the topology has what is meant."""
        hosts, neighbour = topology.host_names(), self.target.partition("-")[2]
        is_way = neighbour == self.destination or neighbour not in hosts
        return super().is_there(topology) and self.destination in hosts and is_way

    def expected_target(self, topology: Topology) -> str:
        """What a target may be."""
        return (
            "a switch and the neighbour that it sends to, such as s0-s1, which is no other host, and as"
            " destination a host of the topology"
        )


class Flooding(Fault):
    """A switch has forgotten where a host is, and sends copies of what is for it out of all other ports.

    So do switches that know the Ethernet address of a host, but not its port, for as long as it is dead.
    Whoever gets a copy drops it. Under flow control such copies let pauses wait for each other in a circle
    even where all routes go up and then down.

    Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 4.2.
    """

    kind: Literal["flooding"] = "flooding"
    target: Annotated[str, Field(pattern=r"^s[0-9]+$")]
    """The switch."""
    destination: HostName
    """Host that it has forgotten."""

    @property
    def switch(self) -> str:
        """The switch that does so."""
        return self.target

    def is_there(self, topology: Topology) -> bool:
        """Whether the topology has what is meant."""
        return self.target in topology.switch_names() and self.destination in topology.host_names()

    def expected_target(self, topology: Topology) -> str:
        """What a target may be."""
        return "a switch, such as s0, and as destination a host of the topology"
