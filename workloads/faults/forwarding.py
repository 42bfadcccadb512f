"""Faults of switches that forward packets to the wrong place."""

from typing import Annotated, Literal

from pydantic import Field

from rogue.workloads.faults.fault import FaultyNetwork, ForwardingFault
from rogue.workloads.topologies.topology import Topology


class Misrouting(ForwardingFault):
    """A switch sends all packets for a host to one neighbour, during the whole run.

    Packets that then loop are dropped after `topology.ttl_hops` links; without that key a loop is refused.
    """

    kind: Literal["misrouting"] = "misrouting"
    target: Annotated[str, Field(pattern=r"^s[0-9]+-[hs][0-9]+$")]
    """The switch and the neighbour that it sends to, such as s0-s1."""

    def changes(self) -> list[tuple[int, str]]:
        return [(0, self.kind)]

    def is_there(self, topology: Topology) -> bool:
        hosts, neighbour = topology.host_names(), self.target.partition("-")[2]
        can_forward = neighbour == self.destination or neighbour not in hosts
        return super().is_there(topology) and self.destination in hosts and can_forward

    def expected_target(self, topology: Topology) -> str:
        return (
            "a switch and the neighbour that it sends to, such as s0-s1, which is no other host, and as"
            " destination a host of the topology"
        )

    def strike(self, network: FaultyNetwork) -> None:
        switch, _, neighbour = self.target.partition("-")
        network.forward(switch, self.destination, neighbour)


class Flooding(ForwardingFault):
    """A switch has forgotten where a host is and sends copies of its packets out of all other ports.

    Real switches do this while they know the Ethernet address of a dead host but not its port. Receivers drop
    the copies. Under flow control, copies can make pauses wait for each other in a loop even where all routes
    go up and then down.

    Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 4.2.
    """

    kind: Literal["flooding"] = "flooding"
    target: Annotated[str, Field(pattern=r"^s[0-9]+$")]
    """The switch."""

    def changes(self) -> list[tuple[int, str]]:
        return [(0, self.kind)]

    def is_there(self, topology: Topology) -> bool:
        return self.target in topology.switch_names() and self.destination in topology.host_names()

    def expected_target(self, topology: Topology) -> str:
        return "a switch, such as s0, and as destination a host of the topology"

    def strike(self, network: FaultyNetwork) -> None:
        network.flood(self.target, self.destination)
