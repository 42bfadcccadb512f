"""A completion queue in event mode: wait on a file descriptor, re-arm, drain."""

import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path

from rogue.agent.core.clocks import NicNs
from rogue.agent.core.completions import Completion
from rogue.agent.drivers.verbs.errors import VerbsError
from rogue.agent.drivers.verbs.pyverbs import Pyverbs

_DESCRIPTORS = Path("/proc/self/fd")
_EVENT_FILE = "anon_inode:[infinibandevent]"
_POLL_ENTRIES = 32

DATAGRAM = 1 << 61
"""Set in the numbers of datagrams' verbs and receives, above which only numbers of other receives stand."""
DATAGRAM_SENT = 1 << 60
_DATAGRAM_SHIFT = 60


def is_datagram(wr_id: int) -> bool:
    """Whether this is the number of a datagram's receive."""
    return wr_id >> _DATAGRAM_SHIFT == DATAGRAM >> _DATAGRAM_SHIFT


def event_descriptors(directory: Path = _DESCRIPTORS) -> set[int]:
    """Descriptors of this process that are verbs event files; pyverbs hides which one a channel has."""
    return {int(path.name) for path in directory.iterdir() if _target(path) == _EVENT_FILE}


def _target(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""


class CompletionQueue(ABC):
    """Where completions come from. `stamp` is the clock of their timestamps.

    `sources` has the queue pair that a datagram came from, by the number of its receive. `mode` and
    `clock_name` are recorded with every result.
    """

    mode: str
    clock_name: str
    stamp: Callable[[], NicNs]
    sources: dict[int, int]

    @property
    @abstractmethod
    def handle(self) -> object:
        """The queue as pyverbs knows it."""

    @abstractmethod
    def drain(self) -> Iterator[list[Completion]]:
        """Hand out the entries, one list per poll, until the queue is empty."""

    @abstractmethod
    def close(self) -> None:
        """Destroy the queue."""


class EventQueue(CompletionQueue):
    """A plain completion queue with its channel; `descriptor` becomes readable when the queue has news.

    `clock` stamps the entries: plain queues carry no timestamp of the NIC.
    """

    mode = "event"
    clock_name = "host"

    def __init__(
        self,
        pyverbs: Pyverbs,
        context: object,
        entries: int,
        clock: Callable[[], NicNs],
    ) -> None:
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

    @property
    def handle(self) -> object:
        """The queue as pyverbs knows it."""
        return self.cq

    def rearm(self) -> None:
        """Take the event that made the descriptor readable and ask for the next one.

        To be called before draining: an entry that arrives in between raises another event.
        """
        self._channel.get_cq_event(self.cq)
        self._unacknowledged += 1
        self.cq.req_notify()

    def drain(self) -> Iterator[list[Completion]]:
        """Hand out the entries, one list per poll, until the queue is empty."""
        while True:
            count, entries = self.cq.poll(_POLL_ENTRIES)
            if count == 0:
                return
            now_ns = self.stamp()
            flag = self._with_immediate
            for wc in entries:
                if wc.wr_id >= DATAGRAM and is_datagram(wc.wr_id):
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
        """Acknowledge every event, which destroying the queue would wait for, then destroy both."""
        self.cq.ack_events(self._unacknowledged)
        self.cq.close()
        self._channel.close()
