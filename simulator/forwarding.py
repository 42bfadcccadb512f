"""What switches forward otherwise than by shortest paths: packets in loops, and flooded ones."""

from rogue.simulator.errors import SimulationError
from rogue.simulator.routing import Way
from rogue.simulator.topology import Topology


class Forwarding:
    """Part of a simulation. It holds for connections that are made from then on."""

    _topology: Topology

    def forward(self, switch: str, destination: str, next_hop: str) -> None:
        """Let a switch send what is for a host to a neighbour, whatever the shortest path.

        A packet that goes in a loop then is dropped after the ``ttl_hops`` of the simulation; without them
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
        self._refuse_contradiction(where, node, host, (neighbour, link))
        self._topology.tables.next_hops[node, host] = neighbour, link

    def flood(self, switch: str, destination: str) -> None:
        """Let a switch forget where a host is: it sends a copy of each packet for it out of all other ports.

        A switch does so that knows a host's Ethernet address, but not its port, as of hosts that are dead.
        Receivers drop the copies. Each copy is charged to the ingress like a frame of its own, so that
        headroom may not be enough for all of them.
        Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 4.2.
        """
        where = f"flood {switch}"
        node, host = self._switch_and_host(where, switch, destination)
        self._refuse_contradiction(where, node, host, None)
        self._topology.tables.flooding.add((node, host))

    def _switch_and_host(self, where: str, switch: str, destination: str) -> tuple[int, int]:
        if self._topology.may_reroute:
            raise SimulationError(f"{where}: expected no reroute_after_ns beside rules of switches")
        host, _ = self._topology.host(where, destination)
        return self._topology.switch(where, switch), host

    def _refuse_contradiction(self, where: str, switch: int, host: int, way: Way | None) -> None:
        """A switch does one thing with what is for a host: it sends it one ``way``, or floods it (None)."""
        tables, names = self._topology.tables, self._topology.names
        told = tables.next_hops.get((switch, host))
        if told is not None and told != way:
            before = f"forward it to {names[told[0]]!r}"
        elif way is not None and (switch, host) in tables.flooding:
            before = "flood it"
        else:
            return
        raise SimulationError(
            f"{where}: expected one rule for what is for {names[host]!r}, got a second one; "
            f"the switch was told to {before}: take one of them away"
        )
