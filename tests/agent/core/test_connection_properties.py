"""Whatever completes, fails or comes late, in whatever grouping: no byte is lost or reported twice.

A model of the send queue runs beside the connection. It takes posts in order, completes them in order in
polls of any size, may fail at any verb, may lose the flush, and may refuse verbs when the driver posts them.
"""

from collections import deque

from helpers.networks import SEGMENTS
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from rogue.agent.core.actions import (
    RETRY_EXC_ERR,
    SUCCESS,
    WR_FLUSH_ERR,
    Action,
    Completion,
    PostSend,
    QueuePairFailed,
    SetRate,
    TransferDone,
)
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.segmentation import Transfer
from rogue.agent.core.states import State
from rogue.agent.core.transports import settings_for

QP_NUM = 1
MTU = 1024
SEGMENT = 4 * MTU  # small segments: many verbs in few steps
LINE_RATE_BPS = 10**10
SEND_QUEUE_VERBS = 8
SIZES = st.one_of(st.integers(0, 2 * SEGMENT), st.sampled_from([0, SEGMENT, 5 * SEGMENT, 20 * SEGMENT + 1]))


class ConnectionMachine(RuleBasedStateMachine):
    """Rules are what a NIC, a driver and an application may do; invariants are what must hold after each."""

    @initialize(
        transport=st.sampled_from(["rogue", "roce"]),
        estimator=st.sampled_from(["drained", "literal"]),
        rate_step_bps=st.sampled_from([0, 100_000_000]),
        has_limiter=st.booleans(),
        fails_after_verbs=st.sampled_from([0, 5, 30, 10**9]),
    )
    def connect(
        self, transport: str, estimator: str, rate_step_bps: int, has_limiter: bool, fails_after_verbs: int
    ) -> None:
        self.fails_after_verbs = fails_after_verbs
        overrides: dict[str, object] = {
            "segment_bytes": SEGMENT,
            "hold_off_bytes": 10_000,
            "send_queue_verbs": SEND_QUEUE_VERBS,
        }
        if transport == "rogue":
            overrides["estimator"] = estimator
        link = LinkFacts(LINE_RATE_BPS, MTU, rate_step_bps=rate_step_bps, has_limiter=has_limiter)
        settings = settings_for(transport, LINE_RATE_BPS, overrides)
        self.connection, self.twin = (Connection(settings, link, QP_NUM, tracing=True) for _ in range(2))
        self.now_ns = 0
        self.sizes: dict[int, int] = {}
        self.posted: list[PostSend] = []
        self.send_queue: deque[PostSend] = deque()
        self.completed_bytes: dict[int, int] = {}
        self.done: dict[int, TransferDone] = {}
        self.failures: list[QueuePairFailed] = []
        self.is_qp_in_error = False
        self.cwnd_packets = settings.cc_parameters.build(link, SEGMENTS).cwnd_packets
        self.assembled: list[PostSend] = []

    # what an application may do

    @rule(size_bytes=SIZES, is_signaled=st.booleans())
    def submit(self, size_bytes: int, is_signaled: bool) -> None:
        transfer = Transfer(len(self.sizes), size_bytes, is_signaled)
        self.sizes[transfer.transfer_id] = size_bytes
        for connection in (self.connection, self.twin):
            connection.submit(transfer)
        self.carry_out()

    # what a NIC may do

    @precondition(lambda self: not self.is_qp_in_error and self.send_queue)
    @rule(signals=st.integers(1, 4), ns=st.integers(1_000, 2_000_000))
    def complete(self, signals: int, ns: int) -> None:
        self.now_ns += ns
        self.poll(self.take_signalled(signals))

    @precondition(lambda self: self.may_fail() and self.send_queue)
    @rule(signals=st.integers(0, 3), flushes_at_once=st.booleans(), event_first=st.booleans())
    def fail(self, signals: int, flushes_at_once: bool, event_first: bool) -> None:
        """Some verbs still complete, the next one fails, the others are flushed, now or in a later poll."""
        self.is_qp_in_error = True
        entries = self.take_signalled(signals)
        if event_first:
            self.qp_event()
        if self.send_queue:
            entries.append(self.entry(self.send_queue.popleft(), RETRY_EXC_ERR))
        if flushes_at_once:
            entries += self.take_flushed(len(self.send_queue))
        self.poll(entries)

    @precondition(lambda self: self.is_qp_in_error and self.send_queue)
    @rule(count=st.integers(1, 5))
    def flush(self, count: int) -> None:
        self.poll(self.take_flushed(count))

    @precondition(lambda self: self.is_qp_in_error)
    @rule()
    def qp_event(self) -> None:
        for connection in (self.connection, self.twin):
            connection.on_qp_error(HostNs(self.now_ns), QP_NUM)
        self.carry_out()

    @precondition(lambda self: self.may_fail())
    @rule()
    def break_silently(self) -> None:
        """The queue pair is lost, and the driver notices at its next post or event."""
        self.is_qp_in_error = True

    def may_fail(self) -> bool:
        return not self.is_qp_in_error and len(self.posted) >= self.fails_after_verbs

    # what time may do

    @rule(ns=st.sampled_from([0, 1_000, 999_999_999, 1_000_000_000, 10_000_000_000]))
    def timer(self, ns: int) -> None:
        """Early, in time, or far too late."""
        self.now_ns += ns
        for connection in (self.connection, self.twin):
            connection.on_timer(HostNs(self.now_ns))
        self.carry_out()

    # the driver

    def poll(self, entries: list[Completion]) -> None:
        for connection in (self.connection, self.twin):
            connection.on_completions(HostNs(self.now_ns), entries)
        self.carry_out()

    def carry_out(self) -> None:
        actions = self.connection.actions()
        assert actions == self.twin.actions(), "same inputs, same actions"
        is_refused = False
        for action in actions:
            if isinstance(action, PostSend) and is_refused:
                continue
            is_refused = not self.carry_out_one(action) or is_refused
        if is_refused:
            self.carry_out()

    def carry_out_one(self, action: Action) -> bool:
        """Return False if the queue pair did not take a verb."""
        if isinstance(action, PostSend):
            if self.is_qp_in_error:
                for connection in (self.connection, self.twin):
                    connection.on_post_refused(HostNs(self.now_ns), action.wr_id)
                return False
            self.check_window(action)
            self.posted.append(action)
            self.send_queue.append(action)
            for connection in (self.connection, self.twin):
                connection.on_posted(action.wr_id, NicNs(self.now_ns))
        elif isinstance(action, SetRate):
            for connection in (self.connection, self.twin):
                connection.on_rate_set(action.rate_bps)
        elif isinstance(action, TransferDone):
            assert action.transfer_id not in self.done, "reported twice"
            self.done[action.transfer_id] = action
        elif isinstance(action, QueuePairFailed):
            self.failures.append(action)
        else:
            self.cwnd_packets = action.metrics["cwnd_packets"]
        return True

    def check_window(self, send: PostSend) -> None:
        """Posted bytes stay within max(cwnd * MTU, 2 segments), or fewer than two batches were out."""
        self.assembled.append(send)
        assert len(self.send_queue) < SEND_QUEUE_VERBS
        if send.signaled:
            batches_before = sum(each.signaled for each in self.send_queue)
            posted_bytes = sum(each.length_bytes for each in self.send_queue) + send.length_bytes
            assert batches_before < 2 or posted_bytes <= max(self.cwnd_packets * MTU, 2 * SEGMENT)
            assert sum(each.length_bytes for each in self.assembled) < 2 * SEGMENT, (
                "a batch is closed in time"
            )
            self.assembled = []

    # the model of the send queue

    def take_signalled(self, signals: int) -> list[Completion]:
        """Complete verbs up to the given number of signalled ones; unsignalled ones complete in silence."""
        entries: list[Completion] = []
        while self.send_queue and len(entries) < signals:
            send = self.send_queue.popleft()
            transfer_id = send.transfer_id
            self.completed_bytes[transfer_id] = self.completed_bytes.get(transfer_id, 0) + send.length_bytes
            if send.signaled:
                entries.append(self.entry(send, SUCCESS))
        return entries

    def take_flushed(self, count: int) -> list[Completion]:
        return [
            self.entry(self.send_queue.popleft(), WR_FLUSH_ERR)
            for _ in range(min(count, len(self.send_queue)))
        ]

    def entry(self, send: PostSend, status: int) -> Completion:
        return (send.wr_id, status, NicNs(self.now_ns), send.length_bytes, None)

    # what must hold

    @invariant()
    def every_byte_is_posted_once_and_in_order(self) -> None:
        assert [send.wr_id for send in self.posted] == list(range(1, len(self.posted) + 1))
        position: dict[int, int] = {}
        for send in self.posted:
            assert send.offset_bytes == position.get(send.transfer_id, 0)
            position[send.transfer_id] = send.offset_bytes + send.length_bytes
        assert all(position[transfer_id] <= self.sizes[transfer_id] for transfer_id in position)

    @invariant()
    def a_transfer_is_reported_with_what_arrived(self) -> None:
        for transfer_id, done in self.done.items():
            arrived_bytes = self.completed_bytes.get(transfer_id, 0)
            if done.is_ok:
                assert done.acked_bytes == arrived_bytes == self.sizes[transfer_id]
            else:
                assert done.acked_bytes <= arrived_bytes
                assert self.failures, "an error has a reason"

    @invariant()
    def failure_is_said_once(self) -> None:
        assert len(self.failures) <= 1
        if self.connection.state is State.FAILED:
            assert len(self.failures) == 1
            assert self.done.keys() == self.sizes.keys(), "nothing stays unreported"
        elif self.connection.state is State.OPEN:
            assert not self.failures

    @invariant()
    def an_open_connection_never_stalls(self) -> None:
        """Something unreported means that something is posted, or that a timer runs."""
        if len(self.done) < len(self.sizes) and not self.is_qp_in_error:
            assert self.send_queue or self.connection.next_deadline() is not None

    def teardown(self) -> None:
        """After all completions and enough time everything is reported."""
        if not hasattr(self, "connection"):
            return
        for _ in range(10_000):
            if not self.send_queue or self.is_qp_in_error:
                break
            self.now_ns += 100_000
            self.poll(self.take_signalled(1))
        if self.is_qp_in_error:
            self.qp_event()
            self.timer(10_000_000_000)
        assert self.done.keys() == self.sizes.keys()
        if not self.is_qp_in_error:
            assert all(done.is_ok for done in self.done.values())


TestConnectionMachine = ConnectionMachine.TestCase
TestConnectionMachine.settings = hypothesis_settings(
    max_examples=100, stateful_step_count=50, deadline=None, derandomize=True
)
