"""Forwarding other than by shortest paths: loops, flooding and rerouting around failed links."""

from collections import Counter

from rogue.simulator._core import Engine
from rogue.simulator.control import NicControl
from rogue.simulator.errors import SimulationError
from rogue.simulator.routing import Way
from rogue.simulator.spraying import unsprayable
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


class Rerouting:
    """Which links switches leave out, and when that changes.

    All switches change at one instant: how a routing protocol converges is not modelled. Packets of one path
    keep the way that was theirs when they left; sprayed ones go on by what the next switch knows. Where
    no way is left switches send as if nothing were left out.
    """

    def __init__(self, engine: Engine, topology: Topology) -> None:
        self._engine = engine
        self._topology = topology
        self._changes: dict[int, Counter[int]] = {}  # by time (ns): by link, once more left out or once less
        self._left_out: Counter[int] = Counter()
        self._pinned: tuple[str, str] | None = None

    def require_may_leave_out(self, where: str, ends: tuple[int, int]) -> None:
        """Refuse a link of a host, and what does not go together with other ways."""
        names = [self._topology.names[end] for end in ends if end in self._topology.hosts()]
        if names:
            expected = "a link between two switches with reroute_after_ns"
            raise SimulationError(f"{where}: expected {expected}, got one of host {names[0]!r}")
        if self._topology.tables.speak_at_all():
            raise SimulationError(f"{where}: expected no rule (forward, flood) beside reroute_after_ns")
        if self._pinned is not None:
            raise SimulationError(self._refusal(where, *self._pinned))

    def leave_out(self, where: str, ends: tuple[int, int], start_ns: int, end_ns: int) -> None:
        """Leave the link between two switches out, from a time on until another."""
        self._topology.may_reroute = True
        link = self._topology.link_between(where, *ends)
        self._change(start_ns, link, 1)
        self._change(end_ns, link, -1)

    def allow(self, where: str, control: NicControl | None) -> None:
        """Raise SimulationError if a connection must keep its way, and links will be left out."""
        reason = None if control is None else unsprayable(control.name)
        if control is None or reason is None:
            return
        if self._topology.may_reroute:
            raise SimulationError(self._refusal(where, control.name, reason))
        self._pinned = control.name, reason

    @staticmethod
    def _refusal(where: str, control: str, reason: str) -> str:
        return f"{where}: expected no reroute_after_ns beside {control}, {reason}"

    def _change(self, t_ns: int, link: int, by: int) -> None:
        if t_ns not in self._changes:
            self._changes[t_ns] = Counter()
            self._engine.schedule(t_ns, self._carry_out, in_step=True)
        self._changes[t_ns][link] += by

    def _carry_out(self, now_ns: int) -> None:
        for link, by in self._changes.pop(now_ns).items():
            self._left_out[link] += by
        self._topology.reroutings += 1
        self._engine.inject("rerouting", left_out=sorted(+self._left_out))
