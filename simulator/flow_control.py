"""Priority flow control: settings, headroom, and deadlocks of paused ports."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from rogue.simulator.errors import SimulationError
from rogue.simulator.framing import Framing
from rogue.simulator.parameters import (
    BUFFER_BYTES_MAX,
    INTERVAL_NS_MAX,
    MTU_BYTES_MAX,
    require_integer,
    require_positive,
)

PRIORITIES = 8
CONTROL_PRIORITY: Final = PRIORITIES - 1
"""Priority of the headers of trimmed packets, and of acknowledgements of transports that use trimming."""
PAUSE_FRAME_BYTES = 64
"""The smallest Ethernet frame. Source: IEEE 802.3, annex 31D (MAC control PFC operation)."""
QUANTUM_BITS = 512
QUANTA_MAX = 65_535
"""Largest pause time in units of 512 bit times. Source: IEEE 802.3, annex 31B."""


@dataclass(frozen=True, slots=True)
class PriorityFlowControl:
    """Flow control of a switch and its neighbours for the lossless ``priorities``.

    A frame that must wait is charged to its ingress link, per priority. It goes to the shared buffer if that
    link then has at most ``xoff_bytes`` there or, without that, at most ``alpha`` times the free buffer.
    Otherwise it goes to the headroom of its link and priority, and the far end must pause: until it is
    resumed, or for ``pause_ns``, repeated every ``refresh_ns`` while the reason lasts. It is resumed when the
    headroom is empty and the rest is ``xon_gap_bytes`` below the threshold (default: two of the largest
    frames), or zero.

    ``headroom_bytes`` is per link and priority; by default it follows from the link, for connections of at
    most ``mtu_bytes``. The far end obeys at once but finishes the current frame. Pause frames are never lost.

    With ``watchdog_ns`` a port to a host that has been paused for this time drops its waiting and arriving
    frames, until it has not been paused for ``watchdog_restore_ns``.
    Source: IEEE 802.1Qbb-2011; Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 6.2
    (alpha 1/16); switch-mmu.cc of HPCC's simulator (resuming).
    """

    priorities: tuple[int, ...] = (0,)
    xoff_bytes: int | None = None
    alpha: float = 1 / 16
    xon_gap_bytes: int | None = None
    headroom_bytes: int | None = None
    mtu_bytes: int = 1024
    pause_ns: int | None = None
    refresh_ns: int | None = None
    watchdog_ns: int | None = None
    watchdog_restore_ns: int = 200_000_000

    def arguments(self, where: str, framing: Framing, buffer_bytes: int | None) -> dict[str, object]:
        """Return the engine's arguments; raise SimulationError for invalid values."""
        self._check_priorities(where)
        self._check_times(where)
        self._check_sizes(where, buffer_bytes)
        gap_bytes = 2 * self.frame_bytes_max(framing) if self.xon_gap_bytes is None else self.xon_gap_bytes
        if self.xoff_bytes is not None and gap_bytes >= self.xoff_bytes:
            raise SimulationError(
                f"{where}: expected xon_gap_bytes below xoff_bytes, {self.xoff_bytes}, got {gap_bytes}"
            )
        return {
            "priorities": sum(1 << priority for priority in self.priorities),
            "xoff_bytes": self.xoff_bytes,
            "alpha": require_positive(where, "alpha", self.alpha),
            "xon_gap_bytes": gap_bytes,
            "duration_ns": self.pause_ns,
            "refresh_every_ns": None if self.pause_ns is None else self._refresh_ns(),
            "watchdog_after_ns": self.watchdog_ns,
            "watchdog_restore_ns": self.watchdog_restore_ns,
        }

    def frame_bytes_max(self, framing: Framing) -> int:
        """Return the largest frame of a connection: the first and only one of a WRITE with immediate."""
        overhead_bytes = framing.first_overhead_bytes + framing.immediate_overhead_bytes
        return self.mtu_bytes + framing.data_overhead_bytes + overhead_bytes

    def headroom_of(self, where: str, framing: Framing, rate_bps: int, delay_ps: int) -> int:
        """Return the headroom of one priority of a link, in bytes."""
        self._check_pause(where, framing, rate_bps)
        if self.headroom_bytes is not None:
            return self.headroom_bytes
        return headroom_bytes(framing, self.frame_bytes_max(framing), rate_bps, delay_ps)

    def _check_pause(self, where: str, framing: Framing, rate_bps: int) -> None:
        """Require that a pause lasts until it is refreshed, even if the refresh waits for a frame."""
        if self.pause_ns is None:
            return
        most_ns = QUANTA_MAX * QUANTUM_BITS * 10**9 // rate_bps
        frame_ns = -(-framing.wire_bytes(self.frame_bytes_max(framing)) * 8 * 10**9 // rate_bps)
        require_integer(f"{where}, with its quanta and frames", "pause_ns", self.pause_ns, 0, most_ns)
        if self.pause_ns < self._refresh_ns() + frame_ns:
            raise SimulationError(
                f"{where}: expected refresh_ns up to {self.pause_ns - frame_ns}, so that no pause ends "
                f"while a frame of {frame_ns} ns keeps it from being refreshed, got {self._refresh_ns()}"
            )

    def _refresh_ns(self) -> int:
        assert self.pause_ns is not None
        return self.pause_ns // 2 if self.refresh_ns is None else self.refresh_ns

    def _check_priorities(self, where: str) -> None:
        known = set(range(PRIORITIES))
        if not self.priorities or len(set(self.priorities) & known) != len(self.priorities):
            raise SimulationError(
                f"{where}: expected priorities as different numbers from 0 to 7, got {self.priorities!r}"
            )

    def _check_times(self, where: str) -> None:
        if self.watchdog_ns is not None:
            require_integer(where, "watchdog_ns", self.watchdog_ns, 1, INTERVAL_NS_MAX)
        require_integer(where, "watchdog_restore_ns", self.watchdog_restore_ns, 1, INTERVAL_NS_MAX)
        if self.pause_ns is None:
            if self.refresh_ns is not None:
                raise SimulationError(f"{where}: expected pause_ns together with refresh_ns")
            return
        require_integer(where, "pause_ns", self.pause_ns, 2, INTERVAL_NS_MAX)
        require_integer(where, "refresh_ns", self._refresh_ns(), 1, self.pause_ns - 1)

    def _check_sizes(self, where: str, buffer_bytes: int | None) -> None:
        require_integer(where, "mtu_bytes", self.mtu_bytes, 1, MTU_BYTES_MAX)
        for name in ("xoff_bytes", "xon_gap_bytes", "headroom_bytes"):
            if getattr(self, name) is not None:
                require_integer(where, name, getattr(self, name), 0, BUFFER_BYTES_MAX)
        if self.xoff_bytes is None and buffer_bytes is None:
            raise SimulationError(
                f"{where}: expected xoff_bytes or buffer_bytes: alpha needs a buffer of which it is a share"
            )


def headroom_bytes(framing: Framing, frame_bytes_max: int, rate_bps: int, delay_ps: int) -> int:
    """Return the bytes that may still arrive over a link above its threshold.

    The frame that exceeded it; one that has just begun in the other direction, for which the pause frame
    waits; the pause frame; the bytes on the cable in both directions; one that has just begun when the pause
    frame arrives.
    Source: IEEE 802.1Qbb-2011, annex on buffer requirements; with a far end that reacts at once.
    """
    frame_wire_bytes = framing.wire_bytes(frame_bytes_max)
    on_cable_bytes = -(-2 * delay_ps * rate_bps // (8 * 10**12))
    return 3 * frame_wire_bytes + framing.wire_bytes(PAUSE_FRAME_BYTES) + on_cable_bytes


@dataclass(slots=True)
class _Switch:
    """The flow control of a switch, and what headroom leaves of its buffer."""

    name: str
    flow_control: PriorityFlowControl | None
    room_bytes: int | None
    is_input_queued: bool
    """Its links have separate buffers."""


class FlowControls:
    """The flow control of all switches of a network, by number of node, and the headroom of their links."""

    def __init__(self, framing: Framing) -> None:
        self._framing = framing
        self._switches: dict[int, _Switch] = {}
        self._mtu_bytes_max: int | None = None  # of packets; None: headroom was not set aside for a size

    def add(
        self,
        node: int,
        name: str,
        flow_control: PriorityFlowControl | None,
        buffer_bytes: int | None,
        *,
        is_input_queued: bool = False,
    ) -> None:
        """Add a switch; the links of an input-queued one have separate buffers."""
        self._switches[node] = _Switch(name, flow_control, buffer_bytes, is_input_queued)
        if flow_control is not None and flow_control.headroom_bytes is None:
            before_bytes = self._mtu_bytes_max or flow_control.mtu_bytes
            self._mtu_bytes_max = min(before_bytes, flow_control.mtu_bytes)

    def has(self, node: int) -> bool:
        """True if a node is a switch with flow control."""
        return node in self._switches and self._switches[node].flow_control is not None

    def headrooms(self, where: str, a: int, b: int, rate_bps: int, delay_ps: int) -> tuple[int, int]:
        """Return the headroom per priority of a new link, at both ends."""
        ends = self._switches.get(a), self._switches.get(b)
        if all(ends) and self.has(a) != self.has(b):
            raise SimulationError(f"{where}: expected flow control in both switches or in none")
        return (
            self._headroom(where, ends[0], rate_bps, delay_ps),
            self._headroom(where, ends[1], rate_bps, delay_ps),
        )

    def set_aside(self, node: int, headroom_bytes: int) -> None:
        """Subtract a new link's headroom from the buffer of its switch, unless that is input-queued."""
        switch = self._switches.get(node)
        if switch is None or switch.flow_control is None or switch.room_bytes is None:
            return
        if not switch.is_input_queued:
            switch.room_bytes -= headroom_bytes * len(switch.flow_control.priorities)

    def check_mtu(self, where: str, mtu_bytes: int) -> None:
        """Refuse packets larger than those for which headroom was set aside."""
        if self._mtu_bytes_max is not None and mtu_bytes > self._mtu_bytes_max:
            raise SimulationError(
                f"{where}: expected mtu_bytes up to that of the switches' flow control, "
                f"{self._mtu_bytes_max}, got {mtu_bytes}"
            )

    def _headroom(self, where: str, switch: _Switch | None, rate_bps: int, delay_ps: int) -> int:
        if switch is None or switch.flow_control is None:
            return 0
        flow_control = switch.flow_control
        headroom = flow_control.headroom_of(where, self._framing, rate_bps, delay_ps)
        if switch.room_bytes is not None:
            room = switch.room_bytes - headroom * len(flow_control.priorities)
            links = "this link" if switch.is_input_queued else "its links"
            if room <= 0:
                raise SimulationError(
                    f"{where}: expected a buffer of {switch.name} above the headroom of {links}, "
                    f"which needs {1 - room} bytes more"
                )
            if (flow_control.xoff_bytes or 0) > room:
                raise SimulationError(
                    f"{where}: expected xoff_bytes of {switch.name} up to its buffer less the headroom "
                    f"of {links}, {room}, got {flow_control.xoff_bytes}"
                )
        return headroom


NAMED_MAX: Final = 3
"""Number of ports to name when there is no loop."""


class Wait(NamedTuple):
    """A paused port with something to send, named ``switch->switch``.

    ``behind`` are the ports of the far end that hold frames from this port: it resumes when they do. It is
    empty if the far end is a host.
    """

    port: str
    priority: int
    behind: tuple[str, ...]


def find_deadlock(waits: Iterable[Wait]) -> list[str]:
    """Return a loop of ports that each wait for the next one; empty if there is none."""
    behind = {(wait.port, wait.priority): wait.behind for wait in waits}
    ended: set[tuple[str, int]] = set()
    for start in behind:
        path: list[tuple[str, int]] = []
        branches = [iter([start[0]])]
        while branches:
            port = next(branches[-1], None)
            if port is None:
                branches.pop()
                if path:
                    ended.add(path.pop())
                continue
            place = (port, start[1])
            if place in path:
                return [name for name, _ in path[path.index(place) :]]
            if place in behind and place not in ended:
                path.append(place)
                branches.append(iter(behind[place]))
    return []


def explained(waits: Iterable[Wait], deadlock: list[str]) -> str:
    """Describe the ports that wait for each other: a loop, or the roots of the waits first."""
    if deadlock:
        pairs = zip(deadlock, [*deadlock[1:], deadlock[0]], strict=True)
        loop = ", ".join(f"{port} waits for {behind}" for port, behind in pairs)
        return f"a deadlock, for ports wait for each other in a loop: {loop}"
    roots_first = sorted(waits, key=lambda wait: bool(wait.behind))
    words = [f"{wait.port} waits for {_names(wait.behind) or 'its host'}" for wait in roots_first]
    more = len(words) - NAMED_MAX
    rest = [f"and {more} more port{'s wait' if more > 1 else ' waits'}"] if more > 0 else []
    return ", ".join([*words[:NAMED_MAX], *rest]) or "no port is paused with something to send"


def _names(ports: tuple[str, ...]) -> str:
    return " and ".join([*ports[:NAMED_MAX], *(["others"] if len(ports) > NAMED_MAX else [])])
