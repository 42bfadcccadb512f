"""An extended completion queue, polled without pause: with the NIC's timestamps where it has them."""

import socket
from collections.abc import Callable, Iterator

from rogue.agent.core.clocks import NicNs
from rogue.agent.core.completions import SUCCESS, Completion
from rogue.agent.drivers.verbs.clock import NicClock, PairedClock
from rogue.agent.drivers.verbs.completion_queue import DATAGRAM, CompletionQueue, is_datagram
from rogue.agent.drivers.verbs.errors import VerbsError
from rogue.agent.drivers.verbs.pyverbs import Pyverbs

_POLL_ENTRIES = 32


class PolledQueue(CompletionQueue):
    """Asks for timestamps where the NIC has a clock, and does without where it refuses: then `clock` stamps.

    Only fields that were asked for at creation may be read; reading another one crashes the process.
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

    @property
    def handle(self) -> object:
        """The queue as pyverbs knows it."""
        return self.cq

    def drain(self) -> Iterator[list[Completion]]:
        """Hand out the entries, one list per poll, until the queue is empty."""
        while entries := self._poll():
            yield entries
            if len(entries) < _POLL_ENTRIES:
                return

    def _poll(self) -> list[Completion]:
        """Read what there is, each entry between a `start_poll` and an `end_poll` of its own.

        The queue is locked in between. Going on with `poll_next` would be cheaper, but soft-RoCE's library
        steps over an entry when that finds no more: it gives the last one back there and in `end_poll`.
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
        """The entry that is read now; of one that failed only number and status mean anything."""
        cq = self.cq
        wr_id, status = cq.wr_id, cq.status
        if stamp_ns is None:
            assert self._nic_clock is not None, "no other stamp"
            stamp_ns = self._nic_clock.of_cycles(cq.read_timestamp())
        if status != SUCCESS:
            return (wr_id, status, stamp_ns, 0, None)
        if wr_id >= DATAGRAM and is_datagram(wr_id):
            self.sources[wr_id] = cq.read_src_qp()
        has_immediate = cq.read_wc_flags() & self._with_immediate
        imm = socket.ntohl(cq.read_imm_data()) if has_immediate else None
        return (wr_id, status, stamp_ns, cq.read_byte_len(), imm)

    def close(self) -> None:
        """Destroy the queue."""
        self.cq.close()


def _nic_clock(pyverbs: Pyverbs, context: object) -> NicClock | None:
    """The NIC's clock, None if it has none."""
    try:
        return NicClock(context, pyverbs.enums.ibv_values_mask.IBV_VALUES_MASK_RAW_CLOCK, pyverbs.error)
    except VerbsError:
        return None
