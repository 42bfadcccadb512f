"""Rate limiters as software sees them, and turns when there are too few."""

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import SettingsError
from rogue.agent.core.framing import Framing, framing_named

LINE_RATE_BPS_SMALL_SEGMENTS_MAX = 40_000_000_000
"""Up to this line rate RoGUE uses its 10 Gb/s constants, above it those the paper gives for 100 Gb/s."""


@dataclass(frozen=True, slots=True)
class LinkFacts:
    """Facts of one NIC port.

    `rate_step_bps` is the granularity to which the limiter rounds a rate *up*, 0 when it is exact. Without
    a limiter the window alone paces the sender.
    """

    line_rate_bps: int
    mtu_bytes: int
    framing: str = "rocev2"
    rate_step_bps: int = 0
    has_limiter: bool = True

    def __post_init__(self) -> None:
        for key, value in (("line_rate_bps", self.line_rate_bps), ("mtu_bytes", self.mtu_bytes)):
            if value <= 0:
                raise SettingsError(key, value, "a positive number")
        framing_named(self.framing)

    @property
    def wire(self) -> Framing:
        """The packet format in use."""
        return framing_named(self.framing)

    @property
    def packet_wire_bits(self) -> int:
        """Wire size of a full packet: the unit in which a window of packets becomes a rate."""
        return 8 * self.wire.packet_wire_bytes(self.mtu_bytes)


