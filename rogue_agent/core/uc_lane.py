"""A lane over UC: completions end batches for the application, acknowledgements for the window."""

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
    """The peer's library acknowledges the immediate of each batch with another immediate.

    Acknowledgements arrive in the order of the batches. If one is missing before a later one, its batch or
    the acknowledgement was lost. The lost batches leave the window, and the congestion control gets one loss
    for all batches in flight at that time. If no acknowledgement arrives for
    max(4 * smoothed RTT, `acknowledgement_wait_ns`) after the NIC has sent a batch, everything that was sent
    leaves the window, and the window restarts. Nothing is posted until an acknowledgement arrives; the lane
    sends a *probe* for it, a WRITE of no bytes. The wait doubles up to `acknowledgement_wait_max_ns`.

    Source: RoGUE, section 3.4.  Test: test_uc_lane.py.
    Deviation: the factor for a loss (1/2), the timeout, and what a retry sends are ours.
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
        self._notified_wr_id = -1
        self._probe: Batch | None = None
        self._inferred_losses = 0
        self._acknowledgement_timeouts = 0

    def losses(self) -> dict[str, int]:
        """Return the number of lost batches, and of acknowledgement timeouts."""
        return {
            "inferred_losses": self._inferred_losses,
            "acknowledgement_timeouts": self._acknowledgement_timeouts,
        }

    @property
    def deadline_ns(self) -> HostNs | None:
        """Instant at which an acknowledgement is overdue; None without a limiter, which a probe needs."""
        return self._deadline_ns if self.feedback.has_turn else None

    @property
    def wait_ns(self) -> int:
        """Current wait for an acknowledgement.

        Test: test_uc_lane.py::test_the_wait_worked_example.
        """
        wait_ns = max(round(_SRTT_FACTOR * self._srtt_ns), self._wait_least_ns)
        return min(wait_ns << self._timeouts, max(wait_ns, self._wait_max_ns))

    def post_batches(self, actions: list[Action]) -> None:
        """Emit batches unless a probe is in flight."""
        if self._probe is None:
            super().post_batches(actions)

    def on_posted(self, wr_id: int, nic_ns: NicNs) -> None:
        """Record that a verb was posted just after this instant."""
        batch = self._unposted[0] if self._unposted else None
        super().on_posted(wr_id, nic_ns)
        if batch is not None and wr_id == batch.wr_id:
            if not self._unsignaled:
                batch.signaled_before_ns = self._signaled_ns
            self._unsignaled.append(batch)

    def complete(self, now: HostNs, wr_id: int, completed_ns: NicNs, actions: list[Action]) -> bool:
        """Record that a batch has left the NIC, and start the wait for its acknowledgement."""
        if self.release(wr_id, actions) is not None:
            self._signaled_ns = completed_ns
            if self._unsignaled:
                self._unsignaled[0].signaled_before_ns = completed_ns
            if self._deadline_ns is None:
                self._wait(now)
        return False

    def release(self, wr_id: int, actions: list[Action]) -> Batch | None:
        """Report the transfers that end in the oldest batch, which has been sent; UC guarantees no more."""
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
        """Handle an acknowledgement; return True if the congestion control may want another rate.

        A late acknowledgement of a batch that was given up has no effect. Raises PeerError for a batch that
        has not been posted, or with a negative time of flight.
        """
        self._check(ack, nic_ns)
        probe = self._probe
        if probe is not None and ack.number == probe.number:
            self._smooth(nic_ns - probe.enqueued_ns - (ack.processing_ns or 0))
            self._on_any_acknowledgement(now)
            return False
        acknowledged = self._window.pop_through(ack.number)
        if not acknowledged:
            return False
        *lost, batch = acknowledged
        self.feedback.on_acknowledged(batch.payload_bytes)
        self._inferred_losses += len(lost)
        self._on_any_acknowledgement(now)
        has_moved = bool(lost) and self._on_loss(lost[-1], batch)
        if ack.processing_ns is None:
            return has_moved
        return self._sample(now, batch, NicNs(nic_ns - ack.processing_ns), actions) or has_moved

    def _check(self, ack: BatchAcknowledgement, nic_ns: NicNs) -> None:
        """Raise PeerError for an impossible acknowledgement."""
        if any(batch.number == ack.number for batch in self._unposted):
            raise PeerError(f"got the arrival of batch {ack.number}, which has not been posted")
        for batch in self._window.batches:
            if batch.number == ack.number and nic_ns - (ack.processing_ns or 0) < batch.enqueued_ns:
                raise PeerError(f"got the arrival of batch {ack.number} before it was posted")

    def on_timer(self, now: HostNs) -> bool:
        """Return True after a timeout: the window restarts, and the caller sends a probe."""
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
        """Record that a probe was posted just after this instant."""
        if self._probe is not None and self._probe.wr_id == wr_id:
            self._probe.enqueued_ns = nic_ns

    def _take_out(self) -> list[Batch]:
        batches = [*self._unsignaled, *self._window.take_all()]
        self._unsignaled.clear()
        return batches

    def _sample(self, now: HostNs, batch: Batch, completed_ns: NicNs, actions: list[Action]) -> bool:
        """Pass an acknowledged batch to the feedback loop, and smooth accepted samples."""
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

    def _on_any_acknowledgement(self, now: HostNs) -> None:
        """Resume posting after an acknowledgement, and restart the wait for later ones."""
        self._probe = None
        self._timeouts = 0
        self._deadline_ns = None
        self._wait(now)

    def _wait(self, now: HostNs) -> None:
        """Start the wait for an acknowledgement if the NIC has sent the oldest batch."""
        if self._is_oldest_sent():
            self._deadline_ns = HostNs(now + self.wait_ns)

    def _is_oldest_sent(self) -> bool:
        """True if the oldest batch of the window has left the NIC and is not acknowledged."""
        batches = self._window.batches
        return bool(batches) and batches[0] not in self._unsignaled and batches[0] not in self._unposted

    def _on_loss(self, lost: Batch, arrived: Batch) -> bool:
        """Notify the congestion control, unless it has been notified for the same flight."""
        if lost.wr_id <= self._notified_wr_id:
            return False
        self._notified_wr_id = [arrived, *self._window.batches][-1].wr_id
        self.feedback.cc.on_loss()
        return True
