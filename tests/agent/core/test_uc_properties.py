"""Over UC, whatever is lost, late or silent: each transfer is reported once, and nothing ever stalls."""

from collections import deque

from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from rogue.agent.core.actions import SUCCESS, Action, PostSend, SetRate, TransferDone
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.immediates import batch_immediate, batch_of
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.segmentation import Transfer
from rogue.agent.core.transports import settings_for

MTU, SEGMENT = 1024, 4096
VERBS_MAX = 8
LINK = LinkFacts(10**10, MTU, rate_step_bps=100_000_000)
SETTINGS = settings_for(
    "rogue-uc",
    LINK.line_rate_bps,
    {"segment_bytes": SEGMENT, "hold_off_bytes": 8192, "send_queue_verbs": VERBS_MAX},
)
SIZES = st.sampled_from([0, 1, 100, SEGMENT, 3 * SEGMENT + 1, 20 * SEGMENT])


class UcMachine(RuleBasedStateMachine):
    """The NIC sends verbs in order; acknowledgements come in order, or never, or after they were given up."""

    @initialize()
    def connect(self) -> None:
        self.now_ns = 0
        self.connection = Connection(SETTINGS, LINK, 1, tracing=True)
        self.unsent: deque[PostSend] = deque()
        self.unacknowledged: deque[int] = deque()
        self.sizes: dict[int, int] = {}
        self.sent_bytes: dict[int, int] = {}
        self.done: list[TransferDone] = []
        self.carry_out()

    def carry_out(self) -> None:
        while actions := self.connection.actions():
            for action in actions:
                self.carry_out_one(action)

    def carry_out_one(self, action: Action) -> None:
        if isinstance(action, PostSend):
            self.connection.on_posted(action.wr_id, NicNs(self.now_ns))
            self.unsent.append(action)
        elif isinstance(action, SetRate):
            self.connection.on_rate_set(action.rate_bps)
        elif isinstance(action, TransferDone):
            assert action.is_ok
            assert action.acked_bytes == self.sizes[action.transfer_id] == self.sent_bytes[action.transfer_id]
            self.done.append(action)

    @rule(size=SIZES, imm=st.sampled_from([None, 7]), verb=st.sampled_from(["write", "send"]))
    def submit(self, size: int, imm: int | None, verb: str) -> None:
        transfer = Transfer(len(self.sizes), size, imm=imm, verb="send" if verb == "send" else "write")
        self.sizes[transfer.transfer_id] = size
        self.connection.submit(transfer)
        self.carry_out()

    @precondition(lambda self: self.unsent)
    @rule(count=st.integers(1, 6), ns=st.sampled_from([1_000, 400_000]))
    def send(self, count: int, ns: int) -> None:
        for _ in range(min(count, len(self.unsent))):
            self.now_ns += ns
            send = self.unsent.popleft()
            self.sent_bytes[send.transfer_id] = self.sent_bytes.get(send.transfer_id, 0) + send.length_bytes
            if send.imm is not None and send.imm > 0xF000_0000 - 1:
                self.unacknowledged.append(batch_of(send.imm).number)
            if send.signaled:
                entry = (send.wr_id, SUCCESS, NicNs(self.now_ns), send.length_bytes, None)
                self.connection.on_completions(HostNs(self.now_ns), [entry])
                self.carry_out()

    @precondition(lambda self: self.unacknowledged)
    @rule(lost=st.integers(0, 3), processing_ns=st.sampled_from([0, 3_000, 10**7]))
    def acknowledge(self, lost: int, processing_ns: int) -> None:
        """Some acknowledgements are lost, the next one arrives."""
        self.now_ns += 50_000
        for _ in range(min(lost, len(self.unacknowledged) - 1)):
            self.unacknowledged.popleft()
        entry = (
            0,
            SUCCESS,
            NicNs(self.now_ns),
            0,
            batch_immediate(self.unacknowledged.popleft(), processing_ns),
        )
        self.connection.on_receives(HostNs(self.now_ns), [entry])
        self.carry_out()

    @rule()
    def lose_all_acknowledgements(self) -> None:
        self.unacknowledged.clear()

    @rule(ns=st.sampled_from([0, 500_000, 1_000_000, 64_000_000]))
    def pass_time(self, ns: int) -> None:
        self.now_ns += ns
        self.connection.on_timer(HostNs(self.now_ns))
        self.carry_out()

    @invariant()
    def transfers_are_reported_once_and_in_order(self) -> None:
        assert [done.transfer_id for done in self.done] == list(range(len(self.done)))

    @invariant()
    def the_send_queue_holds(self) -> None:
        """A probe comes on top."""
        assert sum(send.transfer_id >= 0 or send.signaled for send in self.unsent) <= VERBS_MAX

    @invariant()
    def nothing_stalls(self) -> None:
        if len(self.done) < len(self.sizes):
            assert self.unsent or self.connection.next_deadline() is not None

    def teardown(self) -> None:
        if not hasattr(self, "connection"):
            return
        for _ in range(2000):
            if len(self.done) == len(self.sizes):
                break
            if self.unsent:
                self.send(1, 1_000)
            elif self.unacknowledged:
                self.acknowledge(0, 0)
            else:
                self.pass_time(64_000_000)
        assert len(self.done) == len(self.sizes), "something stays unreported"


TestUcMachine = UcMachine.TestCase
TestUcMachine.settings = hypothesis_settings(
    max_examples=100, stateful_step_count=50, deadline=None, derandomize=True
)
