"""A lane: one direction of a connection, with its transfers, window and congestion control."""

from collections.abc import Iterable
from typing import ClassVar, Final

from rogue.agent.core.actions import Action, RttSample, Trace, TransferDone
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.errors import NicError
from rogue.agent.core.feedback_loop import FeedbackLoop, SampleVerdict
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.segmentation import Segmenter, Transfer
from rogue.agent.core.settings import TransportSettings
from rogue.agent.core.window import Batch, Window

_NO_TRANSFERS: Final[frozenset[int]] = frozenset()


class Reports:
    """Transfers without a report to the application.

    A transfer with a verb on a lost queue pair must not be reported before both ends of that queue pair have
    been reset, because a late packet could overwrite memory that the application has reused. Its report is
    *held*, and with it those of all transfers that end later, because verbs complete in order.
    """

    def __init__(self) -> None:
        self._running: set[int] = set()
        self._suspect = _NO_TRANSFERS
        self._held: list[TransferDone] = []

    def __contains__(self, transfer_id: int) -> bool:
        return transfer_id in self._running

    def add(self, transfer_id: int) -> None:
        """Add a submitted transfer."""
        self._running.add(transfer_id)

    def suspect(self, transfer_ids: Iterable[int]) -> None:
        """Mark transfers with verbs on a lost queue pair."""
        self._suspect |= self._running.intersection(transfer_ids)

    def complete(self, transfer_id: int, size_bytes: int, actions: list[Action]) -> None:
        """Report a transfer that is fully acknowledged, or hold its report."""
        done = TransferDone(transfer_id, True, size_bytes)
        if self._held or transfer_id in self._suspect:
            self._held.append(done)
        else:
            self._running.remove(transfer_id)
            actions.append(done)

    def clear_suspicion(self, actions: list[Action]) -> None:
        """Report what was held: every lost queue pair has been reset on both ends."""
        self._suspect = _NO_TRANSFERS
        actions += self._held
        self._running.difference_update(done.transfer_id for done in self._held)
        self._held.clear()

    def fail(self, progress: Iterable[tuple[int, int]], sent: set[int], actions: list[Action]) -> None:
        """Report all running transfers as failed, also held ones, because their memory may not be safe.

        `progress` has (id, acknowledged bytes), of which the first entry per id counts. `sent` are transfers
        with a verb that the NIC has and that is not acknowledged.
        """
        acked_bytes = {done.transfer_id: done.acked_bytes for done in self._held}
        sent = sent | acked_bytes.keys()
        for transfer_id, offset_bytes in progress:
            acked_bytes.setdefault(transfer_id, offset_bytes)
        self._held.clear()
        for transfer_id, arrived_bytes in acked_bytes.items():
            if transfer_id in self._running:
                self._running.remove(transfer_id)
                is_sent = transfer_id in sent or arrived_bytes > 0
                actions.append(TransferDone(transfer_id, False, arrived_bytes, is_sent))


_ACCEPTED = SampleVerdict.ACCEPTED
LANE_SHIFT = 56
"""Position of the lane's number in a wr_id; in the lower bits each lane counts from 1."""


