"""The RoGUE connection: transfers in, verbs out, without clocks and I/O.

A driver feeds inputs (`submit`, `on_*`), carries out `actions()` in order, and arms one timer for
`next_deadline()`. The same object runs above a simulated NIC and above real verbs, and the same inputs give
the same actions.
"""

from collections.abc import Sequence

from rogue.agent.core.actions import (
    NO_TRANSFER,
    SUCCESS,
    Action,
    Completion,
    ConnectionFailed,
    PostSend,
    QueuePairFailed,
    SetRate,
    SwitchToShadow,
    status_name,
)
from rogue.agent.core.clocks import HostNs, NicNs, earlier
from rogue.agent.core.errors import NicError, PeerError
from rogue.agent.core.feedback_loop import FeedbackLoop
from rogue.agent.core.immediates import APPLICATION_MAX, batch_of, rate_immediate
from rogue.agent.core.lane import LANE_SHIFT, Lane
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.recovery import Peer, Recovery
from rogue.agent.core.segmentation import Transfer
from rogue.agent.core.settings import NO_INSTRUMENTS, Instruments, TransportSettings
from rogue.agent.core.states import Event, State, next_state
from rogue.agent.core.uc_lane import UcLane

WRITES, READS, MESSAGES = range(3)
"""Numbers of the lanes; the last one numbers messages to the peer's library, and is not a lane."""

_OPEN = State.OPEN


