"""A network of two hosts at the level of whole verbs: both services, resets, losses, and a side channel.

It offers the face of the engine that the simulated driver uses. A verb occupies its sender for its wire bytes
at the limiter's rate, arrives one delay later unless something loses it, and is taken only in order and only
by an end that was made ready with the packet number it was sent with. Lost verbs are sent again, all from the
first one that is missing, after a timeout; when the retries are spent the queue pair fails.
"""

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

from rogue.agent.core.actions import RETRY_EXC_ERR, SUCCESS, WR_FLUSH_ERR, Completion
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.framing import FRAMINGS
from rogue.agent.drivers.simulated_nic import (
    NicDatagrams,
    NicMemory,
    NicQueuePair,
    OnCompletions,
    OnDatagrams,
)
from rogue.simulator import QueuePairError

MTU_BYTES = 1024
LINE_RATE_BPS = 10**10
DELAY_NS = 5_000
TIMEOUT_NS = 67_000_000
RESET, RTS, ERR = 0, 3, 6
OFFSET_NS = 123_456_789
WIRE = FRAMINGS["rocev2"]


@dataclass
class FakeVerb:
    verb: str
    wr_id: int
    length_bytes: int
    signaled: bool
    imm: int | None = None
    offset_bytes: int = 0

    def serialisation_ns(self, rate_bps: int) -> tuple[float, float]:
        """Time until the last byte has left, the last packet at line rate, and until the next may start."""
        total, last = WIRE.verb_wire_bytes(
            self.verb,  # type: ignore[arg-type]
            self.length_bytes,
            MTU_BYTES,
            has_immediate=self.imm is not None,
        )
        return (total - last) * 8e9 / rate_bps + last * 8e9 / LINE_RATE_BPS, total * 8e9 / rate_bps


class FakeNetwork:
    """Heap of instants in nanoseconds; `loses(now_ns)` says whether what arrives now is lost."""

    def __init__(self, loses: Callable[[int], bool] = lambda now_ns: False) -> None:
        self.now_ns = HostNs(0)
        self.loses = loses
        self.step_bps = 100_000_000
        self.writes: list[tuple[int, int, int, int]] = []  # (t_ns, requester qp_num, offset, length) taken
        self._heap: list[tuple[int, int, Callable[[int], None]]] = []
        self._counter = itertools.count()
        self._numbers = itertools.count(1)

    def schedule(self, host_ns: int, callback: Callable[[int], None]) -> None:
        heapq.heappush(self._heap, (max(host_ns, self.now_ns), next(self._counter), callback))

    def after(self, delay_ns: float, callback: Callable[[], None]) -> None:
        self.schedule(self.now_ns + round(delay_ns), lambda _now: callback())

    def timer(self, callback: Callable[[int], None]) -> "FakeTimer":
        return FakeTimer(self, callback)

    def run_until(self, host_ns: int) -> None:
        while self._heap and self._heap[0][0] <= host_ns:
            now_ns, _, callback = heapq.heappop(self._heap)
            self.now_ns = HostNs(now_ns)
            callback(self.now_ns)
        self.now_ns = HostNs(host_ns)

    def connect(
        self,
        a: str,
        b: str,
        *,
        mtu_bytes: int,
        retry_count: int,
        timeout_exponent: int,
        path_seed: int = 0,
        service: str = "rc",
        limiter_of: NicQueuePair | None = None,
    ) -> tuple["FakeQueuePair", "FakeQueuePair"]:
        here, there = (FakeQueuePair(self, next(self._numbers), service, retry_count) for _ in range(2))
        here.peer, there.peer = there, here
        return here, there

    def datagram_queue_pair(self, host: str) -> "FakeDatagrams":
        return FakeDatagrams(self)


@dataclass
class FakeTimer:
    network: FakeNetwork
    callback: Callable[[int], None]
    setting: int = 0

    def set(self, host_ns: int) -> None:
        self.setting += 1
        setting = self.setting
        self.network.schedule(host_ns, lambda now: self.callback(now) if self.setting == setting else None)

    def cancel(self) -> None:
        self.setting += 1


