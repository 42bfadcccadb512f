"""A lane over UC: the signal ends a batch for the application, the acknowledgement for the window."""

from collections import deque

from rogue.agent.core.actions import Action
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.errors import NicError, PeerError
from rogue.agent.core.feedback_loop import FeedbackLoop, SampleVerdict
from rogue.agent.core.immediates import BatchAcknowledgement, batch_immediate
from rogue.agent.core.lane import Lane
from rogue.agent.core.segmentation import AcknowledgedSegmenter
from rogue.agent.core.settings import TransportSettings
from rogue.agent.core.window import Batch

_ACCEPTED = SampleVerdict.ACCEPTED
_SRTT_GAIN = 1 / 8
_SRTT_FACTOR = 4


class UcLane(Lane):
    """Each batch ends with an immediate, which the peer's library acknowledges with one of its own.

    Acknowledgements come in the order of the batches. One that overtakes others says that these, or their
    acknowledgements, were lost: they leave the window, and the congestion control hears of it, once for all
    that had been handed out by then. When the NIC has sent a batch and no acknowledgement comes for
    max(4 * smoothed RTT, `acknowledgement_wait_ns`), everything that was sent leaves the window, the window
    starts anew, and nothing is posted until an acknowledgement comes, if need be of a *probe*, a WRITE of no
    bytes. The wait doubles up to `acknowledgement_wait_max_ns`.

    Source: RoGUE, section 3.4.  Test: test_uc_lane.py.
    Deviation: the paper gives neither the factor for a loss (1/2), nor the timeout, nor what a retry sends.
    """

    segmenter_class = AcknowledgedSegmenter
    _segmenter: AcknowledgedSegmenter

    def __init__(
        self, number: int, qp_num: int, settings: TransportSettings, feedback: FeedbackLoop, *, tracing: bool
    ) -> None:
        super().__init__(number, qp_num, settings, feedback, tracing=tracing)
        self._unsignaled: deque[Batch] = deque()
        self._signaled_ns: NicNs | None = None
        self._deadline_ns: HostNs | None = None
        self._wait_least_ns = settings.acknowledgement_wait_ns
        self._wait_max_ns = settings.acknowledgement_wait_max_ns
        self._timeouts = 0
        self._srtt_ns = 0.0
        self._told_wr_id = -1
        self._probe: Batch | None = None
        self._inferred_losses = 0
        self._acknowledgement_timeouts = 0

    def losses(self) -> dict[str, int]:
        """Batches that a later one's acknowledgement overtook, and how often none came at all."""
        return {
            "inferred_losses": self._inferred_losses,
            "acknowledgement_timeouts": self._acknowledgement_timeouts,
        }

    @property
    def deadline_ns(self) -> HostNs | None:
        """When an acknowledgement is overdue; without a limiter nobody could ask for it."""
        return self._deadline_ns if self.feedback.has_turn else None

    @property
    def wait_ns(self) -> int:
        """How long an acknowledgement is waited for at present.

        Test: test_uc_lane.py::test_the_wait_worked_example.
        """
        wait_ns = max(round(_SRTT_FACTOR * self._srtt_ns), self._wait_least_ns)
        return min(wait_ns << self._timeouts, max(wait_ns, self._wait_max_ns))

    def post_batches(self, actions: list[Action]) -> None:
        """Hand out batches while nothing forbids it."""
        if self._probe is None:
            super().post_batches(actions)

    def on_posted(self, wr_id: int, nic_ns: NicNs) -> None:
        """A verb was posted just after this instant."""
        batch = self._unposted[0] if self._unposted else None
        super().on_posted(wr_id, nic_ns)
        if batch is not None and wr_id == batch.wr_id:
            if not self._unsignaled:
                batch.signaled_before_ns = self._signaled_ns
            self._unsignaled.append(batch)

    def complete(self, now: HostNs, wr_id: int, completed_ns: NicNs, actions: list[Action]) -> bool:
        """The last byte of a batch has left the NIC: from now on its acknowledgement may be missing."""
        if self.release(wr_id, actions) is not None:
            self._signaled_ns = completed_ns
            if self._unsignaled:
                self._unsignaled[0].signaled_before_ns = completed_ns
            if self._deadline_ns is None:
                self._wait(now)
        return False

    def release(self, wr_id: int, actions: list[Action]) -> Batch | None:
        """The oldest batch has been sent, and UC promises no more: report the transfers that end in it."""
        if not self._unsignaled or wr_id != self._unsignaled[0].wr_id:
            raise NicError(
                self._qp_num, f"completion of verb {wr_id}, which is not the oldest signalled verb"
            )
        self._completed_wr_id = wr_id
        batch = self._unsignaled.popleft()
        for transfer_id, size_bytes in batch.ended_transfers:
            self.reports.complete(transfer_id, size_bytes, actions)
        return batch

    def on_acknowledgement(
        self, now: HostNs, ack: BatchAcknowledgement, nic_ns: NicNs, actions: list[Action]
    ) -> bool:
        """The peer's library acknowledged a batch; return whether congestion control has something to say.

        An acknowledgement of a batch that was given up is too late to tell anything. One of a batch that has
        not been posted, or was under way for no time, is a lie: PeerError.
        """
        self._check(ack, nic_ns)
        probe = self._probe
        if probe is not None and ack.number == probe.number:
            self._smooth(nic_ns - probe.enqueued_ns - (ack.processing_ns or 0))
            self._on_life(now)
            return False
        acknowledged = self._window.pop_through(ack.number)
        if not acknowledged:
            return False
        *lost, batch = acknowledged
        self.feedback.on_acknowledged(batch.payload_bytes)
        self._inferred_losses += len(lost)
        self._on_life(now)
        has_moved = bool(lost) and self._on_loss(lost[-1], batch)
        if ack.processing_ns is None:
            return has_moved
        return self._sample(now, batch, NicNs(nic_ns - ack.processing_ns), actions) or has_moved

    def _check(self, ack: BatchAcknowledgement, nic_ns: NicNs) -> None:
        """Whether what a receiver says can be true."""
        if any(batch.number == ack.number for batch in self._unposted):
            raise PeerError(f"batch {ack.number} is said to have arrived, but has not been posted")
        for batch in self._window.batches:
            if batch.number == ack.number and nic_ns - (ack.processing_ns or 0) < batch.enqueued_ns:
                raise PeerError(f"batch {ack.number} is said to have arrived before it was posted")

    def on_timer(self, now: HostNs) -> bool:
        """Return whether one is overdue: then the window starts anew, and the caller sends a probe."""
        if self.deadline_ns is None or now < self.deadline_ns:
            return False
        while self._is_oldest_sent():
            self._window.pop()
        if self._probe is None:
            self.feedback.restart()
        self._timeouts += 1
        self._acknowledgement_timeouts += 1
        self._deadline_ns = HostNs(now + self.wait_ns)
        return True

    def next_probe(self, wr_id: int) -> int:
        """Return the immediate of a new probe."""
        self._probe = Batch()
        self._probe.wr_id = wr_id
        self._probe.number = self._segmenter.next_number()
        return batch_immediate(self._probe.number)

    def on_message_posted(self, wr_id: int, nic_ns: NicNs) -> None:
        """A probe was posted just after this instant."""
        if self._probe is not None and self._probe.wr_id == wr_id:
            self._probe.enqueued_ns = nic_ns

    def _take_out(self) -> list[Batch]:
        batches = [*self._unsignaled, *self._window.take_all()]
        self._unsignaled.clear()
        return batches

    def _sample(self, now: HostNs, batch: Batch, completed_ns: NicNs, actions: list[Action]) -> bool:
        """Let the feedback loop see an acknowledged batch; smooth what counted."""
        rtt_ns, verdict = self.feedback.sample(batch, completed_ns, now, self.inflight_bytes)
        if rtt_ns is None:
            return False
        if self._tracing:
            actions.append(self._trace(now, batch, rtt_ns, verdict))
        if verdict is _ACCEPTED:
            self._smooth(rtt_ns)
        return verdict is _ACCEPTED

    def _smooth(self, rtt_ns: float) -> None:
        """Smooth RTTs as TCP does. Source: RFC 6298, section 2."""
        self._srtt_ns = self._srtt_ns + _SRTT_GAIN * (rtt_ns - self._srtt_ns) if self._srtt_ns else rtt_ns

    def _on_life(self, now: HostNs) -> None:
        """An acknowledgement came: posting may go on, and the wait for younger ones starts anew."""
        self._probe = None
        self._timeouts = 0
        self._deadline_ns = None
        self._wait(now)

    def _wait(self, now: HostNs) -> None:
        """Wait for an acknowledgement if one can be expected: not for what the NIC still has to send."""
        if self._is_oldest_sent():
            self._deadline_ns = HostNs(now + self.wait_ns)

    def _is_oldest_sent(self) -> bool:
        """Whether the oldest batch of the window has left the NIC, and waits only for its acknowledgement."""
        batches = self._window.batches
        return bool(batches) and batches[0] not in self._unsignaled and batches[0] not in self._unposted

    def _on_loss(self, lost: Batch, arrived: Batch) -> bool:
        """Tell the congestion control, unless the batch belongs to a flight that it has been told of."""
        if lost.wr_id <= self._told_wr_id:
            return False
        self._told_wr_id = [arrived, *self._window.batches][-1].wr_id
        self.feedback.cc.on_loss()
        return True
