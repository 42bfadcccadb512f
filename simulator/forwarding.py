"""What switches forward otherwise than by shortest paths: packets in circles, and flooded ones."""

from simulator.errors import SimulationError
from simulator.topology import Topology


class Forwarding:
    """Part of a simulation. It holds for connections that are made from then on."""

    _topology: Topology

    def forward(self, switch: str, destination: str, next_hop: str) -> None:
        """Let a switch send what is for a host to a neighbour, whatever the shortest path.

        A packet that goes in a circle then is dropped after the ``ttl_hops`` of the simulation; without them
        ``connect`` refuses it.
        """
        where = f"forward {switch}"
        node, host = self._switch_and_host(where, switch, destination)
        neighbour = self._topology.node(where, next_hop)
        link = self._topology.link_between(where, node, neighbour)
        if neighbour != host and neighbour in self._topology.hosts():
            raise SimulationError(
                f"{where}: expected next_hop as a switch or {destination!r}, got {next_hop!r}"
            )
        self._topology.tables.next_hops[node, host] = neighbour, link

    def flood(self, switch: str, destination: str) -> None:
        """Let a switch forget where a host is: it sends a copy of each packet for it out of all other ports.

        So does one that knows a host's Ethernet address, but not its port, as of hosts that are dead. Whoever
        gets a copy drops it. Each is charged to the ingress like a frame of its own, so that headroom may not
        be enough for all of them.
        Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 4.2.
        """
        node, host = self._switch_and_host(f"flood {switch}", switch, destination)
        self._topology.tables.flooding.add((node, host))

    def _switch_and_host(self, where: str, switch: str, destination: str) -> tuple[int, int]:
        host, _ = self._topology.host(where, destination)
        return self._topology.switch(where, switch), host
