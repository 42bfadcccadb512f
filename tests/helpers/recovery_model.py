"""A model of what lies between a connection and the library at its passive end, verb by verb.

A wire is a queue pair between the two: it keeps the verbs of each of its lives, posted and not yet executed
at the peer. The driver of the model may execute any prefix of them and acknowledge any prefix of that. What
was posted before our end was reset may still arrive at the peer until the peer's end is reset as well.
Datagrams lie in two lists, to be delivered in any order, lost or repeated.
"""

from collections import deque
from dataclasses import dataclass, field

from helpers.hostile_network import SEAL

from rogue.agent.core.actions import (
    NO_TRANSFER,
    SUCCESS,
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
from rogue.agent.core.clocks import NicNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.lane import LANE_SHIFT
from rogue.agent.core.library import Deliver, Library
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.recovery import Peer, QueuePairNumbers
from rogue.agent.core.transports import settings_for

MTU, SEGMENT = 1024, 4096
LINK = LinkFacts(10**10, MTU, rate_step_bps=100_000_000)
SETTINGS = settings_for(
    "rogue", LINK.line_rate_bps, {"segment_bytes": SEGMENT, "hold_off_bytes": 8192, "send_queue_verbs": 8}
)
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
        main, shadow = (
            QueuePairNumbers(10 * number + 1, 10 * number + 5),
            QueuePairNumbers(10 * number + 2, 10 * number + 6),
        )
        self.wires = {ends.qp_num: Wire(*ends) for ends in (main, shadow)}
        self.connection = Connection(
            SETTINGS, LINK, main.qp_num, peer=Peer(LINK, main.peer_qp_num, shadow, SEAL), tracing=True
        )
        self.library = Library(main.peer_qp_num, shadow.peer_qp_num, seal=SEAL)
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
        cwnd_packets = self.connection._lanes[number].feedback.cc.cwnd_packets
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
