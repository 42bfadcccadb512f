"""One flow of a simulation: a connection and its application over simulated queue pairs."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TextIO, cast
from weakref import proxy

from rogue.agent.core.actions import (
    Completion,
    PostSend,
    QueuePairFailed,
    ReadyQueuePair,
    RttSample,
    Trace,
    TransferDone,
    status_name,
)
from rogue.agent.core.application import Application, Schedule, TransferRecord
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.errors import PostRefused
from rogue.agent.core.estimators import ESTIMATORS
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.settings import NO_INSTRUMENTS, Instruments, TransportSettings
from rogue.agent.drivers.replay import RecordedConnection
from rogue.agent.drivers.simulated_path import Arrivals, CqEntry, SimulatedLibrary, SimulatedPath
from rogue.agent.drivers.step import UNEXPLAINED, ControlSample, RecoveringFlow, drain
from rogue.agent.drivers.turn import LimiterTurn
from rogue.simulator import QueuePair, QueuePairError, Simulation

IBV_QPS_ERR = 6


class FlowEvent(NamedTuple):
    """An event of failure or recovery, for the table `events`."""

    t_ns: HostNs
    event: str
    detail: str


class QueuePairProgress(NamedTuple):
    """Progress of a flow when a queue pair takes it over; a queue pair can do so several times."""

    qp_num: int
    completed_bytes: int
    """Payload that was completed before."""
    delivered_bytes: int
    """Payload that this queue pair had delivered before."""


class SimulatedFlow(RecoveringFlow):
    """One flow of a simulation: follows its schedule over a path, and keeps its samples and events.

    The connection gets only what `ibv_wc` and a clock query provide. `instruments` are for labelled
    ablations; an oracle estimator also gets the engine's departure times. `on_end` gets the number of each
    transfer that has ended, `on_arrival` of each that has arrived over RC. The NIC calls in once per poll. A
    queue pair instead of a path gives a flow of WRITEs without a shadow. The other end has a library only if
    it receives anything. `qp_periods`: progress at each
    change of queue pair, in order; empty until the first queue pair is lost.
    """

    qp_periods: tuple[QueuePairProgress, ...] = ()

    def __init__(  # noqa: PLR0913 - independent properties of a flow
        self,
        simulation: Simulation,
        path: SimulatedPath | QueuePair,
        *,
        settings: TransportSettings,
        link: LinkFacts,
        schedule: Schedule,
        record_rtt: bool,
        record_control: bool = False,
        peer_link: LinkFacts | None = None,
        instruments: Instruments = NO_INSTRUMENTS,
        record_inputs: TextIO | None = None,
        on_end: Callable[[int, HostNs], None] | None = None,
        on_arrival: Callable[[int, HostNs], None] | None = None,
    ) -> None:
        peer = self.library = None
        if isinstance(path, SimulatedPath):
            peer = path.peer(peer_link or link)
            self.library = _library(simulation, path, settings, schedule)
        else:
            path = SimulatedPath((path, path))
        self._simulation = simulation
        self._on_end = on_end
        self._path = path
        self._ends = {end.qp_num: end for end, _ in path.pairs}
        self._queue_pair = path.main[0]
        self._is_plain = not path.has_memory
        self._application = Application(schedule)
        self._arrivals = None if on_arrival is None else Arrivals(self.transfers, on_arrival)
        if settings.estimator is not None and ESTIMATORS[settings.estimator].is_oracle:
            instruments = instruments._replace(left_ns=partial(SimulatedFlow._left_ns, proxy(self)))
        qp_num, tracing = self._queue_pair.qp_num, record_rtt or record_control
        build = Connection if record_inputs is None else partial(RecordedConnection, log=record_inputs)
        self._connection = build(settings, link, qp_num, tracing=tracing, peer=peer, instruments=instruments)
        self._is_reader = schedule.verb == "read"
        self._turn = self._share_limiters(settings)
        self._timer = simulation.timer(self._on_timer)
        self._armed_ns: HostNs | None = None
        self._resent_bytes = 0
        self._limiter_write_ns = settings.limiter_write_ns
        self._requested_bps: int | None = None
        self._is_writing = False
        self._records_control = record_control
        self.rtt_samples: list[RttSample] = []
        self.control_samples: list[ControlSample] = []
        self.failures: list[tuple[HostNs, int | None, str]] = []
        self.events: list[FlowEvent] = []
        self._attach(settings)

    def _attach(self, settings: TransportSettings) -> None:
        on_receives = self._on_receives if settings.has_batch_acknowledgements else None
        for end in self._ends.values():
            end.attach(self._on_completions, partial(self._on_qp_event, end.qp_num), on_receives)
        if self._path.side_channel is not None:
            self._path.side_channel[0].attach(self._on_datagrams)

    def _share_limiters(self, settings: TransportSettings) -> LimiterTurn | None:
        """Assign limiters of shared NICs at both ends; return this flow's turn if it sets rates."""
        near, far = self._path.limiters
        near_ends, far_ends = zip(*self._path.pairs, strict=True)
        is_paced = self._connection.uses_limiter
        if far is not None and self._is_reader and is_paced:
            far.dedicate(far_ends)
        elif far is not None and (self._is_reader or settings.has_batch_acknowledgements):
            far.leave_unlimited(far_ends)
        if near is None:
            return None
        if is_paced and not self._is_reader:
            carry_out = partial(SimulatedFlow._carry_out, proxy(self))  # avoids a reference cycle
            return near.turn(near_ends, self._connection, self._application, carry_out)
        near.leave_unlimited(near_ends)
        return None

    @property
    def transfers(self) -> list[TransferRecord]:
        """All transfers started so far, in order."""
        return self._application.records

    @property
    def retransmitted_bytes(self) -> int:
        """Bytes that NIC and software have sent again so far."""
        return self.again_bytes + sum(end.retransmitted_bytes for end in self._ends.values())

    def start(self) -> None:
        """Schedule the first transfer."""
        self._schedule_next(None)

    def release(self, number: int, now: HostNs, not_before_ns: HostNs) -> bool:
        """Release a held transfer; return False if none starts any more."""
        can_start = self._application.release(number, not_before_ns)
        if can_start:
            self._schedule_next(now)
            self._carry_out(now)
        return can_start

    def finish(self) -> None:
        """End the run; running transfers stay unfinished, with their retransmitted bytes."""
        for record in self._application.finish():
            record.retransmitted_bytes = self._newly_resent_bytes()

    def post_send(self, action: PostSend) -> NicNs:
        """Post a verb; the NIC's clock is read just before."""
        try:
            if action.imm is None and self._is_plain and action.verb == "write":
                posted = self._queue_pair.post_write(action.wr_id, action.length_bytes, action.signaled)
            else:
                posted = self._post(action)
        except QueuePairError as error:
            raise PostRefused from error
        if self._arrivals is not None and not self._is_reader:
            end_bytes = action.offset_bytes + action.length_bytes
            self._arrivals.on_posted(self._queue_pair, action.length_bytes, action.transfer_id, end_bytes)
        return NicNs(posted)

    def _left_ns(self, wr_id: int) -> float:
        return self._queue_pair.left_ns(wr_id)

    def _post(self, action: PostSend) -> int:
        """Post any verb, with its offset in the memories of both ends."""
        wr_id, _, offset_bytes, length_bytes, signaled, verb, imm = action
        end, offsets = self._queue_pair, {"local_offset": offset_bytes, "remote_offset": offset_bytes}
        if verb == "send":
            return end.post_send(wr_id, length_bytes, signaled, imm=imm)
        if verb == "read":
            return end.post_read(wr_id, length_bytes, signaled, **offsets)
        return end.post_write(wr_id, length_bytes, signaled, imm=imm, **offsets)

    def set_rate(self, rate_bps: int) -> int | None:
        """Set the limiter; return its effective rate, None if the write takes time.

        The first rate is set before anything is posted, so it takes none. A later request replaces one that
        is being written. With shared limiters, requests of READs are not limited: they are few, and 98 bytes
        long.
        """
        if self._is_reader and self._path.limiters[0] is not None:
            return rate_bps
        if self._limiter_write_ns and self._requested_bps is not None:
            if not self._is_writing:
                self._is_writing = True
                self._simulation.schedule(self._simulation.now_ns + self._limiter_write_ns, self._on_written)
            self._requested_bps = rate_bps
            return None
        self._requested_bps = rate_bps
        return self._queue_pair.set_rate(rate_bps)

    def _on_written(self, host_ns: int) -> None:
        assert self._requested_bps is not None, "a rate is being written"
        self._is_writing = False
        self._connection.on_rate_set(self._queue_pair.set_rate(self._requested_bps))
        self._carry_out(HostNs(host_ns))

    def arm_timer(self, deadline_ns: HostNs | None) -> None:
        """Set the connection's timer, or clear it; cheap when nothing changes."""
        if deadline_ns != self._armed_ns:
            self._armed_ns = deadline_ns
            if deadline_ns is None:
                self._timer.cancel()
            else:
                self._timer.set(deadline_ns)

    def transfer_done(self, action: TransferDone, now: HostNs) -> None:
        """Close the transfer's record, and start the next transfer when it is due."""
        error = None if action.is_ok else self._error
        record = self._application.on_transfer_done(action.transfer_id, now, error, is_sent=action.is_sent)
        record.retransmitted_bytes = self._newly_resent_bytes()
        if not self._application.is_open_loop:
            self._schedule_next(now)
        if self._arrivals is not None and action.is_ok:
            self._arrivals.on_done(action.transfer_id, now)
        if self._on_end is not None:
            for transfer_id in (action.transfer_id, *(n + 1 for n in self._application.abandoned())):
                self._on_end(transfer_id, now)

    def _newly_resent_bytes(self) -> int:
        """Bytes sent again since the last call; overlapping transfers share them."""
        before = self._resent_bytes
        self._resent_bytes = self.retransmitted_bytes
        return self._resent_bytes - before

    @property
    def _active_qp_num(self) -> int:
        return self._queue_pair.qp_num

    def _reason(self, status: int | None) -> str:
        return UNEXPLAINED if status is None else status_name(status)

    def _on_loss(self, action: QueuePairFailed, now: HostNs) -> None:
        self.failures.append((now, action.status, str(self._error)))

    def _switch_to(self, qp_num: int) -> None:
        end = self._queue_pair = self._ends[qp_num]
        completed_bytes = sum(each.posted_bytes for each in self._ends.values()) - self.again_bytes
        before = self.qp_periods or (QueuePairProgress(self._path.main[0].qp_num, 0, 0),)
        self.qp_periods = (*before, QueuePairProgress(qp_num, completed_bytes, end.delivered_bytes))

    def _reset(self, qp_num: int) -> None:
        self._ends[qp_num].reset()

    def _make_ready(self, action: ReadyQueuePair) -> None:
        self._ends[action.qp_num].ready(sq_psn=action.sq_psn, rq_psn=action.rq_psn)
        if self._arrivals is not None:
            self._arrivals.on_ready(self._ends[action.qp_num])

    def _send_peer(self, payload: bytes) -> None:
        assert self._path.side_channel is not None, "a request, although there is no side channel"
        requester, library = self._path.side_channel
        requester.post_send(0, library, payload)

    def _note(self, now: HostNs, event: str, detail: str) -> None:
        self.events.append(FlowEvent(now, event, detail))

    def trace(self, action: Trace) -> None:
        """Keep an RTT sample, and the congestion control's metrics after it."""
        self.rtt_samples.append(action.sample)
        if self._records_control:
            self.control_samples.append((action.sample.t_ns, action.metrics))

    def _schedule_next(self, now: HostNs | None) -> None:
        """Start the transfers that are due, and schedule the next one."""
        application = self._application
        while application.next_start_ns is not None:
            if now is None or application.next_start_ns > now:
                self._simulation.schedule(application.next_start_ns, self._on_start)
                return
            self._connection.submit(application.begin(now))

    def _carry_out(self, now: HostNs) -> None:
        """Carry out the connection's actions."""
        drain(self._connection, self, now)
        if self._turn is not None:
            self._turn.update(now)

    def _on_start(self, host_ns: int) -> None:
        now = HostNs(host_ns)
        self._schedule_next(now)
        self._carry_out(now)

    def _on_completions(self, host_ns: int, entries: list[CqEntry]) -> None:
        now = HostNs(host_ns)
        self._connection.on_completions(now, cast("list[Completion]", entries))
        self._carry_out(now)

    def _on_receives(self, host_ns: int, entries: list[CqEntry]) -> None:
        now = HostNs(host_ns)
        self._pass_on(partial(self._connection.on_receives, now, cast("list[Completion]", entries)))
        self._carry_out(now)

    def _on_datagrams(self, host_ns: int, datagrams: Sequence[tuple[int, int, bytes]]) -> None:
        for _, _, payload in datagrams:
            self._pass_on(partial(self._connection.on_peer_message, payload))
        self._carry_out(HostNs(host_ns))

    def _on_qp_event(self, qp_num: int, host_ns: int, qp_state: int) -> None:
        now = HostNs(host_ns)
        if qp_state == IBV_QPS_ERR:
            self._connection.on_qp_error(now, qp_num)
            self._carry_out(now)

    def _on_timer(self, host_ns: int) -> None:
        now = HostNs(host_ns)
        self._armed_ns = None
        self._connection.on_timer(now)
        self._carry_out(now)


def _library(
    simulation: Simulation, path: SimulatedPath, settings: TransportSettings, schedule: Schedule
) -> SimulatedLibrary | None:
    """Return the library of the other end, None if it receives nothing."""
    has_receives = settings.has_batch_acknowledgements or schedule.verb != "write"
    if not has_receives and path.side_channel is None:
        return None
    return SimulatedLibrary(simulation, path, has_receives=has_receives)
