"""More connections than rate limiters: they take turns, in the order in which they asked.

Source: RoGUE, section 3.3: "limits the number of active QPs to the number of rate limiters".
Deviation: the paper does not say how the others come to their turn.
"""

from collections import deque
from typing import NamedTuple, TypeAlias

from rogue.agent.core.clocks import HostNs

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