class Connection:
    """One connection, in the direction of its requests.

    WRITEs and SENDs share a lane; READs have another.

    Verbs of a queue pair complete in posting order. A transfer is reported once: when its last verb has
    completed, or when the queue pair has failed and no posted verb can complete any more. With a shadow, the
    other queue pair repeats the verbs that a lost one did not complete. Transfers with verbs on a lost queue
    pair are reported only after both of its ends have been reset.
    """

    def __init__(  # noqa: PLR0913 - facts of the two ends, and instruments
        self,
        settings: TransportSettings,
        link: LinkFacts,
        qp_num: int,
        *,
        tracing: bool = False,
        peer: Peer | None = None,
        instruments: Instruments = NO_INSTRUMENTS,
    ) -> None:
        self._settings = settings
        self._qp_num = qp_num
        self._tracing = tracing
        self._instruments = instruments
        self._peer = peer
        self._recovery = None if peer is None else peer.recovery(qp_num, settings)
        lane_class = UcLane if settings.has_batch_acknowledgements else Lane
        feedback = FeedbackLoop(settings, link, instruments)
        self._writes = lane_class(WRITES, qp_num, settings, feedback, tracing=tracing)
        self._reads: Lane | None = None
        self._lanes = [self._writes]
        self._state = State.OPEN
        self._actions: list[Action] = []
        self._messages = 0
        self._retired_messages = 0
        self._again_bytes = 0
        self._flush_deadline_ns: HostNs | None = None
        self._move_rate(self._writes)

    @property
    def state(self) -> State:
        """State of the connection."""
        return self._state

    @property
    def active_qp_num(self) -> int:
        """Number of the queue pair that verbs are posted to."""
        return self._qp_num if self._recovery is None else self._recovery.active_qp_num

    @property
    def inflight_bytes(self) -> int:
        """Payload bytes of batches that the driver has and that have not completed."""
        return sum(lane.inflight_bytes for lane in self._lanes)

    @property
    def is_outstanding(self) -> bool:
        """True if a posted verb has not completed and not failed."""
        return any(lane.is_outstanding for lane in self._lanes)

    @property
    def uses_limiter(self) -> bool:
        """True if the connection sets the limiter of our NIC."""
        return self._writes.feedback.uses_limiter

    def losses(self) -> dict[str, int]:
        """Return counts of detected losses of WRITEs and SENDs, by kind."""
        return self._writes.losses()

    def actions(self) -> list[Action]:
        """Return the pending actions in order, and clear them."""
        actions, self._actions = self._actions, []
        return actions

    def next_deadline(self) -> HostNs | None:
        """Return when `on_timer` must be called next, None for never.

        It waits for flushed completions, for the peer's reply about a lost queue pair, or over UC for the
        acknowledgement of a batch.
        """
        resync_ns = None if self._recovery is None else self._recovery.deadline_ns
        return earlier(earlier(self._flush_deadline_ns, resync_ns), self._writes.deadline_ns)

    def submit(self, transfer: Transfer) -> None:
        """Accept a transfer from the application; ids of unreported transfers differ."""
        assert not any(transfer.transfer_id in lane.reports for lane in self._lanes), (
            f"transfer {transfer.transfer_id} is still running"
        )
        assert transfer.size_bytes >= 0, f"transfer {transfer.transfer_id} of {transfer.size_bytes} bytes"
        assert transfer.imm is None or 0 <= transfer.imm <= APPLICATION_MAX, (
            f"transfer {transfer.transfer_id}: immediate values end at {APPLICATION_MAX:#x}"
        )
        self._enter(Event.SUBMITTED)
        lane = self._reading() if transfer.verb == "read" else self._writes
        lane.push(transfer)
        if self._state is State.OPEN:
            lane.post_batches(self._actions)
        elif self._state is State.FAILED:
            lane.clear(self._actions)

    def on_posted(self, wr_id: int, nic_ns: NicNs) -> None:
        """Record that a verb was posted; `nic_ns` is the NIC's clock just before."""
        if self._state is not _OPEN:
            self._enter(Event.POSTED)
        number = wr_id >> LANE_SHIFT
        if number == MESSAGES:
            self._writes.on_message_posted(wr_id, nic_ns)
        else:
            self._lanes[number].on_posted(wr_id, nic_ns)

    def on_post_refused(self, now: HostNs, wr_id: int) -> None:
        """Handle a verb that could not be posted; the driver drops later verbs of its list of actions."""
        lane = self._lane_of(wr_id)
        if lane is not None:
            lane.check_refused(wr_id)
        self._break(Event.REFUSED, now)
        self._end_if_empty(now)

    def on_rate_set(self, effective_bps: int | None) -> None:
        """Record the limiter's effective rate; None after a SetRate that takes effect later."""
        self._enter(Event.RATE_SET)
        self._writes.feedback.on_rate_set(effective_bps)

    def on_turn(self, has_limiter: bool) -> None:
        """Handle the loan or the revocation of a limiter, on a NIC with fewer limiters than connections.

        Without a limiter no rate is set and nothing is posted; `is_outstanding` is true until all posted
        verbs have completed. A lent limiter has another flow's rate: the rate is set first, and a hold-off
        follows.
        """
        if not has_limiter:
            self._actions = [action for action in self._actions if not isinstance(action, SetRate)]
        for lane in self._lanes:
            lane.feedback.on_turn(has_limiter=has_limiter)
        if has_limiter and self._state is State.OPEN:
            for lane in self._lanes:
                self._move_rate(lane)
                lane.post_batches(self._actions)

    def on_completions(self, now: HostNs, completions: Sequence[Completion]) -> None:
        """Handle the completions of one poll, in the order of the completion queue."""
        lanes = self._lanes
        for wr_id, status, nic_ns, _byte_len, _imm in completions:
            if status == SUCCESS and self._state is _OPEN:
                lane = lanes[wr_id >> LANE_SHIFT]
                if lane.complete(now, wr_id, nic_ns, self._actions):
                    self._move_rate(lane)
            else:
                self._on_late_or_failed(now, wr_id, status)
        if self._state is _OPEN:
            for lane in lanes:
                lane.post_batches(self._actions)

    def on_receives(self, now: HostNs, completions: Sequence[Completion]) -> None:
        """Handle receive completions of one poll: over UC, acknowledgements of the peer's library.

        Raises PeerError for any other receive.
        """
        for _wr_id, status, nic_ns, _byte_len, imm in completions:
            if status != SUCCESS:
                continue
            if imm is None or not isinstance(self._writes, UcLane):
                raise PeerError(
                    f"queue pair {self._qp_num}: got {imm}, expected the acknowledgement of a batch"
                )
            if self._writes.on_acknowledgement(now, batch_of(imm), nic_ns, self._actions):
                self._move_rate(self._writes)
        if self._state is _OPEN:
            self._writes.post_batches(self._actions)

    def on_qp_error(self, now: HostNs, qp_num: int) -> None:
        """Handle a queue pair's change to the error state; earlier completions may still be read."""
        if qp_num == self.active_qp_num and self._state is not State.STRANDED:
            self._break(Event.QP_ERROR, now)
            self._end_if_empty(now)
        elif self._recovery is not None and self._recovery.knows(qp_num):
            self._recovery.lose(now, qp_num, self._writes.receipts, self._actions)
        else:
            raise NicError(self._qp_num, f"an error of queue pair {qp_num}, which is not of this connection")

    def on_peer_message(self, payload: bytes) -> None:
        """Handle a datagram of the peer's library; raises PeerError, and does nothing, if it is invalid."""
        if self._recovery is None:
            raise PeerError(f"queue pair {self._qp_num}: got a datagram, but it has no shadow")
        self._recovery.on_peer_message(payload, self._actions)
        if self._recovery.is_settled:
            for lane in self._lanes:
                lane.reports.clear_suspicion(self._actions)
        if self._state is State.STRANDED and self._recovery.is_ready:
            self._enter(Event.RECOVERED)
            self._take_over()

    def on_timer(self, now: HostNs) -> None:
        """Handle due timers; early and obsolete calls do nothing."""
        if self._flush_deadline_ns is not None and now >= self._flush_deadline_ns:
            self._end(now, Event.TIMED_OUT)
        if self._state is State.OPEN and isinstance(self._writes, UcLane):
            self._on_acknowledgement_timer(now, self._writes)
        if self._recovery is not None and self._state is not State.FAILED:
            qp_num = self._recovery.on_timer(now, self._actions)
            if qp_num is not None:
                self._give_up(qp_num)

    def _on_acknowledgement_timer(self, now: HostNs, lane: UcLane) -> None:
        """Request an acknowledgement if one is overdue."""
        if lane.on_timer(now):
            self._move_rate(lane)
            self._post_message(lane.next_probe(self._next_message_wr_id()))

    def _reading(self) -> Lane:
        """Return the lane of READs; the first READ creates it."""
        if self._reads is None:
            assert self._settings.service == "rc", "UC has no READ"
            assert self._peer is not None, "a READ, but no facts about the NIC that responds"
            feedback = FeedbackLoop(self._settings, self._peer.link, self._instruments)
            if not self._writes.feedback.has_turn:
                feedback.on_turn(has_limiter=False)
            self._reads = Lane(READS, self._qp_num, self._settings, feedback, tracing=self._tracing)
            self._lanes.append(self._reads)
            if self._state is State.OPEN:
                self._move_rate(self._reads)
        return self._reads

    def _lane_of(self, wr_id: int) -> Lane | None:
        """Return the lane of a verb, None for a message to the peer's library."""
        number = wr_id >> LANE_SHIFT
        return None if number == MESSAGES else self._lanes[number]

    def _move_rate(self, lane: Lane) -> None:
        """Set the lane's limiter: ours, or for READs the peer's through its library."""
        rate_bps = lane.feedback.next_rate()
        if rate_bps is None:
            return
        if lane is self._writes:
            self._actions.append(SetRate(rate_bps))
        else:
            self._post_message(rate_immediate(rate_bps))
            lane.feedback.on_rate_set(lane.feedback.rounded_up(rate_bps))

    def _post_message(self, imm: int) -> None:
        """Send an immediate value to the peer's library, in a WRITE of no bytes."""
        wr_id = self._next_message_wr_id()
        self._messages += 1
        self._actions.append(PostSend(wr_id, NO_TRANSFER, 0, 0, False, "write", imm))

    def _next_message_wr_id(self) -> int:
        return (MESSAGES << LANE_SHIFT) + self._messages + 1

    def _on_late_or_failed(self, now: HostNs, wr_id: int, status: int) -> None:
        """Handle a completion that failed, or that was read after the queue pair was lost."""
        lane = self._lane_of(wr_id)
        if self._is_retired(lane, wr_id):
            return
        before = self._state
        if status == SUCCESS:
            self._enter(Event.COMPLETED)
            if before is State.BROKEN and lane is not None:
                lane.release(wr_id, self._actions)
        else:
            self._break(Event.ERRED, now)
            self._on_failing_completion(now, before, wr_id, status)
        self._end_if_empty(now)

    def _is_retired(self, lane: Lane | None, wr_id: int) -> bool:
        """True if a verb was on a queue pair that has been lost before."""
        if lane is not None:
            return lane.is_retired(wr_id)
        return wr_id - (MESSAGES << LANE_SHIFT) <= self._retired_messages

    def _on_failing_completion(self, now: HostNs, before: State, wr_id: int, status: int) -> None:
        if before is State.FAILED:
            return
        lane = self._lane_of(wr_id)
        if lane is not None:
            lane.on_failed(wr_id, status_name(status))
        if before is not State.FLUSHING:
            self._actions.append(QueuePairFailed(wr_id, status))
            if self._recovery is not None:
                self._recover(now, self._recovery)

    def _enter(self, event: Event) -> None:
        """Move to the next state; raises NicError for an event that the table does not have in this state."""
        state = next_state(self._state, event)
        if state is None:
            raise NicError(self._qp_num, f"{event.value}, although {self._state.value}")
        self._state = state

    def _break(self, event: Event, now: HostNs) -> None:
        """Enter a state after a failure; the first time, withdraw unposted verbs and wait for posted ones."""
        is_first = self._state is State.OPEN
        self._enter(event)
        if is_first:
            self._withdraw()
            self._flush_deadline_ns = HostNs(now + self._settings.flush_timeout_ns)

    def _withdraw(self) -> None:
        """Withdraw verbs that are pending or not posted."""
        self._actions = [action for action in self._actions if not isinstance(action, PostSend)]
        for lane in self._lanes:
            lane.withdraw()

    def _end_if_empty(self, now: HostNs) -> None:
        """End the queue pair once each posted verb has completed, so that none can touch memory any more."""
        if self._state in {State.BROKEN, State.FLUSHING} and not self.is_outstanding:
            self._end(now, Event.EMPTIED)

    def _end(self, now: HostNs, event: Event) -> None:
        """Activate the other queue pair, or fail: the active one is lost, and its completions are known."""
        if self._state is State.BROKEN:
            self._actions.append(QueuePairFailed(None, None))
        if self._recovery is not None:
            self._recover(now, self._recovery)
        else:
            self._enter(event)
            self._fail()

    def _recover(self, now: HostNs, recovery: Recovery) -> None:
        """Take back what did not complete, reset the lost queue pair, and continue on the other one."""
        self._flush_deadline_ns = None
        self._again_bytes += sum(lane.rewind() for lane in self._lanes)
        self._retired_messages = self._messages
        recovery.lose(now, recovery.active_qp_num, self._writes.receipts, self._actions)
        if recovery.is_ready:
            self._enter(Event.SWITCHED)
            self._take_over()
        else:
            self._enter(Event.BOTH_LOST)

    def _take_over(self) -> None:
        """Continue on the active queue pair as a new flow would start."""
        self._actions.append(SwitchToShadow(self.active_qp_num, self._again_bytes))
        self._again_bytes = 0
        for lane in self._lanes:
            self._move_rate(lane)
            lane.post_batches(self._actions)

    def _give_up(self, qp_num: int) -> None:
        """Fail all transfers: the peer did not reply about this queue pair."""
        limit_ns = self._settings.resync_limit_ns
        self._enter(Event.GAVE_UP)
        self._withdraw()
        self._actions.append(
            ConnectionFailed(f"queue pair {qp_num}: no reply to resynchronisation for {limit_ns / 1e9:g} s")
        )
        if self._recovery is not None:
            self._recovery.stop(self._actions)
        self._fail()

    def _fail(self) -> None:
        self._flush_deadline_ns = None
        for lane in self._lanes:
            lane.clear(self._actions)
