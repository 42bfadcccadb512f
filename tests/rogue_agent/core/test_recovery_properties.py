"""Two connections and their libraries, over queue pairs that fail and a side channel that lies.

Each connection's WRITEs, SENDs and READs run over a main and a shadow queue pair. A model of the network
keeps the packets of each queue pair's life (verbs posted, and not yet executed at the peer); it may execute
any prefix of them, acknowledge any prefix of that, and fail a queue pair in between. What was posted before
our end was reset may still arrive at the peer until the peer's end is reset as well. Datagrams may be lost,
repeated and reordered.
"""

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import Phase
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from rogue_agent.core.actions import (
    NO_TRANSFER,
    ConnectionFailed,
    PostSend,
    ReadyQueuePair,
    ResetQueuePair,
    SendPeer,
    SetRate,
    SwitchToShadow,
    TransferDone,
    Verb,
)
from rogue_agent.core.clocks import HostNs, NicNs
from rogue_agent.core.completions import RETRY_EXC_ERR, SUCCESS, WR_FLUSH_ERR, Completion
from rogue_agent.core.connection import Connection, QpEvent
from rogue_agent.core.errors import PeerError
from rogue_agent.core.lane import LANE_SHIFT
from rogue_agent.core.library import Deliver, Library
from rogue_agent.core.link import LinkFacts
from rogue_agent.core.recovery import Ends, Peer
from rogue_agent.core.reports import Reports
from rogue_agent.core.segmentation import Transfer
from rogue_agent.core.states import State
from rogue_agent.core.transports import settings_for
from rogue_agent.core.window import Window

MTU, SEGMENT = 1024, 4096
LINK = LinkFacts(10**10, MTU, rate_step_bps=100_000_000)
SETTINGS = settings_for(
    "rogue", LINK.line_rate_bps, {"segment_bytes": SEGMENT, "hold_off_bytes": 8192, "send_queue_verbs": 8}
)
SIZES = st.sampled_from([0, 100, SEGMENT, 3 * SEGMENT + 1])
LIMIT_NS = SETTINGS.resync_limit_ns
DELIVERED_AT_RESET = -1


@dataclass
class Life:
    """One life of a queue pair, from ready to reset: its verbs in order, and how far they came."""

    sq_psn: int
    posted: list[PostSend] = field(default_factory=list)
    executed: int = 0
    acknowledged: int = 0
    is_failed: bool = False


class Wire:
    """A queue pair between two ends: our life of it, the peer's, and what lingers of lives before."""

    def __init__(self, qp_num: int, peer_qp_num: int) -> None:
        self.qp_num, self.peer_qp_num = qp_num, peer_qp_num
        self.life = Life(0)
        self.expected_psn = 0  # the peer's end takes only what was posted in the life that starts with it
        self.is_reset = False
        self.late: deque[tuple[int, PostSend]] = deque()  # (life, verb) that may still reach the peer


