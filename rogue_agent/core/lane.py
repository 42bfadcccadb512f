"""A lane: one direction of a connection, with its transfers, window and control."""

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

_NOBODY: Final[frozenset[int]] = frozenset()


class Reports:
    """Transfers that the application still waits for.

    A transfer with a verb that was on a queue pair when this was lost must not be reported before both ends
    of that queue pair have been reset: until then a late packet could overwrite memory which the application
    has reused. It is *held*; whatever ends after it is held as well, because verbs complete in order.
    """

    def __init__(self) -> None:
        self._running: set[int] = set()
        self._suspect = _NOBODY
        self._held: list[TransferDone] = []

    def __contains__(self, transfer_id: int) -> bool:
        return transfer_id in self._running

    def add(self, transfer_id: int) -> None:
        """A transfer was submitted."""
        self._running.add(transfer_id)

    def suspect(self, transfer_ids: Iterable[int]) -> None:
        """Transfers had verbs on a queue pair that was lost."""
        self._suspect |= self._running.intersection(transfer_ids)

    def complete(self, transfer_id: int, size_bytes: int, actions: list[Action]) -> None:
        """Everything of a transfer has been acknowledged: report it, or hold its report."""
        done = TransferDone(transfer_id, True, size_bytes)
        if self._held or transfer_id in self._suspect:
            self._held.append(done)
        else:
            self._running.remove(transfer_id)
            actions.append(done)

    def clear_suspicion(self, actions: list[Action]) -> None:
        """Every lost queue pair has been reset on both ends: report what was held."""
        self._suspect = _NOBODY
        actions += self._held
        self._running.difference_update(done.transfer_id for done in self._held)
        self._held.clear()

    def fail(self, progress: Iterable[tuple[int, int]], sent: set[int], actions: list[Action]) -> None:
        """Report everything that runs as failed; `progress` has (id, acknowledged bytes), the first counts.

        `sent` are those that have a verb which was handed to the NIC and is not acknowledged.

        What is held has arrived, but nobody knows whether its memory is safe; it is failed as well.
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
"""A verb's number says from this bit on which lane it belongs to; below, each lane counts from 1."""


class Lane:
    """Batches of one direction from their assembly to their completion.

    Verbs of a lane complete in posting order. When the queue pair under them is lost, `rewind` puts all that
    did not complete back to the front of the queue. `receipts` counts the acknowledged verbs that took a
    receive from the peer.
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
        """What was found lost, by kind; only lanes over UC find out anything."""
        return {}

    @property
    def inflight_bytes(self) -> int:
        """Payload bytes of batches that were given to the driver and have not completed."""
        return self._window.inflight_bytes

    @property
    def is_outstanding(self) -> bool:
        """Whether a posted verb has neither completed nor failed."""
        return self._completed_wr_id != self._posted_wr_id

    @property
    def deadline_ns(self) -> HostNs | None:
        """When the lane wants to be called although nothing happens; only lanes over UC do."""
        return None

    def push(self, transfer: Transfer) -> None:
        """Queue a transfer."""
        self.reports.add(transfer.transfer_id)
        self._segmenter.push(transfer)

    def post_batches(self, actions: list[Action]) -> None:
        """Hand out batches while sampling and the window admit them."""
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
        """A verb was posted just after this instant."""
        if wr_id != self._posted_wr_id + 1 or not self._unposted:
            raise NicError(self._qp_num, f"verb {wr_id} posted after verb {self._posted_wr_id}")
        self._posted_wr_id = wr_id
        batch = self._unposted[0]
        if wr_id == batch.sends[0].wr_id:
            self.feedback.on_posted(batch, nic_ns)
        if wr_id == batch.wr_id:
            self._unposted.pop(0)

    def on_message_posted(self, wr_id: int, nic_ns: NicNs) -> None:
        """A message to the peer's library was posted; lanes that wait for acknowledgements care."""

    def check_refused(self, wr_id: int) -> None:
        """A verb that was posted cannot be refused any more."""
        if wr_id <= self._posted_wr_id:
            raise NicError(self._qp_num, f"verb {wr_id} refused after it was posted")

    def release(self, wr_id: int, actions: list[Action]) -> Batch | None:
        """Take the oldest batch out of the window, and report the transfers that end in it.

        None for a late word about a verb that is retired.
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
        """A signalled verb completed; return whether the congestion control has accepted a sample."""
        batch = self.release(wr_id, actions)
        if batch is None or not self._has_samples:
            return False
        self.feedback.on_acknowledged(batch.payload_bytes)
        return self._sample(now, batch, completed_ns, actions)

    def is_retired(self, wr_id: int) -> bool:
        """Whether a verb was on a queue pair that has been given up, so that its completion means nothing."""
        return wr_id <= self._retired_wr_id

    def on_failed(self, wr_id: int, status: str) -> None:
        """A verb failed or was flushed."""
        if not self._completed_wr_id < wr_id <= self._posted_wr_id:
            raise NicError(self._qp_num, f"{status} of verb {wr_id}, which is not outstanding")
        self._completed_wr_id = wr_id

    def _take_out(self) -> list[Batch]:
        """Drop what was handed out and is not known to have completed; return it."""
        return self._window.take_all()

    def _sample(self, now: HostNs, batch: Batch, completed_ns: NicNs, actions: list[Action]) -> bool:
        """Let the feedback loop see a completed batch; return whether its sample counted."""
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
        """Nothing that was handed out, but not posted, will be posted."""
        self._unposted.clear()

    def rewind(self) -> int:
        """The queue pair is lost: what did not complete is posted again, whole, in order, under new numbers.

        Returns its payload bytes.
        Source: RoGUE, section 3.5: the NIC does not tell how much of a verb has arrived.
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
        """Drop everything, and report each transfer with the bytes known to have arrived in order."""
        out = [send for batch in self._take_out() for send in batch.sends]
        again = [send for batch in self._again for send in batch.sends]
        sent = {send.transfer_id for send in out if send.wr_id <= self._posted_wr_id}
        sent.update(send.transfer_id for send in again)
        self._again.clear()
        self._unposted.clear()
        dropped = [(send.transfer_id, send.offset_bytes) for send in out + again]
        self.reports.fail(dropped + self._segmenter.clear(), sent, actions)
