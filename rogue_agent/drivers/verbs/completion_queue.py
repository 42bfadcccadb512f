"""Completion queues in event mode and in polling mode."""

import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rogue.agent.core.actions import SUCCESS, Completion
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.drivers.verbs.clock import NicClock, PairedClock
from rogue.agent.drivers.verbs.pyverbs import Pyverbs, VerbsError

_DESCRIPTORS = Path("/proc/self/fd")
_EVENT_FILE = "anon_inode:[infinibandevent]"
_POLL_ENTRIES = 32

DATAGRAM = 1 << 61
"""Flag in the wr_id of datagrams; only the wr_id of other receives are larger."""
DATAGRAM_SENT = 1 << 60
_RECEIVED = range(DATAGRAM, DATAGRAM | DATAGRAM_SENT)
"""Values of the wr_id of received datagrams."""


def event_descriptors(directory: Path = _DESCRIPTORS) -> set[int]:
    """Return this process's descriptors of verbs event files, because pyverbs hides that of a channel."""
    return {int(path.name) for path in directory.iterdir() if _target(path) == _EVENT_FILE}


def _target(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""


class CompletionQueue(ABC):
    """Source of completions; `stamp` is the clock of their timestamps.

    `sources` maps the wr_id of a datagram's receive to its source queue pair. `mode` and `clock_name` are
    part of every result. `cq` is the queue as pyverbs knows it.
    """

    mode: str
    cq: Any
    clock_name: str
    stamp: Callable[[], NicNs]
    sources: dict[int, int]

    @abstractmethod
    def drain(self) -> Iterator[list[Completion]]:
        """Yield the entries, one list per poll, until the queue is empty."""

    @abstractmethod
    def close(self) -> None:
        """Destroy the queue."""


class EventQueue(CompletionQueue):
    """A plain completion queue with its channel; `descriptor` is readable when entries arrive.

    `clock` stamps the entries, because plain queues have no NIC timestamps.
    """

    mode = "event"
    clock_name = "host"

    def __init__(self, pyverbs: Pyverbs, context: object, entries: int, clock: Callable[[], NicNs]) -> None:
        self.stamp = clock
        self.sources = {}
        self._with_immediate = int(pyverbs.enums.ibv_wc_flags.IBV_WC_WITH_IMM)
        before = event_descriptors()
        self._channel = pyverbs.cq.CompChannel(context)
        new = event_descriptors() - before
        if len(new) != 1:
            raise VerbsError("ibv_create_comp_channel", f"gave {len(new)} event files, expected one")
        self.descriptor = new.pop()
        self.cq = pyverbs.cq.CQ(context, entries, None, self._channel, 0)
        self._unacknowledged = 0
        self.cq.req_notify()

    def rearm(self) -> None:
        """Consume the event that made the descriptor readable, and request the next one.

        Call this before draining, because an entry that arrives in between raises another event.
        """
        self._channel.get_cq_event(self.cq)
        self._unacknowledged += 1
        self.cq.req_notify()

    def drain(self) -> Iterator[list[Completion]]:
        """Yield the entries, one list per poll, until the queue is empty."""
        while True:
            count, entries = self.cq.poll(_POLL_ENTRIES)
            if count == 0:
                return
            now_ns = self.stamp()
            flag = self._with_immediate
            for wc in entries:
                if wc.wr_id in _RECEIVED:
                    self.sources[wc.wr_id] = wc.src_qp
            yield [
                (
                    wc.wr_id,
                    wc.status,
                    now_ns,
                    wc.byte_len,
                    socket.ntohl(wc.imm_data) if wc.wc_flags & flag else None,
                )
                for wc in entries
            ]
            if count < _POLL_ENTRIES:
                return

    def close(self) -> None:
        """Acknowledge every event, for which the destruction would wait, and destroy queue and channel."""
        self.cq.ack_events(self._unacknowledged)
        self.cq.close()
        self._channel.close()


class PolledQueue(CompletionQueue):
    """A polled queue with NIC timestamps; without them, or if the NIC refuses, `clock` stamps the entries.

    Only fields requested at creation may be read; reading another one crashes the process.
    """

    mode = "polling"

    def __init__(self, pyverbs: Pyverbs, context: object, entries: int, clock: Callable[[], NicNs]) -> None:
        self._no_attributes = pyverbs.cq.PollCqAttr()
        self.sources = {}
        self._with_immediate = int(pyverbs.enums.ibv_wc_flags.IBV_WC_WITH_IMM)
        flags = pyverbs.enums.ibv_create_cq_wc_flags
        wanted = flags.IBV_WC_EX_WITH_BYTE_LEN | flags.IBV_WC_EX_WITH_IMM | flags.IBV_WC_EX_WITH_SRC_QP
        stamped = wanted | flags.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP
        make, attributes = pyverbs.cq.CQEX, pyverbs.cq.CqInitAttrEx
        self._nic_clock = _nic_clock(pyverbs, context)
        if self._nic_clock is not None:
            try:
                self.cq = make(context, attributes(cqe=entries, wc_flags=stamped))
            except pyverbs.error:
                self._nic_clock = None
        if self._nic_clock is None:
            self.cq = make(context, attributes(cqe=entries, wc_flags=wanted))
        self.clock_name = "host" if self._nic_clock is None else "nic"
        self.stamp = clock if self._nic_clock is None else PairedClock(self._nic_clock.now, clock).now

    def drain(self) -> Iterator[list[Completion]]:
        """Yield the entries, one list per poll, until the queue is empty."""
        while entries := self._poll():
            yield entries
            if len(entries) < _POLL_ENTRIES:
                return

    def _poll(self) -> list[Completion]:
        """Read the entries, each between one `start_poll` and `end_poll`, which lock the queue.

        `poll_next` would be cheaper, but soft-RoCE's library skips an entry at the end: it consumes the last
        one both there and in `end_poll`.
        """
        cq, entries = self.cq, list[Completion]()
        stamp_ns = None
        while len(entries) < _POLL_ENTRIES and not cq.start_poll(self._no_attributes):
            if stamp_ns is None and self._nic_clock is None:
                stamp_ns = self.stamp()
            entries.append(self._entry(stamp_ns))
            cq.end_poll()
        return entries

    def _entry(self, stamp_ns: NicNs | None) -> Completion:
        """Return the current entry; only wr_id and status of a failed one are valid."""
        cq = self.cq
        wr_id, status = cq.wr_id, cq.status
        if stamp_ns is None:
            assert self._nic_clock is not None, "no other stamp"
            stamp_ns = self._nic_clock.of_cycles(cq.read_timestamp())
        if status != SUCCESS:
            return (wr_id, status, stamp_ns, 0, None)
        if wr_id in _RECEIVED:
            self.sources[wr_id] = cq.read_src_qp()
        has_immediate = cq.read_wc_flags() & self._with_immediate
        imm = socket.ntohl(cq.read_imm_data()) if has_immediate else None
        return (wr_id, status, stamp_ns, cq.read_byte_len(), imm)

    def close(self) -> None:
        """Destroy the queue."""
        self.cq.close()


def _nic_clock(pyverbs: Pyverbs, context: object) -> NicClock | None:
    """Return the NIC's clock, None if it has none."""
    try:
        return NicClock(context, pyverbs.enums.ibv_values_mask.IBV_VALUES_MASK_RAW_CLOCK, pyverbs.error)
    except VerbsError:
        return None


@dataclass
class TimeSpent:
    """Time an end has spent, in ns of the host clock, and its numbers of events and polls."""

    rearming_ns: int = 0
    polling_ns: int = 0
    deciding_ns: int = 0
    events: int = 0
    polls: int = 0


class CompletionPump:
    """Passes each poll to `take`, and calls `on_empty` when the queue is empty."""

    def __init__(
        self,
        queue: CompletionQueue,
        clock: Callable[[], HostNs],
        take: Callable[[HostNs, list[Completion]], None],
        on_empty: Callable[[HostNs], None],
    ) -> None:
        self._queue = queue
        self._clock = clock
        self._take = take
        self._on_empty = on_empty
        self.spent = TimeSpent()

    def on_ready(self, now: HostNs) -> None:
        """Re-arm first, then drain: an entry that arrives in between raises another event."""
        assert isinstance(self._queue, EventQueue), "a polled queue has no events"
        self._queue.rearm()
        rearmed = self._clock()
        self.spent.rearming_ns += rearmed - now
        self.spent.events += 1
        self.drain(rearmed)

    def drain(self, polled: HostNs) -> None:
        """Drain the queue; `polled` is the current time."""
        spent, clock = self.spent, self._clock
        for completions in self._queue.drain():
            before = clock()
            self._take(before, completions)
            after = clock()
            spent.polling_ns += before - polled
            spent.deciding_ns += after - before
            spent.polls += 1
            polled = after
        emptied = clock()
        spent.polling_ns += emptied - polled
        self._on_empty(emptied)
        spent.deciding_ns += clock() - emptied
