"""Waiters and their causes: a waiter is free when all of its causes have happened, each after a pause."""

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

WaiterT = TypeVar("WaiterT", bound=Hashable)
CauseT = TypeVar("CauseT", bound=Hashable)


@dataclass(slots=True)
class _Wait(Generic[CauseT]):
    missing: int = 0
    not_before_ns: int = 0
    last: "CauseT | None" = None


class Waits(Generic[WaiterT, CauseT]):
    """Counts the causes that each waiter misses. A cause happens once."""

    def __init__(self) -> None:
        self._waits: dict[WaiterT, _Wait[CauseT]] = {}
        self._followers: dict[CauseT, list[tuple[WaiterT, int]]] = defaultdict(list)

    def add(self, waiter: WaiterT, cause: CauseT, pause_ns: int) -> None:
        """Let a waiter wait for a cause that has not happened yet, and for a pause after it."""
        self._followers[cause].append((waiter, pause_ns))
        self._waits.setdefault(waiter, _Wait()).missing += 1

    def __bool__(self) -> bool:
        """Whether any waiter waits."""
        return bool(self._followers)

    def is_awaited(self, cause: CauseT) -> bool:
        """Whether any waiter waits for this cause."""
        return cause in self._followers

    def on_cause(self, cause: CauseT, now_ns: int) -> list[WaiterT]:
        """Note that a cause has happened; return the waiters that it frees."""
        free: list[WaiterT] = []
        for waiter, pause_ns in self._followers.pop(cause, ()):
            wait = self._waits[waiter]
            wait.missing -= 1
            if now_ns + pause_ns >= wait.not_before_ns:
                wait.not_before_ns, wait.last = now_ns + pause_ns, cause
            if not wait.missing:
                free.append(waiter)
        return free

    def is_free(self, waiter: WaiterT) -> bool:
        """Whether all causes of a waiter have happened."""
        return not self._waits[waiter].missing

    def not_before_ns(self, waiter: WaiterT) -> int:
        """The instant at which the pauses after a waiter's causes end."""
        return self._waits[waiter].not_before_ns

    def last(self, waiter: WaiterT) -> CauseT | None:
        """The cause whose pause ended last so far; None if the waiter waits for nothing."""
        wait = self._waits.get(waiter)
        return None if wait is None else wait.last
