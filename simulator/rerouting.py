"""Switches that find out after a while that a link is down, and forward around it until it is back."""

from collections import Counter

from rogue.simulator._core import Engine
from rogue.simulator.control import NicControl
from rogue.simulator.errors import SimulationError
from rogue.simulator.spraying import unsprayable
from rogue.simulator.topology import Topology


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