class Side:
    """One connection, its two wires, the library at its passive end, and what arrived there."""

    def __init__(self, number: int) -> None:
        main, shadow = Ends(10 * number + 1, 10 * number + 5), Ends(10 * number + 2, 10 * number + 6)
        self.wires = {ends.qp_num: Wire(*ends) for ends in (main, shadow)}
        self.connection = Connection(
            SETTINGS, LINK, main.qp_num, peer=Peer(LINK, main.peer_qp_num, shadow), tracing=True
        )
        self.library = Library(main.peer_qp_num, shadow.peer_qp_num)
        self.posting = self.wires[main.qp_num]
        self.to_library: list[bytes] = []
        self.to_connection: list[bytes] = []
        self.sizes: dict[int, int] = {}
        self.verbs: dict[int, Verb] = {}
        self.arrived: dict[int, set[int]] = {}
        self.done: dict[int, TransferDone] = {}
        self.delivered: list[int] = []
        self.expected: list[int] = []
        self.failures: list[ConnectionFailed] = []
        self.executed_after_done: list[int] = []

    def wire_at_peer(self, peer_qp_num: int) -> Wire:
        return next(wire for wire in self.wires.values() if wire.peer_qp_num == peer_qp_num)

    def carry_out(self, now_ns: int) -> None:
        """Do all that connection and library ask for."""
        while actions := self.connection.actions():
            for action in actions:
                self.carry_out_one(action, now_ns)
        for each in self.library.actions():
            self.serve(each)

    def carry_out_one(self, action: object, now_ns: int) -> None:
        if isinstance(action, PostSend):
            assert not self.posting.is_reset, "posted to a queue pair in RESET"
            self.connection.on_posted(action.wr_id, NicNs(now_ns))
            self.posting.life.posted.append(action)
            self.check_window(action)
        elif isinstance(action, SetRate):
            self.connection.on_rate_set(action.rate_bps)
        elif isinstance(action, TransferDone):
            self.finish(action)
        elif isinstance(action, SwitchToShadow):
            self.posting = self.wires[action.qp_num]
        elif isinstance(action, ResetQueuePair):
            self.reset(self.wires[action.qp_num])
        elif isinstance(action, ReadyQueuePair):
            wire = self.wires[action.qp_num]
            assert wire.is_reset
            wire.is_reset, wire.life = False, Life(action.sq_psn)
        elif isinstance(action, SendPeer):
            self.to_library.append(action.payload)
        elif isinstance(action, ConnectionFailed):
            self.failures.append(action)

    def check_window(self, action: PostSend) -> None:
        """Per lane posted bytes stay within max(cwnd * MTU, 2 segments), or at most two batches are out."""
        life, number = self.posting.life, action.wr_id >> LANE_SHIFT
        if not action.signaled:
            return
        out = [verb for verb in life.posted[life.acknowledged :] if verb.wr_id >> LANE_SHIFT == number]
        cwnd_packets = self.connection._lanes[number].control.cc.cwnd_packets
        assert sum(verb.signaled for verb in out) <= 2 or sum(verb.length_bytes for verb in out) <= max(
            cwnd_packets * MTU, 2 * SEGMENT
        )

    def finish(self, action: TransferDone) -> None:
        assert action.transfer_id not in self.done, "reported twice"
        self.done[action.transfer_id] = action
        if action.is_ok:
            arrived = self.arrived.get(action.transfer_id, set())
            size = self.sizes[action.transfer_id]
            assert arrived == set(range(0, max(size, 1), SEGMENT)), "reported, but not all has arrived"
            for wire in self.wires.values():
                for _, verb in wire.late:
                    assert verb.transfer_id != action.transfer_id, (
                        "reported, although a late packet can still overwrite its memory"
                    )

    def reset(self, wire: Wire) -> None:
        """Our end is reset: what it sent before may still be on its way."""
        for verb in wire.life.posted[wire.life.executed :]:
            wire.late.append((wire.life.sq_psn, verb))
        wire.is_reset, wire.life = True, Life(DELIVERED_AT_RESET)

    def serve(self, action: object) -> None:
        if isinstance(action, ResetQueuePair):
            self.wire_at_peer(action.qp_num).late.clear()  # nothing of any life before can be taken any more
        elif isinstance(action, ReadyQueuePair):
            self.wire_at_peer(action.qp_num).expected_psn = action.rq_psn
        elif isinstance(action, SendPeer):
            self.to_connection.append(action.payload)
        elif isinstance(action, Deliver):
            self.delivered.append(action.byte_len)

    def execute(self, wire: Wire, verb: PostSend) -> None:
        """The peer takes a verb."""
        if verb.transfer_id == NO_TRANSFER or verb.verb == "send" or verb.imm is not None:
            entry = (0, SUCCESS, NicNs(0), self.stamp(verb), verb.imm)
            self.library.on_receives(wire.peer_qp_num, [entry], NicNs(0))
        if verb.transfer_id != NO_TRANSFER:
            self.arrived.setdefault(verb.transfer_id, set()).add(verb.offset_bytes)

    def stamp(self, verb: PostSend) -> int:
        """Something that tells messages apart, in place of their length."""
        return 0 if verb.transfer_id == NO_TRANSFER else verb.transfer_id * 100 + verb.offset_bytes // SEGMENT