@dataclass
class FakeDatagrams:
    network: FakeNetwork
    on_receives: OnDatagrams | None = None
    sent: int = 0

    def attach(self, on_receives: OnDatagrams) -> None:
        self.on_receives = on_receives

    def post_send(self, wr_id: int, destination: NicDatagrams, payload: bytes) -> None:
        self.sent += 1
        network = self.network

        def arrive() -> None:
            if not network.loses(network.now_ns):
                assert isinstance(destination, FakeDatagrams)
                assert destination.on_receives is not None
                destination.on_receives(network.now_ns, [(1, network.now_ns + OFFSET_NS, payload)])

        network.after(DELAY_NS, arrive)


@dataclass
class FakeQueuePair:
    network: FakeNetwork
    qp_num: int
    service: str
    retry_count: int
    state: int = RTS
    rate_bps: int = LINE_RATE_BPS
    limiter: int | None = None
    retransmitted_bytes: int = 0
    posted_bytes: int = 0
    sq_psn: int = 0
    rq_psn: int = 0
    retries: int = 0
    next_to_send: int = 0
    acked: int = 0
    taken: int = 0
    sending: bool = False
    response_end_ns: float = 0.0
    life: int = 0
    timer: int = 0
    posted: list[FakeVerb] = field(default_factory=list)
    left_at_ns: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.peer: FakeQueuePair
        self.on_completions: OnCompletions
        self.on_receives: OnCompletions | None = None

    def attach(
        self,
        on_completions: OnCompletions,
        on_qp_event: Callable[[int, int], None],
        on_receives: OnCompletions | None = None,
    ) -> None:
        self.on_completions, self.on_qp_event, self.on_receives = on_completions, on_qp_event, on_receives

    @property
    def delivered_bytes(self) -> int:
        return sum(verb.length_bytes for verb in self.posted[: self.acked])

    def call_when_delivered(self, delivered_bytes: int, callback: Callable[[int], object]) -> None:
        raise NotImplementedError

    def left_ns(self, wr_id: int) -> float:
        return self.left_at_ns[wr_id]

    def nic_clock_ns(self) -> NicNs:
        return NicNs(self.network.now_ns + OFFSET_NS)

    def post_write(
        self,
        wr_id: int,
        length_bytes: int,
        signaled: bool,
        *,
        imm: int | None = None,
        local_offset: int = 0,
        remote_offset: int = 0,
    ) -> int:
        return self._post(FakeVerb("write", wr_id, length_bytes, signaled, imm, remote_offset))

    def post_read(
        self,
        wr_id: int,
        length_bytes: int,
        signaled: bool,
        *,
        local_offset: int = 0,
        remote_offset: int = 0,
    ) -> int:
        return self._post(FakeVerb("read", wr_id, length_bytes, signaled, None, local_offset))

    def post_send(self, wr_id: int, length_bytes: int, signaled: bool, *, imm: int | None = None) -> int:
        return self._post(FakeVerb("send", wr_id, length_bytes, signaled, imm))

    def set_rate(self, rate_bps: int) -> int:
        step = self.network.step_bps
        self.rate_bps = min(-(-rate_bps // step) * step, LINE_RATE_BPS)
        return self.rate_bps

    def bind(self, local: NicMemory, remote: NicMemory) -> None:
        self.memories = (local, remote)

    def use_limiter(self, number: int) -> None:
        assert self.acked == len(self.posted), "only an idle queue pair moves to another limiter"
        self.limiter = number

    def reset(self) -> None:
        self.state = RESET
        self.life += 1
        self.posted, self.next_to_send, self.acked, self.taken = [], 0, 0, 0
        self.sending = False

    def ready(self, *, sq_psn: int, rq_psn: int) -> None:
        assert self.state == RESET, "only a queue pair in RESET can be readied"
        self.state, self.sq_psn, self.rq_psn, self.retries = RTS, sq_psn, rq_psn, 0

    def _post(self, verb: FakeVerb) -> int:
        if self.state != RTS:
            raise QueuePairError(f"queue pair {self.qp_num} is not ready")
        self.posted.append(verb)
        self.posted_bytes += verb.length_bytes
        self._send_next()
        self._arm()
        return self.nic_clock_ns()

    def _send_next(self) -> None:
        if self.sending or self.state != RTS or self.next_to_send >= len(self.posted):
            return
        number, verb = self.next_to_send, self.posted[self.next_to_send]
        self.next_to_send += 1
        self.sending = True
        life, psn = self.life, self.sq_psn
        left_ns, free_ns = (0.0, 0.0) if verb.verb == "read" else verb.serialisation_ns(self.rate_bps)

        def leave() -> None:
            self.left_at_ns[verb.wr_id] = self.nic_clock_ns()
            self.network.after(DELAY_NS, lambda: self._arrive(number, verb, psn, life))
            if self.life == life and self.service == "uc":
                self.acked = number + 1
                self._complete([verb])

        def go_on() -> None:
            if self.life == life:
                self.sending = False
                self._send_next()

        self.network.after(left_ns, leave)
        self.network.after(free_ns, go_on)

    def _arrive(self, number: int, verb: FakeVerb, psn: int, life: int) -> None:
        """The verb reaches the peer, which takes it if it is the next one of a life that it knows."""
        peer, network = self.peer, self.network
        if peer.state != RTS or peer.rq_psn != psn or network.loses(network.now_ns):
            return
        if self.service == "rc" and number > peer.taken:
            return
        is_new = self.service == "uc" or number == peer.taken
        peer.taken = max(peer.taken, number + 1)
        if is_new:
            if verb.verb != "read":
                network.writes.append((network.now_ns, self.qp_num, verb.offset_bytes, verb.length_bytes))
            if (verb.verb == "send" or verb.imm is not None) and peer.on_receives is not None:
                peer.on_receives(
                    network.now_ns, [(0, SUCCESS, peer.nic_clock_ns(), verb.length_bytes, verb.imm)]
                )
        if self.service == "rc":
            response_ns = peer.respond_ns(verb) if verb.verb == "read" else 0.0
            network.after(response_ns + DELAY_NS, lambda: self._acknowledge(number, life))

    def respond_ns(self, verb: FakeVerb) -> float:
        """Responses to READs leave one after the other, at this end's rate."""
        start_ns = max(float(self.network.now_ns), self.response_end_ns)
        left_ns, free_ns = verb.serialisation_ns(self.rate_bps)
        self.response_end_ns = start_ns + free_ns
        return start_ns + left_ns - self.network.now_ns

    def _acknowledge(self, number: int, life: int) -> None:
        if self.life != life or self.state != RTS or self.network.loses(self.network.now_ns):
            return
        done = self.posted[self.acked : number + 1]
        self.acked = max(self.acked, number + 1)
        self.retries = 0
        for verb in done:
            if verb.verb == "read":
                self.network.writes.append(
                    (self.network.now_ns, self.qp_num, verb.offset_bytes, verb.length_bytes)
                )
        self._arm()
        self._complete(done)

    def _complete(self, done: list[FakeVerb]) -> None:
        entries: list[Completion] = [
            (verb.wr_id, SUCCESS, self.nic_clock_ns(), verb.length_bytes, None)
            for verb in done
            if verb.signaled
        ]
        if entries:
            self.on_completions(self.network.now_ns, entries)

    def _arm(self) -> None:
        """Something outstanding must make progress within the timeout."""
        self.timer += 1
        timer, life = self.timer, self.life
        if self.service == "rc" and self.acked < len(self.posted):
            self.network.after(
                TIMEOUT_NS, lambda: self._time_out() if (self.timer, self.life) == (timer, life) else None
            )

    def _time_out(self) -> None:
        if self.state != RTS:
            return
        if self.retries == self.retry_count:
            self._fail()
            return
        self.retries += 1
        self.retransmitted_bytes += sum(
            verb.length_bytes for verb in self.posted[self.acked : self.next_to_send]
        )
        self.next_to_send = self.acked
        self._arm()
        self._send_next()

    def _fail(self) -> None:
        self.state = ERR
        lost = self.posted[self.acked :]
        statuses = [RETRY_EXC_ERR] + [WR_FLUSH_ERR] * (len(lost) - 1)
        now_ns = self.network.now_ns
        self.on_completions(
            now_ns,
            [
                (verb.wr_id, status, self.nic_clock_ns(), 0, None)
                for verb, status in zip(lost, statuses, strict=True)
            ],
        )
        self.on_qp_event(now_ns, ERR)
