"""Paths of packets: spraying, rules of switches, and rerouting around failed links."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rogue.simulator._core import Engine
from rogue.simulator.control import CONTROLS, NicControl
from rogue.simulator.errors import SimulationError
from rogue.simulator.parameters import ControlParameter, require_integer
from rogue.simulator.routing import NextHop
from rogue.simulator.topology import Topology

PATHS_MAX: Final = 2**16
"""Number of UDP source ports, which carry the entropy in RoCEv2."""


SPRAYING_PARAMETERS: Final = (
    ControlParameter("paths", 64, 1, PATHS_MAX, "entropies of a queue pair, a power of two"),
)
"""Source: uet-htsim, datacenter/main_uec.cpp (path_entropy_size), commit 40ccb05."""


@dataclass(frozen=True, slots=True)
class Spraying:
    """Each packet of a verb has one of ``paths`` entropies, whatever happened to earlier packets.

    Acknowledgements, NAKs and CNPs keep the single path of their connection, except for reliabilities whose
    acknowledgements take the path of the packet they acknowledge. With one path nothing is sprayed.
    Source: "oblivious packet spraying" of Bonato et al., arXiv 2407.21625; the order is that of uet-htsim.
    """

    paths: int = 64

    def check(self, where: str = "Spraying") -> None:
        """Raise SimulationError for an invalid number of paths."""
        paths = require_integer(where, "paths", self.paths, 1, PATHS_MAX)
        if paths & (paths - 1):
            expected = f"paths as a power of two from 1 to {PATHS_MAX}"
            raise SimulationError(
                f"{where}: expected {expected}, got {paths}", expected=expected, got=str(paths)
            )

    def arguments(self, where: str, service: str, control: NicControl | None) -> dict[str, object]:
        """Return the engine's arguments."""
        self.check(where)
        if service != "rc":
            raise SimulationError(
                f"{where}: expected service rc with spraying, got {service}, "
                "which drops a message whose packets arrive out of order"
            )
        reason = None if control is None else unsprayable(control.name)
        if control is not None and reason is not None:
            raise SimulationError(f"{where}: expected no spraying beside {control.name}, {reason}")
        return {"spray_paths": self.paths}


def with_selectors(
    where: str, spraying: Spraying | None, service: str, control: NicControl | None
) -> Spraying:
    """Return the spraying of a connection where switch controls choose: one entropy by default."""
    reason = None if control is None else unsprayable(control.name)
    if service != "rc" or reason is not None:
        of = f"service {service}, which drops a message whose packets arrive out of order"
        got = of if control is None or reason is None else f"{control.name}, {reason}"
        raise SimulationError(f"{where}: expected a connection whose packets may take many paths, got {got}")
    return spraying or Spraying(paths=1)


def unsprayable(control: str) -> str | None:
    """Return why packets of a NIC's congestion control must keep one path; None if they need not."""
    kind = CONTROLS.get(control)
    if kind is None:
        return None  # the engine says which there are
    if kind.wants_feedback:
        return "whose switches send feedback along the reverse path of the packets"
    if kind.wants_telemetry:
        return "which compares the telemetry of the same ports in successive packets"
    return None


def spraying_of(values: Mapping[str, float]) -> Spraying:
    """Return the spraying that these parameters describe."""
    return Spraying(**{name: int(value) for name, value in values.items()})


class Forwarding:
    """Part of a simulation: rules of switches. A rule holds for connections that are made after it."""

    _topology: Topology

    def forward(self, switch: str, destination: str, next_hop: str) -> None:
        """Let a switch send packets for a host to a neighbour, whatever the shortest path.

        A packet in a loop is dropped after the ``ttl_hops`` of the simulation; without them ``connect``
        refuses the loop.
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
        """Let a switch flood packets for a host: it sends a copy out of every other port.

        A switch floods if it knows the Ethernet address of a host but not its port, for example of a dead
        host. Receivers drop the copies. Each copy is charged to the ingress like a separate frame, so that
        headroom may not suffice for all of them.
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

    def _refuse_contradiction(self, where: str, switch: int, host: int, hop: NextHop | None) -> None:
        """Refuse a second rule: a switch forwards packets to one ``hop``, or floods them (None)."""
        tables, names = self._topology.tables, self._topology.names
        rule = tables.next_hops.get((switch, host))
        if rule is not None and rule != hop:
            before = f"forward them to {names[rule[0]]!r}"
        elif hop is not None and (switch, host) in tables.flooding:
            before = "flood them"
        else:
            return
        raise SimulationError(
            f"{where}: expected one rule for packets to {names[host]!r}, got a second one; "
            f"the switch already has the rule to {before}: remove one of them"
        )


class Rerouting:
    """Links that switches exclude from paths, over time.

    All switches change at one instant: the convergence of a routing protocol is not modelled. Packets with a
    fixed path keep the path that they left with; for sprayed ones the next switch decides. Without any
    remaining path switches forward as if no link were excluded.
    """

    def __init__(self, engine: Engine, topology: Topology) -> None:
        self._engine = engine
        self._topology = topology
        self._changes: dict[
            int, Counter[int]
        ] = {}  # by time (ns), then by link: +1 excludes it, -1 includes it
        self._left_out: Counter[int] = Counter()
        self._pinned: tuple[str, str] | None = None

    def require_may_leave_out(self, where: str, ends: tuple[int, int]) -> None:
        """Refuse a link of a host, and simulations in which paths must not change."""
        names = [self._topology.names[end] for end in ends if end in self._topology.hosts()]
        if names:
            expected = "a link between two switches with reroute_after_ns"
            raise SimulationError(f"{where}: expected {expected}, got one of host {names[0]!r}")
        if self._topology.tables.has_rules():
            raise SimulationError(f"{where}: expected no rule (forward, flood) beside reroute_after_ns")
        if self._pinned is not None:
            raise SimulationError(self._refusal(where, *self._pinned))

    def leave_out(self, where: str, ends: tuple[int, int], start_ns: int, end_ns: int) -> None:
        """Exclude the link between two switches from `start_ns` to `end_ns`."""
        self._topology.may_reroute = True
        link = self._topology.link_between(where, *ends)
        self._change(start_ns, link, 1)
        self._change(end_ns, link, -1)

    def allow(self, where: str, control: NicControl | None) -> None:
        """Raise SimulationError if a connection must keep its path but paths will change."""
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
