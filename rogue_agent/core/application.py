"""A sans-IO application that submits transfers to a connection on a schedule."""

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar, get_args

from rogue.agent.core.actions import Verb
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import SettingsError
from rogue.agent.core.immediates import transfer_immediate
from rogue.agent.core.segmentation import Transfer

WaiterT = TypeVar("WaiterT", bound=Hashable)
CauseT = TypeVar("CauseT", bound=Hashable)


@dataclass(slots=True)
class _Wait(Generic[CauseT]):
    missing: int = 0
    not_before_ns: int = 0
    last: "CauseT | None" = None


class Waits(Generic[WaiterT, CauseT]):
    """Counts the open causes of each waiter; a cause happens once."""

    def __init__(self) -> None:
        self._waits: dict[WaiterT, _Wait[CauseT]] = {}
        self._followers: dict[CauseT, list[tuple[WaiterT, int]]] = defaultdict(list)

    def add(self, waiter: WaiterT, cause: CauseT, pause_ns: int) -> None:
        """Make a waiter wait for a future cause, and for a pause after it."""
        self._followers[cause].append((waiter, pause_ns))
        self._waits.setdefault(waiter, _Wait()).missing += 1

    def __bool__(self) -> bool:
        """True if any waiter waits."""
        return bool(self._followers)

    def is_awaited(self, cause: CauseT) -> bool:
        """True if any waiter waits for this cause."""
        return cause in self._followers

    def on_cause(self, cause: CauseT, now_ns: int) -> list[WaiterT]:
        """Record a cause; return the waiters that it frees."""
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
        """True if all causes of a waiter have happened."""
        return not self._waits[waiter].missing

    def not_before_ns(self, waiter: WaiterT) -> int:
        """Return the instant at which the pauses after a waiter's causes end."""
        return self._waits[waiter].not_before_ns

    def last(self, waiter: WaiterT) -> CauseT | None:
        """Return the cause whose pause ends last so far, None if the waiter waits for nothing."""
        wait = self._waits.get(waiter)
        return None if wait is None else wait.last


@dataclass(frozen=True, slots=True)
class Schedule:
    """Start instants and sizes of transfers.

    The first transfer starts at `start_ns`, and each later one when the previous one has ended. There are at
    most `count` transfers, and none starts at or after `repeat_until_ns`; None means no limit. `verb` moves
    the bytes, in verbs of `verb_bytes` if the application sets their size.

    Two kinds of open loop start transfers whether or not others still run. With `interval_ns`, transfer k
    starts at start_ns + k * interval_ns; with size 0 that is a latency probe at a constant rate. With
    `arrivals`, (instant, size) in ascending order, only these and the verb count; arrivals whose numbers
    (from 0) are in `held` also wait for their release. With `tells_arrivals` the last verb of each transfer
    carries its number to the receiver.
    """

    size_bytes: int
    start_ns: HostNs
    count: int | None = 1
    repeat_until_ns: HostNs | None = None
    interval_ns: int | None = None
    verb: Verb = "write"
    verb_bytes: int | None = None
    arrivals: tuple[tuple[HostNs, int], ...] | None = None
    held: frozenset[int] = frozenset()
    tells_arrivals: bool = False

    def __post_init__(self) -> None:
        checks = (("size_bytes", self.size_bytes, 0), ("start_ns", self.start_ns, 0))
        options = (
            ("count", self.count, 1),
            ("interval_ns", self.interval_ns, 1),
            ("verb_bytes", self.verb_bytes, 1),
        )
        for key, value, minimum in checks + options:
            if value is not None and value < minimum:
                raise SettingsError(key, value, f"at least {minimum}")
        if self.verb not in get_args(Verb):
            raise SettingsError("verb", self.verb, f"one of {', '.join(get_args(Verb))}")
        starts = [start_ns for start_ns, _ in self.arrivals or ()]
        if starts != sorted(starts) or any(size_bytes < 0 for _, size_bytes in self.arrivals or ()):
            raise SettingsError("arrivals", self.arrivals, "sizes from 0, in the order of their instants")


@dataclass(slots=True)
class TransferRecord:
    """Outcome of one transfer; times are the host's, from its submission to the report of its end.

    `error`: reason of a failure. `is_sent`: the NIC got at least its first verb. `retransmitted_bytes`: None
    if the driver cannot count them. `arrived_ns`: when all of it was at the receiver, if known. `waited_for`:
    flow and number (from 1) of the transfer it started after.
    """

    transfer_id: int
    size_bytes: int
    start_ns: HostNs
    end_ns: HostNs | None = None
    status: Literal["ok", "error", "unfinished"] = "unfinished"
    error: str | None = None
    retransmitted_bytes: int | None = None
    is_sent: bool = True
    arrived_ns: HostNs | None = None
    waited_for: tuple[str, int] | None = None