class Lane:
    """Batches of one direction from their assembly to their completion.

    Verbs of a lane complete in posting order. After a loss of the queue pair, `rewind` returns all that did
    not complete to the front of the queue. `receipts` counts the acknowledged verbs that consumed a receive
    of the peer.
    """

    segmenter_class: ClassVar[type[Segmenter]] = Segmenter

    def __init__(
        self, number: int, qp_num: int, settings: TransportSettings, feedback: FeedbackLoop, *, tracing: bool
    ) -> None:
        first_wr_id = (number << LANE_SHIFT) + 1
        verbs_max = settings.send_queue_verbs
        link: LinkFacts = feedback.link
        self._qp_num = qp_num
        self._segmenter = self.segmenter_class(
            link, settings.segment_bytes, verbs_max // settings.batches_min, first_wr_id
        )
        if settings.first_window:
            self._segmenter.cut_first(round(feedback.cc.cwnd_packets) * link.mtu_bytes)
        window_verbs = verbs_max - self.segmenter_class.extra_verbs
        self._window = Window(link.mtu_bytes, settings.segment_bytes, window_verbs, settings.batches_min)
        self._again: list[Batch] = []
        self._unposted: list[Batch] = []
        self._posted_wr_id = self._completed_wr_id = first_wr_id - 1
        self._retired_wr_id = -1
        self._has_samples = feedback.has_estimator
        self._tracing = tracing
        self.feedback = feedback
        self.reports = Reports()
        self.receipts = 0

    def losses(self) -> dict[str, int]:
        """Return counts of detected losses, by kind; only lanes over UC detect any."""
        return {}

    @property
    def inflight_bytes(self) -> int:
        """Payload bytes of batches that the driver has and that have not completed."""
        return self._window.inflight_bytes

    @property
    def is_outstanding(self) -> bool:
        """True if a posted verb has not completed and not failed."""
        return self._completed_wr_id != self._posted_wr_id

    @property
    def deadline_ns(self) -> HostNs | None:
        """Deadline of the lane's timer; only lanes over UC have one."""
        return None

    def push(self, transfer: Transfer) -> None:
        """Queue a transfer."""
        self.reports.add(transfer.transfer_id)
        self._segmenter.push(transfer)

    def post_batches(self, actions: list[Action]) -> None:
        """Emit batches while the hold-off and the window admit them."""
        again, segmenter, window, feedback = self._again, self._segmenter, self._window, self.feedback
        while (batch := again[0] if again else segmenter.peek()) is not None:
            is_idle = not window.batches
            if not (feedback.admits(is_idle) and window.has_room(batch, feedback.cc.cwnd_packets)):
                return
            if again:
                again.pop(0)
            else:
                segmenter.take()
            feedback.on_post(batch, is_idle)
            if not is_idle:
                window.batches[-1].is_followed = True
            window.push(batch)
            self._unposted.append(batch)
            actions += batch.sends

    def on_posted(self, wr_id: int, nic_ns: NicNs) -> None:
        """Record that a verb was posted just after this instant."""
        if wr_id != self._posted_wr_id + 1 or not self._unposted:
            raise NicError(self._qp_num, f"verb {wr_id} posted after verb {self._posted_wr_id}")
        self._posted_wr_id = wr_id
        batch = self._unposted[0]
        if wr_id == batch.sends[0].wr_id:
            self.feedback.on_posted(batch, nic_ns)
        if wr_id == batch.wr_id:
            self._unposted.pop(0)

    def on_message_posted(self, wr_id: int, nic_ns: NicNs) -> None:
        """Record that a message to the peer's library was posted."""

    def check_refused(self, wr_id: int) -> None:
        """Raise NicError for a refused verb that was posted before."""
        if wr_id <= self._posted_wr_id:
            raise NicError(self._qp_num, f"verb {wr_id} refused after it was posted")

    def release(self, wr_id: int, actions: list[Action]) -> Batch | None:
        """Release the oldest batch from the window, and report the transfers that end in it.

        Return None for a late completion of a retired verb.
        """
        window = self._window
        if wr_id <= self._retired_wr_id:
            return None
        if not window.batches or wr_id != window.batches[0].wr_id or wr_id > self._posted_wr_id:
            raise NicError(
                self._qp_num, f"completion of verb {wr_id}, which is not the oldest signalled verb"
            )
        self._completed_wr_id = wr_id
        batch = window.pop()
        self.receipts += batch.receipts
        for transfer_id, size_bytes in batch.ended_transfers:
            self.reports.complete(transfer_id, size_bytes, actions)
        return batch

    def complete(self, now: HostNs, wr_id: int, completed_ns: NicNs, actions: list[Action]) -> bool:
        """Handle a completed signalled verb; return True if its sample was accepted."""
        batch = self.release(wr_id, actions)
        if batch is None or not self._has_samples:
            return False
        self.feedback.on_acknowledged(batch.payload_bytes)
        return self._sample(now, batch, completed_ns, actions)

    def is_retired(self, wr_id: int) -> bool:
        """True if a verb was on a lost queue pair, so that its completion does not count."""
        return wr_id <= self._retired_wr_id

    def on_failed(self, wr_id: int, status: str) -> None:
        """Record a verb that failed or was flushed."""
        if not self._completed_wr_id < wr_id <= self._posted_wr_id:
            raise NicError(self._qp_num, f"{status} of verb {wr_id}, which is not outstanding")
        self._completed_wr_id = wr_id

    def _take_out(self) -> list[Batch]:
        """Remove and return the batches that are not known to have completed."""
        return self._window.take_all()

    def _sample(self, now: HostNs, batch: Batch, completed_ns: NicNs, actions: list[Action]) -> bool:
        """Pass a completed batch to the feedback loop; return True if its sample was accepted."""
        rtt_ns, verdict = self.feedback.sample(batch, completed_ns, now, self._window.inflight_bytes)
        if self._tracing and rtt_ns is not None:
            actions.append(self._trace(now, batch, rtt_ns, verdict))
        return verdict is _ACCEPTED

    def _trace(self, now: HostNs, batch: Batch, rtt_ns: float, verdict: SampleVerdict) -> Trace:
        metrics = self.feedback.cc.metrics()
        base_rtt_ns = metrics.get("base_rtt_ns")
        sample = RttSample(
            t_ns=now,
            wr_id=batch.wr_id,
            rtt_ns=round(rtt_ns),
            base_rtt_ns=None if base_rtt_ns is None else round(base_rtt_ns),
            cwnd_packets=metrics["cwnd_packets"],
            limiter_bps=self.feedback.coming_rate_bps(),
            accepted=verdict is _ACCEPTED,
            reason=verdict._value_,
            overruled=self._window.overrules(self.feedback.cc.cwnd_packets),
        )
        return Trace(sample, rtt_ns, metrics)

    def withdraw(self) -> None:
        """Withdraw emitted batches that are not posted."""
        self._unposted.clear()

    def rewind(self) -> int:
        """Queue what did not complete on a lost queue pair again, in whole verbs with new numbers.

        Return its payload bytes.
        Source: RoGUE, section 3.5: the NIC does not report how much of a verb has arrived.
        """
        again_bytes = self._window.inflight_bytes
        batches = self._window.take_all()
        for batch in batches:
            batch.is_followed = False
        self.reports.suspect(send.transfer_id for batch in batches for send in batch.sends)
        self._unposted.clear()
        self._again[:0] = batches
        last_wr_id = self._segmenter.renumber(self._again)
        self._retired_wr_id = self._posted_wr_id = self._completed_wr_id = last_wr_id
        self.feedback.restart()
        return again_bytes

    def clear(self, actions: list[Action]) -> None:
        """Drop everything, and report each transfer as failed, with its bytes that arrived in order."""
        out = [send for batch in self._take_out() for send in batch.sends]
        again = [send for batch in self._again for send in batch.sends]
        sent = {send.transfer_id for send in out if send.wr_id <= self._posted_wr_id}
        sent.update(send.transfer_id for send in again)
        self._again.clear()
        self._unposted.clear()
        dropped = [(send.transfer_id, send.offset_bytes) for send in out + again]
        self.reports.fail(dropped + self._segmenter.clear(), sent, actions)
