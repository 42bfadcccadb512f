"""A switch that floods packets because it has forgotten a host."""

from typing import Annotated, Literal

from pydantic import Field

from rogue.workloads.faults.fault import FaultyNetwork, ForwardingFault
from rogue.workloads.topologies.topology import Topology
from rogue.workloads.traffic.pairs import HostName


class Flooding(ForwardingFault):
    """A switch has forgotten where a host is, and sends copies of what is for it out of all other ports.

    So do switches that know the Ethernet address of a host, but not its port, for as long as it is dead.
    Receivers drop the copies. Under flow control copies let pauses wait for each other in a loop even where
    all routes go up and then down.

    Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 4.2.
    """

    kind: Literal["flooding"] = "flooding"
    target: Annotated[str, Field(pattern=r"^s[0-9]+$")]
    """The switch."""
    destination: HostName
    """Host that it has forgotten."""

    @property
    def rule(self) -> tuple[str, str]:
        """Return the switch, and the destination of the packets."""
        return self.target, self.destination

    def changes(self) -> list[tuple[int, str]]:
        """Return the beginning of the run, when the fault is there already."""
        return [(0, self.kind)]

    def is_there(self, topology: Topology) -> bool:
        """True if the topology has the target and the destination."""
        return self.target in topology.switch_names() and self.destination in topology.host_names()

    def expected_target(self, topology: Topology) -> str:
        """Return what a target may be."""
        return "a switch, such as s0, and as destination a host of the topology"

    def strike(self, network: FaultyNetwork) -> None:
        """Let the switch flood what is for that host."""
        network.flood(self.target, self.destination)
