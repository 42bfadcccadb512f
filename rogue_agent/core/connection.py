"""The RoGUE connection: transfers in, verbs out, without reading a clock and without I/O.

A driver feeds inputs (`submit`, `on_*`), carries out `actions()` in order, and arms one timer for
`next_deadline()`. The same object runs above a simulated NIC and above real verbs; the same inputs give the
same actions.
"""

from collections import deque
from collections.abc import Sequence
from enum import Enum, unique
from typing import NamedTuple

from rogue_agent.core.actions import Action, PostSend, QueuePairFailed, SetRate, Trace, TransferDone
from rogue_agent.core.batch import Batch
from rogue_agent.core.clocks import HostNs, NicNs
from rogue_agent.core.completions import SUCCESS, Completion, status_name
from rogue_agent.core.control import Control, SampleVerdict
from rogue_agent.core.errors import NicError
from rogue_agent.core.link import LinkFacts
from rogue_agent.core.segmentation import Segmenter, Transfer
from rogue_agent.core.settings import TransportSettings
from rogue_agent.core.states import Event, State, next_state
from rogue_agent.core.window import Window


@unique
class QpEvent(Enum):
    """What a driver can report about a queue pair apart from completions."""

    ERROR = "the queue pair entered the error state"


@unique
class DeadlineReason(Enum):
    """What a connection waits for when it asks for a timer."""

    FLUSH = "completions of the verbs that a failed queue pair flushes"


class Deadline(NamedTuple):
    """The next instant at which `on_timer` must be called, and why."""

    host_ns: HostNs
    reason: DeadlineReason


