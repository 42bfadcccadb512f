"""More connections than rate limiters: they take turns, in the order in which they asked.

Source: RoGUE, section 3.3: "limits the number of active QPs to the number of rate limiters".
Deviation: the paper does not say how the others come to their turn.
"""

from collections import deque
from typing import NamedTuple, TypeAlias

from rogue_agent.core.clocks import HostNs

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

    A connection asks when it has something to post, and gives its limiter back when it has nothing more, or
    has been asked to and nothing of it is outstanding. While nobody waits, nobody is asked.
    """

    def __init__(self, limiters: int, turn_ns: int = TURN_NS) -> None:
        self._turn_ns = turn_ns
        self._free = deque(range(limiters))
        self._waiting: deque[int] = deque()
        self._held: dict[int, tuple[int, HostNs]] = {}
        self._revoked: set[int] = set()
        self._actions: list[PoolAction] = []

    @property
    def deadline_ns(self) -> HostNs | None:
        """When `on_timer` must be called: at the end of the longest turn, if somebody waits."""
        turns = [since_ns for key, (_, since_ns) in self._held.items() if key not in self._revoked]
        if len(self._waiting) <= len(self._revoked) or not turns:
            return None
        return HostNs(min(turns) + self._turn_ns)

    def actions(self) -> list[PoolAction]:
        """Hand out what connections must be told, in order, and forget it."""
        actions, self._actions = self._actions, []
        return actions

    def ask(self, key: int, now: HostNs) -> None:
        """A connection has something to post; asking again changes nothing."""
        if key not in self._held and key not in self._waiting:
            self._waiting.append(key)
            self._serve(now)

    def give_back(self, key: int, now: HostNs, *, wants_more: bool) -> None:
        """A connection has nothing outstanding and leaves its limiter to others; it may queue again."""
        assert key in self._held, f"connection {key} gives back a limiter that it does not hold"
        limiter, _ = self._held.pop(key)
        self._revoked.discard(key)
        self._free.append(limiter)
        if wants_more:
            self._waiting.append(key)
        self._serve(now)

    def on_timer(self, now: HostNs) -> None:
        """End turns that have lasted long enough, as many as there are connections waiting."""
        by_age = sorted(self._held, key=lambda key: self._held[key][1])
        for key in by_age:
            is_over = now >= self._held[key][1] + self._turn_ns
            if len(self._revoked) < len(self._waiting) and is_over and key not in self._revoked:
                self._revoked.add(key)
                self._actions.append(Revoke(key))

    def _serve(self, now: HostNs) -> None:
        while self._free and self._waiting:
            key, limiter = self._waiting.popleft(), self._free.popleft()
            self._held[key] = (limiter, now)
            self._actions.append(Grant(key, limiter))
