"""A flow on real verbs: application, connection and queue pairs."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from rogue.agent.core.actions import (
    SUCCESS,
    Completion,
    PostSend,
    QueuePairFailed,
    ReadyQueuePair,
    RttSample,
    Trace,
    TransferDone,
    status_name,
)
from rogue.agent.core.application import Application, Schedule, Watcher
from rogue.agent.core.clocks import HostNs, NicNs, earlier
from rogue.agent.core.connection import Connection
from rogue.agent.core.errors import PostRefused
from rogue.agent.core.framing import framing_named
from rogue.agent.core.limiter import Claim
from rogue.agent.drivers.limiters.base import RateLimiter
from rogue.agent.drivers.recording import Table, ThroughputMeter, TransferLog, Value
from rogue.agent.drivers.step import UNEXPLAINED, RecoveringFlow, drain
from rogue.agent.drivers.turn import LimiterTurn
from rogue.agent.drivers.verbs.clock import Clocks, Departures
from rogue.agent.drivers.verbs.endpoint import Endpoint
from rogue.agent.drivers.verbs.queue_pair import RemoteMemory

RTT_COLUMNS = RttSample._fields
CONTROL_COLUMNS = ("t_ns", "name", "value")
EVENT_COLUMNS = ("t_ns", "event", "detail")
_WIRE = framing_named("rocev2")
Sample: TypeAlias = tuple[HostNs, tuple[Value, ...], dict[str, float]]
"""Instant and fields of an RttSample, as a plain tuple that is cheap to keep, and metrics."""
_COUNTED = 0
"""Immediate of a WRITE that has none, so that the receiver can count it."""


@dataclass(frozen=True)
class FlowRecords:
    """Tables of a flow; `sample` gets each RTT sample, if samples are recorded."""

    transfers: TransferLog
    events: Table
    sample: Callable[[Sample], None] | None
    meter: ThroughputMeter


@dataclass(frozen=True)
class FlowShape:
    """Use of the memories of both ends by a flow.

    A transfer larger than `memory_bytes` wraps to their start, after as many whole verbs as fit.
    has_counted_writes: every WRITE carries an immediate, by which the receiver counts arrivals over UC.
    mtu_bytes: bytes of a packet of the window. is_dated: completions come before the packets have left the
    host's limiter, and `Departures` corrects them.
    """

    memory_bytes: int
    verb_bytes: int
    mtu_bytes: int
    has_counted_writes: bool
    is_dated: bool = False


def write_sample(rtt: Table | None, control: Table | None, fields: Sample) -> None:
    """Write the rows of a sample."""
    t_ns, row, metrics = fields
    if rtt is not None:
        rtt.row(*row)
    if control is not None:
        control.named(t_ns, metrics)


class VerbsFlow(RecoveringFlow):
    """A `step.Driver` over one endpoint; the event loop calls the `on_` methods."""

    def __init__(  # noqa: PLR0913 - connection, resources and records
        self,
        connection: Connection,
        endpoint: Endpoint,
        memory: RemoteMemory,
        shape: FlowShape,
        limiter: RateLimiter | None,
        records: FlowRecords,
        clocks: Clocks,
    ) -> None:
        self.connection = connection
        self._endpoint = endpoint
        self._queue_pair = endpoint.queue_pair
        self._local = endpoint.buffer.address, endpoint.buffer.lkey
        self._remote = memory.address, memory.rkey
        self._shape = shape
        self._lap_bytes = max(1, shape.memory_bytes // shape.verb_bytes * shape.verb_bytes)
        self._limiter = limiter
        if limiter is not None:
            limiter.on_acting = self._on_rate
        self._departures = Departures() if shape.is_dated else None
        self.records = records
        self._clock, self._stamp = clocks
        self._application: Application | None = None
        self._turn: LimiterTurn | None = None
        self._is_over = False
        self._timer_ns: HostNs | None = None
        self._unsignaled_bytes = 0
        self._posted: deque[tuple[int, int]] = deque()
        self._held: deque[tuple[HostNs, PostSend]] = deque()
        self.posted_verbs = 0
        self.posted_batches = 0
        self.posting_ns = 0

    def follow(self, schedule: Schedule, watcher: Watcher | None = None) -> None:
        """Take the schedule; its first transfer is due at its start."""
        self._application = Application(schedule, watcher)

    def release(self, number: int, not_before_ns: HostNs) -> None:
        """Let a held arrival start, at this instant at the earliest."""
        assert self._application is not None, "an arrival is released, but there is no schedule"
        self._application.release(number, not_before_ns)

    def take_turns(self, send: Callable[[Claim, HostNs], None]) -> LimiterTurn:
        """Share limiters: post only with a lent limiter, which is identified by its priority."""
        limiter = self._limiter
        assert limiter is not None, "shares limiters, but has none"
        self._turn = LimiterTurn(
            send, self.connection, self._is_running, self._use, self._carry_out, lambda: limiter.is_settled
        )
        return self._turn

    @property
    def has_limiter(self) -> bool:
        """True while this flow has a lent limiter."""
        return self._turn is not None and self._turn.has_limiter

    def update_turn(self, now: HostNs) -> None:
        """Send what has changed; called at least once per turn of the event loop."""
        if self._turn is not None:
            self._turn.update(now)

    def _is_running(self) -> bool:
        return self._application is not None and self._application.is_running

    def _use(self, priority: int) -> None:
        """Move all queue pairs to the limiter of a priority; no verb is outstanding."""
        assert self._limiter is not None, "shares limiters, but has none"
        self._endpoint.move(priority)
        self._limiter.use(priority)

    def _carry_out(self, now: HostNs) -> None:
        drain(self.connection, self, now)
        self.update_turn(now)

    @property
    def is_finished(self) -> bool:
        """True if the schedule is done and no transfer runs."""
        application = self._application
        if application is None or application.is_running or application.has_more:
            return False
        return len(application.records) == self.records.transfers.count

    @property
    def deadline_ns(self) -> HostNs | None:
        """Instant at which `on_time` must be called: a timer, the next transfer, or a held-back verb."""
        if self._is_over:
            return None
        next_ns = None if self._application is None else self._application.next_start_ns
        first_ns = earlier(self._timer_ns, next_ns)
        return earlier(first_ns, self._held[0][0]) if self._held else first_ns

    def on_time(self, now: HostNs) -> None:
        """Post held-back verbs, start due transfers, and handle the connection's timer."""
        self._release(now)
        self._begin(now)
        if self._timer_ns is not None and now >= self._timer_ns:
            self.connection.on_timer(now)
        self._carry_out(now)

    def on_completions(self, now: HostNs, completions: list[Completion]) -> None:
        """Handle the entries of one poll; after the end they are dropped."""
        if self._is_over:
            return
        sends, receives, datagrams = self._endpoint.sort(completions)
        if sends:
            if self._departures is not None:
                sends = self._departures.dated(sends)
            self._count(now, sends)
            self.connection.on_completions(now, sends)
        for entries in receives.values():
            self._pass_on(partial(self.connection.on_receives, now, entries))
        for payload in datagrams:
            self._pass_on(partial(self.connection.on_peer_message, payload))
        self._carry_out(now)

    def finish(self, now: HostNs) -> None:
        """End the run; running transfers are recorded as unfinished, and post nothing more."""
        self._is_over = True
        self._held.clear()
        if self._turn is not None:
            self._turn.end(now)
        if self._application is None:
            return
        for record in self._application.finish():
            self.records.transfers.write(record)
        self.records.meter.close(now)

    def post_send(self, action: PostSend) -> NicNs:
        """Post the verb, or hold it back for a limiter in software."""
        now, stamp_ns = self._clock(), self._stamp()
        if self._limiter is not None and self._limiter.holds_back:
            release_ns = self._limiter.release_ns(now, self._wire_bytes(action))
            if self._held or release_ns > now:
                self._held.append((release_ns, action))
                return stamp_ns
        self._post(action, now)
        return stamp_ns

    def _post(self, action: PostSend, before_ns: HostNs) -> None:
        """Post the verb between the same offsets of both memories."""
        place, length_bytes, shape = action.offset_bytes, action.length_bytes, self._shape
        if place + length_bytes > shape.memory_bytes:
            place %= self._lap_bytes
        if shape.has_counted_writes and action.imm is None and action.verb == "write":
            action = action._replace(imm=_COUNTED)
        (local, lkey), (remote, rkey) = self._local, self._remote
        try:
            self._queue_pair.post(action, (local + place, lkey), (remote + place, rkey))
        except PostRefused as error:
            self._error = str(error)
            raise
        if self._departures is not None:
            wire_bytes = self._wire_bytes(action)
            self._departures.on_post(before_ns, action.wr_id, wire_bytes, is_signaled=action.signaled)
        self.posting_ns += self._clock() - before_ns
        self.posted_verbs += 1
        self._unsignaled_bytes += length_bytes
        if action.signaled:
            self.posted_batches += 1
            self._posted.append((action.wr_id, self._unsignaled_bytes))
            self._unsignaled_bytes = 0

    def _wire_bytes(self, action: PostSend) -> int:
        has_immediate = action.imm is not None
        mtu_bytes = self._shape.mtu_bytes
        return _WIRE.verb_wire_bytes(
            action.verb, action.length_bytes, mtu_bytes, has_immediate=has_immediate
        )[0]

    def _release(self, now: HostNs, *, is_all: bool = False) -> None:
        """Post held-back verbs that are due; the connection gets a refusal as an error of the queue pair."""
        while self._held and (is_all or now >= self._held[0][0]):
            _, action = self._held.popleft()
            try:
                self._post(action, self._clock())
            except PostRefused:
                self.connection.on_qp_error(now, self._queue_pair.qp_num)

    def set_rate(self, rate_bps: int) -> int | None:
        """Set the limiter of this flow's priority; return the effective rate, None if it follows later."""
        assert self._limiter is not None, f"got a rate of {rate_bps} bit/s, but there is no limiter"
        now = self._clock()
        effective_bps = self._limiter.set_rate(rate_bps, now)
        if effective_bps is not None:
            self._note_rate(now, effective_bps)
        return effective_bps

    def _note_rate(self, now: HostNs, effective_bps: int) -> None:
        if self._departures is not None:
            self._departures.on_rate(now, effective_bps)
        self.records.meter.limit(now, effective_bps)

    def _on_rate(self, now: HostNs, effective_bps: int) -> None:
        """Handle a rate that is effective now."""
        self._note_rate(now, effective_bps)
        if not self._is_over:
            self.connection.on_rate_set(effective_bps)
            self._carry_out(now)

    def arm_timer(self, deadline_ns: HostNs | None) -> None:
        """Remember the connection's deadline for the event loop."""
        self._timer_ns = deadline_ns

    def transfer_done(self, action: TransferDone, now: HostNs) -> None:
        """Record the end of a transfer, and start the next one if it is due."""
        assert self._application is not None, "a transfer ended, but none was submitted"
        error = None if action.is_ok else self._error
        record = self._application.on_transfer_done(action.transfer_id, now, error, is_sent=action.is_sent)
        self.records.transfers.write(record)
        if not self._application.is_open_loop:
            self._begin(now)

    @property
    def _active_qp_num(self) -> int:
        return self._queue_pair.qp_num

    def _reason(self, status: int | None) -> str:
        """Return the NIC's status, or the error of pyverbs for a refused verb."""
        return self._error or UNEXPLAINED if status is None else status_name(status)

    def _on_loss(self, action: QueuePairFailed, now: HostNs) -> None:
        self._release(now, is_all=True)  # to be flushed with the others

    def _switch_to(self, qp_num: int) -> None:
        self._queue_pair = self._endpoint.pair_of(qp_num)
        self._posted.clear()
        self._held.clear()
        self._unsignaled_bytes = 0

    def _reset(self, qp_num: int) -> None:
        self._endpoint.reset(qp_num)

    def _make_ready(self, action: ReadyQueuePair) -> None:
        self._endpoint.ready(action.qp_num, action.sq_psn, action.rq_psn)

    def _send_peer(self, payload: bytes) -> None:
        assert self._endpoint.side is not None, "a request, although there is no side channel"
        self._endpoint.side.send(payload)

    def trace(self, action: Trace) -> None:
        """Record one RTT sample, and the congestion control's metrics after it."""
        records, sample = self.records, action.sample
        if sample.accepted and action.rtt_ns > 0:
            throughput_bps = sample.cwnd_packets * self._shape.mtu_bytes * 8e9 / action.rtt_ns
            records.meter.estimate(sample.t_ns, throughput_bps)
        if records.sample is not None:
            records.sample((sample.t_ns, sample[:], action.metrics))

    def _begin(self, now: HostNs) -> None:
        application = self._application
        while application is not None and application.next_start_ns is not None:
            if now < application.next_start_ns:
                return
            self.connection.submit(application.begin(now))

    def _count(self, now: HostNs, sends: list[Completion]) -> None:
        """Add up the payload of the batches that completed."""
        posted, delivered_bytes = self._posted, 0
        for wr_id, status, _nic_ns, _byte_len, _imm in sends:
            if status == SUCCESS and posted and posted[0][0] == wr_id:
                delivered_bytes += posted.popleft()[1]
        if delivered_bytes:
            self.records.meter.add(now, delivered_bytes)

    def _note(self, now: HostNs, event: str, detail: str) -> None:
        self.records.events.row(now, event, detail)
