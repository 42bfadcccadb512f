"""Who waits for what: steps that may be taken when all of their causes have happened, each after a pause."""

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
    """Counts what each waiter still misses; a cause happens once, and is forgotten then."""

    def __init__(self) -> None:
        self._waits: dict[WaiterT, _Wait[CauseT]] = {}
        self._followers: dict[CauseT, list[tuple[WaiterT, int]]] = defaultdict(list)

    def add(self, waiter: WaiterT, cause: CauseT, pause_ns: int) -> None:
        """Have somebody wait for a cause that has not happened yet, and for a pause after it."""
        self._followers[cause].append((waiter, pause_ns))
        self._waits.setdefault(waiter, _Wait()).missing += 1

    def __bool__(self) -> bool:
        """Whether anybody waits for anything."""
        return bool(self._followers)

    def is_awaited(self, cause: CauseT) -> bool:
        """Whether anybody waits for this."""
        return cause in self._followers

    def happen(self, cause: CauseT, now_ns: int) -> list[WaiterT]:
        """Take note of a cause; return who misses nothing more."""
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
        """Whether a waiter misses nothing more."""
        return not self._waits[waiter].missing

    def not_before_ns(self, waiter: WaiterT) -> int:
        """Until when the pauses of what has happened so far keep a waiter."""
        return self._waits[waiter].not_before_ns

    def last(self, waiter: WaiterT) -> CauseT | None:
        """The cause whose pause ended last so far; None for whoever waits for nothing."""
        wait = self._waits.get(waiter)
        return None if wait is None else wait.last