class Limiter:
    """Decides whether a target rate is worth a write, and what to ask for.

    A write moves the rate by at most `change_max_bps`, in either direction, and never beyond the line rate.
    It is omitted when the limiter, which rounds up to its step, would end where it already is: each write
    costs a hold-off. The first write is not bounded: it installs the first window's rate before anything is
    posted.

    Source: RoGUE, section 3.3.  Test: test_limiter.py::test_worked_example.
    Deviation: the paper lets the first window out at line rate and limits what follows; software cannot
    stop after ten packets inside one 64 KiB verb, so the first rate is set before the first post.
    """

    __slots__ = ("_change_max_bps", "_is_first", "_line_rate_bps", "_step_bps")

    def __init__(self, link: LinkFacts, change_max_bps: int) -> None:
        self._line_rate_bps = link.line_rate_bps
        self._step_bps = link.rate_step_bps
        self._change_max_bps = change_max_bps
        self._is_first = True

    def restart(self) -> None:
        """The next write is not bounded and not omitted: it installs the rate of a first window once more."""
        self._is_first = True

    def request(self, target_bps: float, now_bps: int, coming_bps: int | None = None) -> int | None:
        """Return the rate to program on the way from the rate in force, None when a write changes nothing.

        `coming_bps` is what was asked for before and acts later; a rate that is no longer wanted is replaced.
        """
        rate_bps = self.preview(target_bps, now_bps, coming_bps)
        self._is_first = False
        return rate_bps

    def preview(self, target_bps: float, now_bps: int, coming_bps: int | None = None) -> int | None:
        """Return what `request` would, without asking."""
        if self._is_first:
            return self._possible(target_bps)
        low_bps, high_bps = now_bps - self._change_max_bps, now_bps + self._change_max_bps
        rate_bps = self._possible(min(max(target_bps, low_bps), high_bps))
        expected_bps = now_bps if coming_bps is None else coming_bps
        return rate_bps if self.rounded_up(rate_bps) != expected_bps else None

    def rounded_up(self, rate_bps: int) -> int:
        """Return the rate that the limiter makes of a request."""
        if self._step_bps == 0:
            return rate_bps
        return min(-(-rate_bps // self._step_bps) * self._step_bps, self._line_rate_bps)

    def _possible(self, rate_bps: float) -> int:
        """Return the nearest rate to program: at most the line rate, and not 0, which means no limit."""
        return max(1, round(min(rate_bps, self._line_rate_bps)))


TURN_NS = 10_000_000
"""How long a turn lasts at least while others wait: long beside the hold-off with which each begins."""


class Grant(NamedTuple):
    """The connection may post, with this limiter."""

    key: int
    limiter: int


class Revoke(NamedTuple):
    """The connection should post nothing more, and give its limiter back when nothing is outstanding."""

    key: int


PoolAction: TypeAlias = Grant | Revoke


class LimiterPool:
    """The limiters of one NIC, without I/O.

    A connection asks when it has something to post, rests when it has nothing more, and gives its limiter
    back when it has been asked to and nothing of it is outstanding. One that rests keeps its limiter, and is
    asked before all others. While nobody waits, nobody is asked.
    """

    def __init__(self, limiters: int, turn_ns: int = TURN_NS) -> None:
        self._turn_ns = turn_ns
        self._free = deque(range(limiters))
        self._waiting: deque[int] = deque()
        self._held: dict[int, tuple[int, HostNs]] = {}
        self._resting: dict[int, None] = {}
        self._revoked: set[int] = set()
        self._actions: list[PoolAction] = []

    @property
    def deadline_ns(self) -> HostNs | None:
        """When `on_timer` must be called: at the end of the longest turn, if a flow waits."""
        turns = [since_ns for key, (_, since_ns) in self._held.items() if key not in self._revoked]
        if len(self._waiting) <= len(self._revoked) or not turns:
            return None
        return HostNs(min(turns) + self._turn_ns)

    def take(self) -> int | None:
        """Take a limiter out of the pool until the end; None if none is free."""
        return self._free.pop() if self._free else None

    @property
    def is_empty(self) -> bool:
        """Whether every limiter has been taken out."""
        return not self._free and not self._held

    def actions(self) -> list[PoolAction]:
        """Hand out what connections must be told, in order, and forget it."""
        actions, self._actions = self._actions, []
        return actions

    def ask(self, key: int, now: HostNs) -> None:
        """A connection has something to post; asking again changes nothing.

        For one that rested a new turn begins: nobody waited meanwhile.
        """
        if key in self._resting:
            del self._resting[key]
            self._held[key] = (self._held[key][0], now)
        elif key not in self._held and key not in self._waiting:
            self._waiting.append(key)
            self._serve(now)

    def rest(self, key: int) -> None:
        """A connection that holds a limiter has nothing to post for now; saying it again changes nothing."""
        if key in self._held and key not in self._revoked:
            self._resting[key] = None
            self._disturb_resting()

    def give_back(self, key: int, now: HostNs, *, wants_more: bool) -> None:
        """A connection has nothing outstanding and leaves its limiter to others; it may queue again."""
        assert key in self._held, f"connection {key} gives back a limiter that it does not hold"
        if wants_more:
            self._waiting.append(key)
        self._free.append(self._held.pop(key)[0])
        self._forget(key)
        self._serve(now)

    def leave(self, key: int, now: HostNs) -> int | None:
        """A connection is gone, whatever it had; return the limiter that it held, which is free again."""
        if key in self._waiting:
            self._waiting.remove(key)
        if key not in self._held:
            return None
        limiter, _ = self._held.pop(key)
        self._free.append(limiter)
        self._forget(key)
        self._serve(now)
        return limiter

    def holds(self, key: int) -> bool:
        """Whether a connection has a limiter."""
        return key in self._held

    def on_timer(self, now: HostNs) -> None:
        """End turns that have lasted long enough, as many as there are connections waiting."""
        by_age = sorted(self._held, key=lambda key: self._held[key][1])
        for key in by_age:
            is_over = now >= self._held[key][1] + self._turn_ns
            if len(self._revoked) < len(self._waiting) and is_over and key not in self._revoked:
                self._revoke(key)

    def _forget(self, key: int) -> None:
        self._revoked.discard(key)
        self._resting.pop(key, None)

    def _serve(self, now: HostNs) -> None:
        while self._free and self._waiting:
            key, limiter = self._waiting.popleft(), self._free.popleft()
            self._held[key] = (limiter, now)
            self._actions.append(Grant(key, limiter))
        self._disturb_resting()

    def _disturb_resting(self) -> None:
        """Ask those that rest, the longest one first, as many as there are connections waiting."""
        while self._resting and len(self._revoked) < len(self._waiting):
            key = next(iter(self._resting))
            del self._resting[key]
            self._revoke(key)

    def _revoke(self, key: int) -> None:
        self._revoked.add(key)
        self._actions.append(Revoke(key))
