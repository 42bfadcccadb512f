"""A sans-IO application: one transfer at a time over a Connection, on a schedule, with a record of each."""

from dataclasses import dataclass
from typing import Literal, get_args

from rogue_agent.core.actions import Verb
from rogue_agent.core.clocks import HostNs
from rogue_agent.core.errors import SettingsError
from rogue_agent.core.segmentation import Transfer


@dataclass(frozen=True, slots=True)
class Schedule:
    """When to move what.

    The first transfer starts at `start_ns`. The next one starts when the one before has ended; with
    `interval_ns` not before the next tick start_ns + k * interval_ns that lies after the start of the one
    before. There are at most `count` transfers, and none starts at or after `repeat_until_ns`; None lifts
    either limit. A size of 0 makes a latency probe. `verb` moves the bytes,
    in pieces of `verb_bytes` if the application has verbs of its own size.
    """

    size_bytes: int
    start_ns: HostNs
    count: int | None = 1
    repeat_until_ns: HostNs | None = None
    interval_ns: int | None = None
    verb: Verb = "write"
    verb_bytes: int | None = None

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


@dataclass(slots=True)
class TransferRecord:
    """What became of one transfer; times are the host's, from its submission to the report of its end.

    `error` names the reason of a failure. `retransmitted_bytes` is for a driver that can count them.
    """

    transfer_id: int
    size_bytes: int
    start_ns: HostNs
    end_ns: HostNs | None = None
    status: Literal["ok", "error", "unfinished"] = "unfinished"
    error: str | None = None
    retransmitted_bytes: int | None = None


class Application:
    """Follows a schedule: says when the next transfer is due, and takes note when one ends.

    After a failed transfer nothing more is started: its connection is lost.
    """

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._running: TransferRecord | None = None
        self.records: list[TransferRecord] = []
        self.next_start_ns: HostNs | None = schedule.start_ns
        self._limit_start()

    def begin(self, now: HostNs) -> Transfer:
        """Start the transfer that is due; the caller submits it."""
        assert self.next_start_ns is not None, "begin() while no transfer is due"
        self.next_start_ns = None
        self._running = TransferRecord(len(self.records) + 1, self._schedule.size_bytes, now)
        self.records.append(self._running)
        schedule = self._schedule
        return Transfer(
            self._running.transfer_id,
            self._running.size_bytes,
            verb=schedule.verb,
            verb_bytes=schedule.verb_bytes,
        )

    def on_transfer_done(self, transfer_id: int, now: HostNs, error: str | None = None) -> TransferRecord:
        """The running transfer ended, well or not; `next_start_ns` says when the next one is due."""
        record = self._running
        assert record is not None, f"transfer {transfer_id} ended, but none was running"
        assert record.transfer_id == transfer_id, f"transfer {transfer_id} ended, not {record.transfer_id}"
        self._running = None
        record.end_ns = now
        record.error = error
        record.status = "ok" if error is None else "error"
        if error is None:
            self.next_start_ns = max(now, self._next_tick(record.start_ns))
            self._limit_start()
        return record

    def finish(self, now: HostNs) -> None:
        """End the run: a transfer that still runs stays recorded as unfinished, and no other starts."""
        self.next_start_ns = None
        if self._running is not None:
            self._running.end_ns = now
            self._running = None

    def _next_tick(self, after_ns: HostNs) -> HostNs:
        interval_ns = self._schedule.interval_ns
        if interval_ns is None:
            return after_ns
        ticks = (after_ns - self._schedule.start_ns) // interval_ns + 1
        return HostNs(self._schedule.start_ns + ticks * interval_ns)

    def _limit_start(self) -> None:
        """Cancel a start that the schedule no longer allows."""
        count, until_ns = self._schedule.count, self._schedule.repeat_until_ns
        if count is not None and len(self.records) >= count:
            self.next_start_ns = None
        if until_ns is not None and self.next_start_ns is not None and self.next_start_ns >= until_ns:
            self.next_start_ns = None
