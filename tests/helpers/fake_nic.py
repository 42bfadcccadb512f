"""A small exact NIC for one queue pair: paced packets, its own clock, a limiter that may lag.

Everything is in integer picoseconds of true time. The NIC's oscillator runs `drift_ppm` too fast;
timestamps and pacing both follow it, the line rate does not. The network is a function from the instant at
which a batch's last byte left to the round-trip time that it finds. With `acknowledgements` it is a
NIC over UC whose peer's library acknowledges each batch, or loses it: the function gives the processing
time for a batch's number, or None.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from rogue.agent.core.actions import (
    RETRY_EXC_ERR,
    SUCCESS,
    WR_FLUSH_ERR,
    Completion,
    PostSend,
    QueuePairFailed,
    RecoveryAction,
    Trace,
    TransferDone,
)
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.immediates import batch_immediate, batch_of
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.drivers.step import drain

PS_PER_NS = 1000
PS_PER_S = 10**12
PPM = 10**6


@dataclass
class Verb:
    wr_id: int
    length_bytes: int
    signaled: bool
    imm: int | None = None
    packets: deque[int] = field(default_factory=deque)


class FakeNic:
    """Send queue, pacer, and completions at exact instants; `left_ps` is the truth software never sees."""

    def __init__(
        self,
        link: LinkFacts,
        *,
        rtt_ps: Callable[[int], int],
        offset_ns: int = 0,
        drift_ppm: int = 0,
        lag_bytes: Callable[[], int] = lambda: 0,
        acknowledgements: Callable[[int], int | None] | None = None,
    ) -> None:
        self._link = link
        self._rtt_ps = rtt_ps
        self._offset_ns = offset_ns
        self._drift_ppm = drift_ppm
        self._lag_bytes = lag_bytes
        self._processing_ns = acknowledgements
        self._queue: deque[Verb] = deque()
        self._rate_bps = link.line_rate_bps
        self._next_rates: deque[list[int]] = deque()
        self._may_start_ps = 0
        self._done: deque[tuple[int, Verb]] = deque()
        self._acknowledgements: deque[tuple[int, int]] = deque()
        self.now_ps = 0
        self.left_ps: dict[int, int] = {}
        self.completed_ps: dict[int, int] = {}

    @property
    def host_ns(self) -> HostNs:
        return HostNs(self.now_ps // PS_PER_NS)

    @property
    def nic_ns(self) -> NicNs:
        return self._nic_ns_at(self.now_ps)

    def set_rate(self, rate_bps: int) -> int:
        step_bps = self._link.rate_step_bps
        effective_bps = -(-rate_bps // step_bps) * step_bps if step_bps else rate_bps
        self._next_rates.append([self._lag_bytes(), effective_bps])
        return effective_bps

    def post(self, wr_id: int, length_bytes: int, *, signaled: bool, imm: int | None = None) -> NicNs:
        wire, mtu = self._link.wire, self._link.mtu_bytes
        payloads = [min(mtu, length_bytes - start) for start in range(0, length_bytes, mtu)] or [0]
        packets = deque(wire.packet_wire_bytes(payload) for payload in payloads)
        packets[0] += wire.write_header_bytes
        packets[-1] += 0 if imm is None else wire.immediate_bytes
        if not self._queue:
            self._may_start_ps = max(self._may_start_ps, self.now_ps)
        self._queue.append(Verb(wr_id, length_bytes, signaled, imm, packets))
        return self.nic_ns

    def next_completion_ps(self) -> int | None:
        """Instant of the next completion or acknowledgement; what leaves before it has left afterwards."""
        while self._queue and not (self._done and self._done[0][0] < self._may_start_ps):
            self._send_packet()
        return min((queue[0][0] for queue in (self._done, self._acknowledgements) if queue), default=None)

    def take_acknowledgements(self) -> list[Completion]:
        """Acknowledgements of the peer's library that have arrived by now."""
        ready: list[Completion] = []
        while self._acknowledgements and self._acknowledgements[0][0] <= self.now_ps:
            arrived_ps, imm = self._acknowledgements.popleft()
            ready.append((0, SUCCESS, self._nic_ns_at(arrived_ps), 0, imm))
        return ready

    def poll(self, at_ps: int) -> list[Completion]:
        """Move to an instant, and take what has completed by then."""
        self.now_ps = at_ps
        ready: list[Completion] = []
        while self._done and self._done[0][0] <= at_ps:
            completed_ps, verb = self._done.popleft()
            if verb.signaled:
                ready.append((verb.wr_id, SUCCESS, self._nic_ns_at(completed_ps), verb.length_bytes, None))
        return ready

    def fail(self) -> list[Completion]:
        """Enter the error state now: the oldest verb fails, all others are flushed."""
        verbs = [verb for _, verb in self._done] + list(self._queue)
        self._done.clear()
        self._queue.clear()
        statuses = [RETRY_EXC_ERR] + [WR_FLUSH_ERR] * len(verbs)
        return [
            (verb.wr_id, status, self.nic_ns, 0, None) for verb, status in zip(verbs, statuses, strict=False)
        ]

    def true_rtt_ns(self, wr_id: int) -> float:
        return (self.completed_ps[wr_id] - self.left_ps[wr_id]) / PS_PER_NS

    def _send_packet(self) -> None:
        verb = self._queue[0]
        wire_bytes = verb.packets.popleft()
        start_ps = self._may_start_ps
        self._count_towards_new_rates(wire_bytes)
        self._may_start_ps = start_ps + self._paced_ps(wire_bytes)
        if not verb.packets:
            self._queue.popleft()
            left_ps = start_ps + wire_bytes * 8 * PS_PER_S // self._link.line_rate_bps
            arrived_back_ps = left_ps + self._rtt_ps(left_ps)
            completed_ps = max(arrived_back_ps, self._done[-1][0] if self._done else 0)
            if self._processing_ns is not None:
                completed_ps = left_ps
                self._acknowledge(verb, arrived_back_ps)
            self.left_ps[verb.wr_id] = left_ps
            self.completed_ps[verb.wr_id] = completed_ps if self._processing_ns is None else arrived_back_ps
            self._done.append((completed_ps, verb))

    def _acknowledge(self, verb: Verb, arrived_back_ps: int) -> None:
        """Over UC a completion says only that a verb has left; the peer's library may acknowledge it."""
        assert self._processing_ns is not None
        if verb.imm is None:
            return
        number = batch_of(verb.imm).number
        processing_ns = self._processing_ns(number)
        if processing_ns is not None:
            acknowledgement = (
                arrived_back_ps + processing_ns * PS_PER_NS,
                batch_immediate(number, processing_ns),
            )
            assert not self._acknowledgements or self._acknowledgements[-1][0] <= acknowledgement[0], (
                "in order"
            )
            self._acknowledgements.append(acknowledgement)

    def _count_towards_new_rates(self, wire_bytes: int) -> None:
        """A rate acts on the first packet that starts once its lag has been transmitted."""
        while self._next_rates and self._next_rates[0][0] <= 0:
            self._rate_bps = self._next_rates.popleft()[1]
        for pending in self._next_rates:
            pending[0] -= wire_bytes

    def _paced_ps(self, wire_bytes: int) -> int:
        return wire_bytes * 8 * PS_PER_S * PPM // (self._rate_bps * (PPM + self._drift_ppm))

    def _nic_ns_at(self, at_ps: int) -> NicNs:
        return NicNs(self._offset_ns + at_ps * (PPM + self._drift_ppm) // (PPM * PS_PER_NS))


class FakeDriver:
    """Runs a connection over a fake NIC; an application that never ends is `on_done`."""

    def __init__(self, connection: Connection, nic: FakeNic, on_done: Callable[[TransferDone], None]) -> None:
        self.connection = connection
        self.nic = nic
        self.traces: list[Trace] = []
        self.done: list[TransferDone] = []
        self.failures: list[QueuePairFailed] = []
        self.rates: list[int] = []
        self._on_done = on_done
        self.deadline_ns: HostNs | None = None

    def post_send(self, action: PostSend) -> NicNs:
        return self.nic.post(action.wr_id, action.length_bytes, signaled=action.signaled, imm=action.imm)

    def set_rate(self, rate_bps: int) -> int:
        self.rates.append(self.nic.set_rate(rate_bps))
        return self.rates[-1]

    def arm_timer(self, deadline_ns: HostNs | None) -> None:
        self.deadline_ns = deadline_ns

    def transfer_done(self, action: TransferDone, now: HostNs) -> None:
        self.done.append(action)
        self._on_done(action)

    def queue_pair_failed(self, action: QueuePairFailed, now: HostNs) -> None:
        self.failures.append(action)

    def trace(self, action: Trace) -> None:
        self.traces.append(action)

    def run_until(self, end_ps: int) -> None:
        drain(self.connection, self, self.nic.host_ns)
        while (at_ps := self._next_ps()) is not None and at_ps <= end_ps:
            completions = self.nic.poll(at_ps)
            now = self.nic.host_ns
            if completions:
                self.connection.on_completions(now, completions)
            acknowledgements = self.nic.take_acknowledgements()
            if acknowledgements:
                self.connection.on_receives(now, acknowledgements)
            if self.deadline_ns is not None and now >= self.deadline_ns:
                self.connection.on_timer(now)
            drain(self.connection, self, now)

    def _next_ps(self) -> int | None:
        instants = [self.nic.next_completion_ps()]
        if self.deadline_ns is not None:
            instants.append(self.deadline_ns * PS_PER_NS)
        return min((each for each in instants if each is not None), default=None)

    def recover(self, action: RecoveryAction, now: HostNs) -> None:
        raise AssertionError(f"got {action} at {now} without a shadow")