class Connection:
    """One reliable connection in the direction of its WRITEs.

    Verbs of a queue pair complete in posting order. A transfer is reported once: when its last verb has
    completed, or when the queue pair has failed and no posted verb can complete any more.
    """

    def __init__(
        self, settings: TransportSettings, link: LinkFacts, qp_num: int, *, tracing: bool = False
    ) -> None:
        verbs_max = settings.send_queue_verbs
        self._qp_num = qp_num
        self._tracing = tracing
        self._flush_timeout_ns = settings.flush_timeout_ns
        self._segmenter = Segmenter(link, settings.segment_bytes, verbs_max // Window.BATCHES_MIN)
        self._window = Window(link.mtu_bytes, settings.segment_bytes, verbs_max)
        self._control = Control(settings, link)
        self._state = State.OPEN
        self._actions: list[Action] = []
        self._unposted: deque[Batch] = deque()
        self._unreported: set[int] = set()
        self._posted_wr_id = 0
        self._completed_wr_id = 0
        self._flush_deadline_ns: HostNs | None = None
        self._move_rate()

    @property
    def state(self) -> State:
        """Where the connection is in its life."""
        return self._state

    @property
    def inflight_bytes(self) -> int:
        """Payload bytes of batches that were given to the driver and have not completed."""
        return self._window.inflight_bytes

    def actions(self) -> list[Action]:
        """Hand out what the driver must do, in order, and forget it."""
        actions = self._actions
        if actions:
            self._actions = []
        return actions

    def next_deadline(self) -> Deadline | None:
        """Return when `on_timer` must be called next, None when no timer is needed."""
        if self._flush_deadline_ns is None:
            return None
        return Deadline(self._flush_deadline_ns, DeadlineReason.FLUSH)

    def submit(self, transfer: Transfer) -> None:
        """Take a transfer from the application; ids of unreported transfers differ."""
        assert transfer.transfer_id not in self._unreported, (
            f"transfer {transfer.transfer_id} is still running"
        )
        assert transfer.size_bytes >= 0, f"transfer {transfer.transfer_id} of {transfer.size_bytes} bytes"
        self._enter(Event.SUBMITTED)
        self._unreported.add(transfer.transfer_id)
        self._segmenter.push(transfer)
        if self._state is State.OPEN:
            self._post_batches()
        elif self._state is State.FAILED:
            self._report_lost()

    def on_posted(self, wr_id: int, nic_ns: NicNs) -> None:
        """The driver posted this verb, and had read the NIC's clock just before."""
        if self._state is not State.OPEN:
            self._enter(Event.POSTED)
        if wr_id != self._posted_wr_id + 1 or not self._unposted:
            raise NicError(self._qp_num, f"verb {wr_id} posted after verb {self._posted_wr_id}")
        self._posted_wr_id = wr_id
        batch = self._unposted[0]
        if wr_id == batch.sends[0].wr_id:
            self._control.on_posted(batch, nic_ns)
        if wr_id == batch.wr_id:
            self._unposted.popleft()

    def on_post_refused(self, now: HostNs, wr_id: int) -> None:
        """The driver could not post this verb; it must not post later ones of the same list of actions."""
        if wr_id <= self._posted_wr_id:
            raise NicError(self._qp_num, f"verb {wr_id} refused after it was posted")
        self._break(Event.REFUSED, now)
        self._fail_if_empty()

    def on_rate_set(self, effective_bps: int) -> None:
        """The limiter applies this rate from now on: the answer to SetRate, or the NIC's own doing."""
        self._enter(Event.RATE_SET)
        self._control.on_rate_set(effective_bps)

    def on_completions(self, now: HostNs, completions: Sequence[Completion]) -> None:
        """Take the completions of one poll, in the order of the completion queue."""
        for wr_id, status, nic_ns, _byte_len, _imm in completions:
            if status == SUCCESS and self._state is State.OPEN:
                batch = self._release(wr_id)
                if self._control.has_estimator:
                    self._sample(now, batch, nic_ns)
            else:
                self._on_trouble(now, wr_id, status)
        if self._state is State.OPEN:
            self._post_batches()

    def on_qp_event(self, now: HostNs, qp_num: int, event: QpEvent) -> None:
        """The queue pair changed its state; completions from before may still be read."""
        if qp_num != self._qp_num:
            raise NicError(self._qp_num, f"was told about queue pair {qp_num}")
        assert event is QpEvent.ERROR, event
        self._break(Event.QP_ERROR, now)
        self._fail_if_empty()

    def on_timer(self, now: HostNs) -> None:
        """Time has passed; calls that are early or no longer needed do nothing."""
        if self._flush_deadline_ns is not None and now >= self._flush_deadline_ns:
            self._fail(Event.TIMED_OUT)

    def _post_batches(self) -> None:
        """Hand out batches while sampling and the window admit them."""
        segmenter, window, control = self._segmenter, self._window, self._control
        while (batch := segmenter.peek()) is not None:
            is_idle = not window.batches
            if not (control.admits(is_idle=is_idle) and window.has_room(batch, control.cc.cwnd_packets)):
                return
            segmenter.take()
            control.on_post(batch, is_idle=is_idle)
            window.push(batch)
            self._unposted.append(batch)
            self._actions += batch.sends

    def _release(self, wr_id: int) -> Batch:
        """Take the oldest batch out of the window, and report the transfers that end in it."""
        window = self._window
        if not window.batches or wr_id != window.batches[0].wr_id or wr_id > self._posted_wr_id:
            raise NicError(
                self._qp_num, f"completion of verb {wr_id}, which is not the oldest signalled verb"
            )
        self._completed_wr_id = wr_id
        batch = window.pop()
        for transfer_id, size_bytes in batch.ended_transfers:
            self._unreported.remove(transfer_id)
            self._actions.append(TransferDone(transfer_id, True, size_bytes))
        return batch

    def _sample(self, now: HostNs, batch: Batch, completed_ns: NicNs) -> None:
        """Let the control see a completed batch, and follow where it wants the limiter to go."""
        rtt_ns, verdict = self._control.sample(batch, completed_ns)
        if self._tracing and rtt_ns is not None:
            limiter_bps, metrics = self._control.rate_bps, self._control.cc.metrics()
            self._actions.append(Trace(now, batch.wr_id, rtt_ns, limiter_bps, verdict.value, metrics))
        if verdict is SampleVerdict.ACCEPTED:
            self._move_rate()

    def _move_rate(self) -> None:
        rate_bps = self._control.next_rate()
        if rate_bps is not None:
            self._actions.append(SetRate(rate_bps))

    def _on_trouble(self, now: HostNs, wr_id: int, status: int) -> None:
        """A completion that failed, or that was read after the queue pair was lost."""
        before = self._state
        if status == SUCCESS:
            self._enter(Event.COMPLETED)
            if before is State.BROKEN:
                self._release(wr_id)
        else:
            self._break(Event.ERRED, now)
            self._on_failing_completion(before, wr_id, status)
        self._fail_if_empty()

    def _on_failing_completion(self, before: State, wr_id: int, status: int) -> None:
        if before is State.FAILED:
            return
        if not self._completed_wr_id < wr_id <= self._posted_wr_id:
            raise NicError(self._qp_num, f"{status_name(status)} of verb {wr_id}, which is not outstanding")
        self._completed_wr_id = wr_id
        if before is not State.FLUSHING:
            self._actions.append(QueuePairFailed(wr_id, status))

    def _enter(self, event: Event) -> None:
        """Move to the next state; an event that is not in the table for this state is a driver's mistake."""
        state = next_state(self._state, event)
        if state is None:
            raise NicError(self._qp_num, f"{event.value}, although {self._state.value}")
        self._state = state

    def _break(self, event: Event, now: HostNs) -> None:
        """Enter a state after a failure; the first time, withdraw what is not posted and wait for what is."""
        is_first = self._state is State.OPEN
        self._enter(event)
        if is_first:
            self._actions = [action for action in self._actions if not isinstance(action, PostSend)]
            self._unposted.clear()
            self._flush_deadline_ns = HostNs(now + self._flush_timeout_ns)

    def _fail_if_empty(self) -> None:
        """Once each posted verb has its completion, nothing can touch the transfers' memory any more."""
        if self._state in {State.BROKEN, State.FLUSHING} and self._completed_wr_id == self._posted_wr_id:
            self._fail(Event.EMPTIED)

    def _fail(self, event: Event) -> None:
        if self._state is State.BROKEN:
            self._actions.append(QueuePairFailed(None, None))
        self._enter(event)
        self._flush_deadline_ns = None
        self._report_lost()

    def _report_lost(self) -> None:
        """Report each unreported transfer with the bytes known to have arrived in order."""
        for transfer_id, acked_bytes in self._window.clear() + self._segmenter.clear():
            if transfer_id in self._unreported:
                self._unreported.remove(transfer_id)
                self._actions.append(TransferDone(transfer_id, False, acked_bytes))