class RecoveryMachine(RuleBasedStateMachine):
    """Rules are what applications, NICs, network and time may do."""

    @initialize()
    def connect(self) -> None:
        self.now_ns = 0
        self.sides = [Side(1), Side(2)]
        self.carry_out()

    def carry_out(self) -> None:
        for side in self.sides:
            side.carry_out(self.now_ns)

    @rule(number=st.integers(0, 1), size=SIZES, verb=st.sampled_from(["write", "read", "send"]))
    def submit(self, number: int, size: int, verb: Verb) -> None:
        side = self.sides[number]
        transfer_id = len(side.sizes)
        side.sizes[transfer_id], side.verbs[transfer_id] = size, verb
        if verb == "send":
            side.expected += [transfer_id * 100 + piece for piece in range(max(1, -(-size // SEGMENT)))]
        side.connection.submit(Transfer(transfer_id, size, verb=verb))
        self.carry_out()

    @rule(number=st.integers(0, 1), which=st.integers(0, 1), count=st.integers(1, 4))
    def execute(self, number: int, which: int, count: int) -> None:
        """Verbs arrive in order, unless the queue pair was reset on one end only."""
        side = self.sides[number]
        wire = list(side.wires.values())[which]
        life = wire.life
        for _ in range(count):
            if life.executed < len(life.posted) and life.sq_psn == wire.expected_psn:
                verb = life.posted[life.executed]
                life.executed += 1
                side.execute(wire, verb)
        self.carry_out()

    @rule(number=st.integers(0, 1), which=st.integers(0, 1))
    def arrive_late(self, number: int, which: int) -> None:
        """A packet of a life that is over at our end, but not at the peer's."""
        side = self.sides[number]
        wire = list(side.wires.values())[which]
        if wire.late and wire.late[0][0] == wire.expected_psn:
            _, verb = wire.late.popleft()
            side.execute(wire, verb)
            self.carry_out()

    @rule(number=st.integers(0, 1), which=st.integers(0, 1), count=st.integers(1, 4))
    def acknowledge(self, number: int, which: int, count: int) -> None:
        self.now_ns += 100_000
        side = self.sides[number]
        life = list(side.wires.values())[which].life
        if not life.is_failed:
            side.connection.on_completions(HostNs(self.now_ns), self.completions(life, count))
            self.carry_out()

    def completions(self, life: Life, count: int) -> list[Completion]:
        entries: list[Completion] = []
        while life.acknowledged < life.executed and len(entries) < count:
            verb = life.posted[life.acknowledged]
            life.acknowledged += 1
            if verb.signaled:
                entries.append((verb.wr_id, SUCCESS, NicNs(self.now_ns), verb.length_bytes, None))
        return entries

    @precondition(lambda self: any(side.posting.life.posted for side in self.sides))
    @rule(number=st.integers(0, 1), event_first=st.booleans(), flushes=st.booleans())
    def fail(self, number: int, event_first: bool, flushes: bool) -> None:
        """The queue pair in use fails: its oldest verb first, then the others, soon or never."""
        side = self.sides[number]
        wire = side.posting
        life = wire.life
        if wire.is_reset or life.is_failed or life.acknowledged == len(life.posted):
            return
        life.is_failed = True
        lost = life.posted[life.acknowledged :]
        entries: list[Completion] = [(lost[0].wr_id, RETRY_EXC_ERR, NicNs(self.now_ns), 0, None)]
        if flushes:
            entries += [(verb.wr_id, WR_FLUSH_ERR, NicNs(self.now_ns), 0, None) for verb in lost[1:]]
        now = HostNs(self.now_ns)
        if event_first:
            side.connection.on_qp_event(now, wire.qp_num, QpEvent.ERROR)
            self.carry_out()
        side.connection.on_completions(now, entries)
        self.carry_out()

    @rule(number=st.integers(0, 1), to_library=st.booleans(), keep=st.booleans(), index=st.integers(0, 9))
    def deliver_datagram(self, number: int, to_library: bool, keep: bool, index: int) -> None:
        """Any of the datagrams on their way arrives; it may arrive again."""
        side = self.sides[number]
        queue = side.to_library if to_library else side.to_connection
        if not queue:
            return
        payload = queue[index % len(queue)] if keep else queue.pop(index % len(queue))
        (side.library if to_library else side.connection).on_peer_message(payload)
        self.carry_out()

    @rule(number=st.integers(0, 1), to_library=st.booleans())
    def lose_datagrams(self, number: int, to_library: bool) -> None:
        side = self.sides[number]
        (side.to_library if to_library else side.to_connection).clear()

    @rule(number=st.integers(0, 1), to_library=st.booleans(), payload=st.binary(max_size=40))
    def forge_datagram(self, number: int, to_library: bool, payload: bytes) -> None:
        side = self.sides[number]
        with pytest.raises(PeerError):
            (side.library if to_library else side.connection).on_peer_message(payload)
        self.carry_out()

    @rule(ns=st.sampled_from([0, 10_000_000, 400_000_000, LIMIT_NS]))
    def pass_time(self, ns: int) -> None:
        self.now_ns += ns
        for side in self.sides:
            side.connection.on_timer(HostNs(self.now_ns))
        self.carry_out()

    @invariant()
    def messages_are_delivered_exactly_once_and_in_order(self) -> None:
        for side in self.sides:
            assert side.delivered == side.expected[: len(side.delivered)]

    @invariant()
    def only_a_lost_peer_fails_a_transfer(self) -> None:
        for side in self.sides:
            if any(not done.is_ok for done in side.done.values()):
                assert len(side.failures) == 1
            assert (side.connection.state is State.FAILED) == bool(side.failures)

    def teardown(self) -> None:
        """From here on nothing fails: everything is delivered and reported, or was given up before.

        The side channel comes last, so that whatever can be reported too early will be.
        """
        if not hasattr(self, "sides"):
            return
        for turn in range(400):
            self.now_ns += 20_000_000
            for number, side in enumerate(self.sides):
                while turn > 20 and side.to_library:
                    side.library.on_peer_message(side.to_library.pop(0))
                while turn > 20 and side.to_connection:
                    side.connection.on_peer_message(side.to_connection.pop(0))
                side.connection.on_timer(HostNs(self.now_ns))
                side.carry_out(self.now_ns)
                for which in range(2):
                    self.execute(number, which, 10)
                    self.acknowledge(number, which, 10)
            if all(side.done.keys() == side.sizes.keys() for side in self.sides):
                break
        for side in self.sides:
            assert side.done.keys() == side.sizes.keys(), "something stays unreported"
            if not side.failures:
                assert all(done.is_ok for done in side.done.values())
                assert side.delivered == side.expected


RUNS = hypothesis_settings(max_examples=150, stateful_step_count=60, deadline=None, derandomize=True)
MUTANT_RUNS = hypothesis_settings(RUNS, phases=[Phase.generate], report_multiple_bugs=False)


def test_everything_arrives_and_is_reported_once_and_never_too_early() -> None:
    run_state_machine_as_test(RecoveryMachine, settings=RUNS)


def the_library_skips_its_reset(monkeypatch: pytest.MonkeyPatch) -> None:
    serve = Side.serve

    def without_reset(self: Side, action: object) -> None:
        if not isinstance(action, ResetQueuePair):
            serve(self, action)

    monkeypatch.setattr(Side, "serve", without_reset)


def reports_do_not_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Reports, "suspect", lambda self, transfer_ids: None)


def repeated_messages_are_delivered(monkeypatch: pytest.MonkeyPatch) -> None:
    def take(self: Library, incoming: object, byte_len: int, imm: int | None) -> None:
        self._actions.append(Deliver(byte_len, imm))

    monkeypatch.setattr(Library, "_take", take)


def verbs_are_not_posted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Window, "take_all", lambda self: self.batches.clear() or [])


@pytest.mark.parametrize(
    ("mutate", "complaint"),
    [
        (the_library_skips_its_reset, "late packet"),
        (reports_do_not_wait_for_it, "late packet"),
        (repeated_messages_are_delivered, r"assert \[.*\] == \["),
        (verbs_are_not_posted_again, "stays unreported|not all has arrived"),
    ],
)
def test_the_same_machine_sees_each_mutant(
    mutate: Callable[[pytest.MonkeyPatch], None], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first falsifying run is enough: no shrinking."""
    mutate(monkeypatch)
    with pytest.raises(AssertionError) as caught:
        run_state_machine_as_test(RecoveryMachine, settings=MUTANT_RUNS)
    # what broke off in the middle of a step makes the teardown complain as well
    complaints = f"{caught.value} {caught.value.__context__}"
    assert re.search(complaint, complaints), complaints