class Watcher(Protocol):
    """Observer of the starts and ends of transfers, by their numbers from 1."""

    def on_start(self, transfer_id: int, now: HostNs) -> tuple[str, int] | None:
        """Handle a start; return the transfer that it waited for, if any."""

    def on_end(self, transfer_id: int, now: HostNs) -> None:
        """Handle the end of a transfer, successful or not."""


class Application:
    """Follows a schedule: determines when the next transfer is due, and records their ends.

    After a failed transfer no other starts, because its connection is lost.
    """

    def __init__(self, schedule: Schedule, watcher: Watcher | None = None) -> None:
        self._schedule = schedule
        self._watcher = watcher
        self._running: dict[int, TransferRecord] = {}
        self._released_ns: dict[int, HostNs] = {}
        self._is_over = False
        self._abandoned = 0
        self.records: list[TransferRecord] = []
        self.is_open_loop = schedule.arrivals is not None or schedule.interval_ns is not None
        self.next_start_ns: HostNs | None = None
        self._await(schedule.start_ns)

    @property
    def is_running(self) -> bool:
        """True if a transfer has started and not ended."""
        return bool(self._running)

    @property
    def has_more(self) -> bool:
        """True if a transfer is due later, or is held and may be released."""
        arrivals = self._schedule.arrivals or ()
        is_held = not self._is_over and len(self.records) < len(arrivals)
        return self.next_start_ns is not None or is_held

    def begin(self, now: HostNs) -> Transfer:
        """Start the due transfer, and return it for submission."""
        assert self.next_start_ns is not None, "begin() while no transfer is due"
        schedule, number = self._schedule, len(self.records)
        size_bytes = schedule.size_bytes if schedule.arrivals is None else schedule.arrivals[number][1]
        record = TransferRecord(number + 1, size_bytes, now)
        self.records.append(record)
        self._running[record.transfer_id] = record
        self.next_start_ns = None
        if self.is_open_loop:
            self._await(HostNs(schedule.start_ns + len(self.records) * (schedule.interval_ns or 0)))
        if self._watcher is not None:
            record.waited_for = self._watcher.on_start(record.transfer_id, now)
        imm = transfer_immediate(record.transfer_id) if schedule.tells_arrivals else None
        verb_bytes = schedule.verb_bytes
        return Transfer(record.transfer_id, size_bytes, verb=schedule.verb, imm=imm, verb_bytes=verb_bytes)

    def release(self, number: int, not_before_ns: HostNs) -> bool:
        """Release a held arrival, to start at an instant or later; return False if none starts any more."""
        if self._is_over:
            return False
        self._released_ns[number] = not_before_ns
        if number == len(self.records):
            self._await(not_before_ns)
        return True

    def on_transfer_done(
        self, transfer_id: int, now: HostNs, error: str | None = None, *, is_sent: bool = True
    ) -> TransferRecord:
        """Record the end of a running transfer; `next_start_ns` is when the next one is due."""
        record = self._running.pop(transfer_id, None)
        assert record is not None, (
            f"transfer {transfer_id} ended, but only {list(self._running)} were running"
        )
        record.end_ns = now
        record.error = error
        record.is_sent = is_sent
        record.status = "ok" if error is None else "error"
        if error is not None:
            self._end()
        elif not self.is_open_loop:
            self._await(now)
        if self._watcher is not None:
            self._watcher.on_end(transfer_id, now)
        return record

    def abandoned(self) -> list[int]:
        """Return, once, the numbers of released arrivals that will not start any more."""
        if not self._is_over:
            return []
        arrivals, released, held = self._schedule.arrivals or (), self._released_ns, self._schedule.held
        left = range(max(len(self.records), self._abandoned), len(arrivals))
        self._abandoned = len(arrivals)
        return [number for number in left if number not in held or number in released]

    def finish(self) -> list[TransferRecord]:
        """End the run; return the transfers that still run, which stay unfinished."""
        self._end()
        unfinished = list(self._running.values())
        self._running.clear()
        return unfinished

    def _end(self) -> None:
        self.next_start_ns = None
        self._is_over = True

    def _await(self, start_ns: HostNs) -> None:
        """Schedule the next transfer for this instant, or for its arrival, if the schedule has one."""
        schedule, number = self._schedule, len(self.records)
        if schedule.arrivals is not None:
            self.next_start_ns = self._arrival_ns(schedule.arrivals, number)
            return
        is_over = schedule.count is not None and number >= schedule.count
        is_late = schedule.repeat_until_ns is not None and start_ns >= schedule.repeat_until_ns
        self.next_start_ns = None if is_over or is_late else start_ns

    def _arrival_ns(self, arrivals: tuple[tuple[HostNs, int], ...], number: int) -> HostNs | None:
        """Return when an arrival starts, None if it does not exist or is held."""
        if number >= len(arrivals):
            return None
        arrival_ns = arrivals[number][0]
        if number not in self._schedule.held:
            return arrival_ns
        released_ns = self._released_ns.get(number)
        return None if released_ns is None else max(arrival_ns, released_ns)
