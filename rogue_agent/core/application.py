"""A sans-IO application: transfers over a connection, on a schedule."""

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


@dataclass(frozen=True, slots=True)
class Schedule:
    """When to move what.

    The first transfer starts at `start_ns`. The next one starts when the one before has ended. There are at
    most `count` transfers, and none starts at or after `repeat_until_ns`; None lifts either limit. `verb`
    moves the bytes, in pieces of `verb_bytes` if the application has verbs of its own size.

    Two ways make an open loop, in which a transfer starts whether or not others still run. With
    `interval_ns` transfer k starts at start_ns + k * interval_ns; with size 0 that is a latency probe, which
    asks just as often while the network is slow. With `arrivals`, (instant, size) in ascending order, each
    transfer has its own instant, and nothing else of the schedule but the verb counts. Those whose numbers
    (from 0) are in `held` also wait until they are released. With `tells_arrivals` the last verb of each
    transfer carries its number to the receiver.
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
    """What became of one transfer; times are the host's, from its submission to the report of its end.

    `error` names the reason of a failure, `is_sent` says whether the NIC was given any of it before.
    `retransmitted_bytes` is for a driver that can count them, `arrived_ns` for one that learns when all of it
    was at its receiver, `waited_for` (flow and number from 1) for whoever let it start after another.
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
    """Whoever wants to know when transfers start and end, by their numbers from 1."""

    def on_start(self, transfer_id: int, now: HostNs) -> tuple[str, int] | None:
        """A transfer starts; return what it came after, if after anything."""

    def on_end(self, transfer_id: int, now: HostNs) -> None:
        """A transfer has ended, well or not."""


class Application:
    """Follows a schedule: says when the next transfer is due, and takes note when one ends.

    After a failed transfer nothing more is started: its connection is lost.
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
        """Whether a transfer has started and not ended."""
        return bool(self._running)

    @property
    def has_more(self) -> bool:
        """Whether a transfer is due, or is held and may yet be released."""
        arrivals = self._schedule.arrivals or ()
        is_held = not self._is_over and len(self.records) < len(arrivals)
        return self.next_start_ns is not None or is_held

    def begin(self, now: HostNs) -> Transfer:
        """Start the transfer that is due; the caller submits it."""
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
        """Let an arrival that was held start, though not before an instant; say whether it ever can."""
        if self._is_over:
            return False
        self._released_ns[number] = not_before_ns
        if number == len(self.records):
            self._await(not_before_ns)
        return True

    def on_transfer_done(
        self, transfer_id: int, now: HostNs, error: str | None = None, *, is_sent: bool = True
    ) -> TransferRecord:
        """A running transfer ended, well or not; `next_start_ns` says when the next one is due."""
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
        """Numbers of arrivals that nothing keeps back, and that will not start any more: say it once."""
        if not self._is_over:
            return []
        arrivals, released, held = self._schedule.arrivals or (), self._released_ns, self._schedule.held
        left = range(max(len(self.records), self._abandoned), len(arrivals))
        self._abandoned = len(arrivals)
        return [number for number in left if number not in held or number in released]

    def finish(self) -> list[TransferRecord]:
        """End the run; return the transfers that still run. They stay unfinished, without an end."""
        self._end()
        unfinished = list(self._running.values())
        self._running.clear()
        return unfinished

    def _end(self) -> None:
        self.next_start_ns = None
        self._is_over = True

    def _await(self, start_ns: HostNs) -> None:
        """Start the next transfer then, or at its arrival, unless the schedule allows no more."""
        schedule, number = self._schedule, len(self.records)
        if schedule.arrivals is not None:
            self.next_start_ns = self._arrival_ns(schedule.arrivals, number)
            return
        is_over = schedule.count is not None and number >= schedule.count
        is_late = schedule.repeat_until_ns is not None and start_ns >= schedule.repeat_until_ns
        self.next_start_ns = None if is_over or is_late else start_ns

    def _arrival_ns(self, arrivals: tuple[tuple[HostNs, int], ...], number: int) -> HostNs | None:
        """When an arrival may start; None if there is no such one, or while it is held."""
        if number >= len(arrivals):
            return None
        arrival_ns = arrivals[number][0]
        if number not in self._schedule.held:
            return arrival_ns
        released_ns = self._released_ns.get(number)
        return None if released_ns is None else max(arrival_ns, released_ns)
