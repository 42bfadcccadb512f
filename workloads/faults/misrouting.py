"""A switch that sends packets to the wrong neighbour."""

from typing import Annotated, Literal

from pydantic import Field

from rogue.workloads.faults.fault import FaultyNetwork, ForwardingFault
from rogue.workloads.topologies.topology import Topology
from rogue.workloads.traffic.pairs import HostName


class Misrouting(ForwardingFault):
    """A switch sends what is for a host to a certain neighbour, from the beginning on.

    Packets that go in a loop then are dropped after `topology.ttl_hops` links; without it the loop is
    refused.
    """

    kind: Literal["misrouting"] = "misrouting"
    target: Annotated[str, Field(pattern=r"^s[0-9]+-[hs][0-9]+$")]
    """The switch and the neighbour that it sends to, such as s0-s1."""
    destination: HostName
    """Host whose packets go there."""

    @property
    def rule(self) -> tuple[str, str]:
        """Return the switch, and the destination of the packets."""
        return self.target.partition("-")[0], self.destination

    def changes(self) -> list[tuple[int, str]]:
        """Return the beginning of the run, when the fault is there already."""
        return [(0, self.kind)]

    def is_there(self, topology: Topology) -> bool:
        """True if the topology has the target and the destination."""
        hosts, neighbour = topology.host_names(), self.target.partition("-")[2]
        is_way = neighbour == self.destination or neighbour not in hosts
        return super().is_there(topology) and self.destination in hosts and is_way

    def expected_target(self, topology: Topology) -> str:
        """Return what a target may be."""
        return (
            "a switch and the neighbour that it sends to, such as s0-s1, which is no other host, and as"
            " destination a host of the topology"
        )

    def strike(self, network: FaultyNetwork) -> None:
        """Let the switch send to that neighbour."""
        switch, _, neighbour = self.target.partition("-")
        network.forward(switch, self.destination, neighbour)
