"""Rate limiters as software sees them, and the sharing of too few of them."""

from collections import deque
from dataclasses import dataclass
from enum import Enum, unique
from typing import NamedTuple, TypeAlias

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import SettingsError
from rogue.agent.core.framing import Framing, framing_named

LINE_RATE_BPS_SMALL_SEGMENTS_MAX = 40_000_000_000
"""Up to this line rate RoGUE uses its 10 Gb/s constants, above it those the paper gives for 100 Gb/s."""


@dataclass(frozen=True, slots=True)
class LinkFacts:
    """Facts of one NIC port.

    The limiter rounds a rate *up* to multiples of `rate_step_bps`, 0 for exact. Without a limiter the window
    alone paces the sender.
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
        """Wire size of a full packet, which converts a window of packets into a rate."""
        return 8 * self.wire.packet_wire_bytes(self.mtu_bytes)


class Limiter:
    """Decides whether to set a target rate, and which rate to request.

    A request changes the rate by at most `change_max_bps` and never beyond the line rate. It is omitted if
    the rounded rate would not change, because each request costs a hold-off. The first request is not
    bounded: it sets the rate of the first window before anything is posted.

    Source: RoGUE, section 3.3.  Test: test_limiter.py::test_worked_example.
    Deviation: the paper sends the first window at line rate and limits what follows. Software cannot stop
    after ten packets of a 64 KiB verb, so it sets the first rate before the first post.
    """

    __slots__ = ("_change_max_bps", "_is_first", "_line_rate_bps", "_step_bps")

    def __init__(self, link: LinkFacts, change_max_bps: int) -> None:
        self._line_rate_bps = link.line_rate_bps
        self._step_bps = link.rate_step_bps
        self._change_max_bps = change_max_bps
        self._is_first = True

    def restart(self) -> None:
        """Make the next request unbounded and unconditional: it sets the rate of a first window."""
        self._is_first = True

    def request(self, target_bps: float, now_bps: int, coming_bps: int | None = None) -> int | None:
        """Return the rate to request, given the effective rate; None if nothing would change.

        `coming_bps` is an earlier request that is not effective yet.
        """
        rate_bps = self.preview(target_bps, now_bps, coming_bps)
        self._is_first = False
        return rate_bps

    def preview(self, target_bps: float, now_bps: int, coming_bps: int | None = None) -> int | None:
        """Return what `request` would, without changing the state."""
        if self._is_first:
            return self._possible(target_bps)
        low_bps, high_bps = now_bps - self._change_max_bps, now_bps + self._change_max_bps
        rate_bps = self._possible(min(max(target_bps, low_bps), high_bps))
        expected_bps = now_bps if coming_bps is None else coming_bps
        return rate_bps if self.rounded_up(rate_bps) != expected_bps else None

    def rounded_up(self, rate_bps: int) -> int:
        """Return the effective rate of a request."""
        if self._step_bps == 0:
            return rate_bps
        return min(-(-rate_bps // self._step_bps) * self._step_bps, self._line_rate_bps)

    def _possible(self, rate_bps: float) -> int:
        """Return the nearest valid rate: at most the line rate, and at least 1, because 0 means no limit."""
        return max(1, round(min(rate_bps, self._line_rate_bps)))


TURN_NS = 10_000_000
"""Minimum turn while other flows wait; long compared to the hold-off at its start."""


@unique
class Claim(Enum):
    """Message of a connection to the owner of the limiters; the values are the bytes on a socket."""

    REQUEST = b"request"  # it has something to post
    IDLE = b"idle"  # it has nothing to post for now
    RETURN = b"return"  # after a revocation nothing of it is outstanding any more
    RETURN_AND_REQUEST = b"return and request"


class Grant(NamedTuple):
    """The connection gets this limiter and may post."""

    key: int
    limiter: int


class Revoke(NamedTuple):
    """The connection must stop posting, and return its limiter when nothing is outstanding."""

    key: int


PoolAction: TypeAlias = Grant | Revoke


class LimiterPool:
    """Shares the limiters of one NIC among connections, without I/O.

    A connection requests a limiter when it has something to post, and becomes idle when it has nothing more.
    After a revocation it returns the limiter once nothing is outstanding. An idle connection keeps its
    limiter, and is the first to be revoked. Limiters are revoked only while connections wait.
    """

    def __init__(self, limiters: int, turn_ns: int = TURN_NS) -> None:
        self._turn_ns = turn_ns
        self._free = deque(range(limiters))
        self._waiting: deque[int] = deque()
        self._held: dict[int, tuple[int, HostNs]] = {}
        self._idle: dict[int, None] = {}
        self._revoked: set[int] = set()
        self._actions: list[PoolAction] = []

    @property
    def deadline_ns(self) -> HostNs | None:
        """Instant at which `on_timer` must be called: the end of the longest turn, if a connection waits."""
        turns = [since_ns for key, (_, since_ns) in self._held.items() if key not in self._revoked]
        if len(self._waiting) <= len(self._revoked) or not turns:
            return None
        return HostNs(min(turns) + self._turn_ns)

    def take(self) -> int | None:
        """Remove a free limiter from the pool for ever; None if none is free."""
        return self._free.pop() if self._free else None

    @property
    def is_empty(self) -> bool:
        """True if every limiter has been removed."""
        return not self._free and not self._held

    def actions(self) -> list[PoolAction]:
        """Return the pending actions in order, and clear them."""
        actions, self._actions = self._actions, []
        return actions

    def on_claim(self, key: int, claim: Claim, now: HostNs) -> None:
        """Handle a message of a connection; only the holder of a limiter may return one."""
        if claim is Claim.REQUEST:
            self.ask(key, now)
        elif claim is Claim.IDLE:
            self.rest(key)
        else:
            self.give_back(key, now, wants_more=claim is Claim.RETURN_AND_REQUEST)

    def ask(self, key: int, now: HostNs) -> None:
        """Request a limiter for a connection; a repeated request changes nothing.

        An idle connection starts a new turn, because no connection has waited in the meantime.
        """
        if key in self._idle:
            del self._idle[key]
            self._held[key] = (self._held[key][0], now)
        elif key not in self._held and key not in self._waiting:
            self._waiting.append(key)
            self._serve(now)

    def rest(self, key: int) -> None:
        """Mark the holder of a limiter as idle; a repetition changes nothing."""
        if key in self._held and key not in self._revoked:
            self._idle[key] = None
            self._revoke_idle()

    def give_back(self, key: int, now: HostNs, *, wants_more: bool) -> None:
        """Take a limiter back from a connection without outstanding verbs; it may wait for another turn."""
        assert key in self._held, f"connection {key} returns a limiter that it does not hold"
        if wants_more:
            self._waiting.append(key)
        self._free.append(self._held.pop(key)[0])
        self._forget(key)
        self._serve(now)

    def leave(self, key: int, now: HostNs) -> int | None:
        """Remove a connection; return the limiter that it held, which is free again."""
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
        """True if a connection has a limiter."""
        return key in self._held

    def on_timer(self, now: HostNs) -> None:
        """Revoke limiters whose turn is over, one per waiting connection."""
        by_age = sorted(self._held, key=lambda key: self._held[key][1])
        for key in by_age:
            is_over = now >= self._held[key][1] + self._turn_ns
            if len(self._revoked) < len(self._waiting) and is_over and key not in self._revoked:
                self._revoke(key)

    def _forget(self, key: int) -> None:
        self._revoked.discard(key)
        self._idle.pop(key, None)

    def _serve(self, now: HostNs) -> None:
        while self._free and self._waiting:
            key, limiter = self._waiting.popleft(), self._free.popleft()
            self._held[key] = (limiter, now)
            self._actions.append(Grant(key, limiter))
        self._revoke_idle()

    def _revoke_idle(self) -> None:
        """Revoke limiters of idle connections, longest idle first, one per waiting connection."""
        while self._idle and len(self._revoked) < len(self._waiting):
            key = next(iter(self._idle))
            del self._idle[key]
            self._revoke(key)

    def _revoke(self, key: int) -> None:
        self._revoked.add(key)
        self._actions.append(Revoke(key))
