"""The receiver-side library: what the passive end of connections does for them, in the background.

Source: RoGUE, section 3.6: it sets the rate of READ responses, acknowledges batches over UC and
re-establishes lost queue pairs.
"""

from collections.abc import Sequence
from enum import Enum, unique
from typing import NamedTuple, TypeAlias

from rogue.agent.core.actions import SUCCESS, Completion, ReadyQueuePair, ResetQueuePair, SendPeer
from rogue.agent.core.clocks import NicNs
from rogue.agent.core.errors import PeerError
from rogue.agent.core.immediates import (
    APPLICATION_MAX,
    RATE_TAG,
    batch_immediate,
    batch_of,
    rate_of,
    tag_of,
)
from rogue.agent.core.resync import Resync, Resynced, Seal, decode, encode


class SetResponseRate(NamedTuple):
    """Program the limiter of our end of a queue pair: it paces the responses to the peer's READs."""

    qp_num: int
    rate_bps: int


class Deliver(NamedTuple):
    """Give the application what a SEND or an immediate brought; each once, in the order of its posting."""

    byte_len: int
    imm: int | None


class AcknowledgeBatch(NamedTuple):
    """Post a WRITE of no bytes with this immediate value, unsignalled, to our end of a queue pair."""

    qp_num: int
    imm: int


LibraryAction: TypeAlias = (
    SetResponseRate | Deliver | AcknowledgeBatch | ResetQueuePair | ReadyQueuePair | SendPeer
)


@unique
class ServerState(Enum):
    """What the library knows of a connection's losses."""

    UNTOUCHED = "no queue pair has been lost"
    RESYNCED = "the last loss has had its reply"


@unique
class ServerEvent(Enum):
    """What a request's epoch means."""

    NEXT = "a new loss"
    REPEATED = "the last loss of this queue pair, asked about again"
    STALE = "an earlier loss, overtaken by a later one"
    EARLY = "a loss after one of which we have not heard yet"


_S, _E = ServerState, ServerEvent

TRANSITIONS: dict[tuple[ServerState, ServerEvent], ServerState] = {
    (_S.UNTOUCHED, _E.NEXT): _S.RESYNCED,
    (_S.UNTOUCHED, _E.EARLY): _S.UNTOUCHED,
    (_S.RESYNCED, _E.NEXT): _S.RESYNCED,
    (_S.RESYNCED, _E.REPEATED): _S.RESYNCED,
    (_S.RESYNCED, _E.STALE): _S.RESYNCED,
    (_S.RESYNCED, _E.EARLY): _S.RESYNCED,
}


class _Incoming:
    """Our end of one queue pair: what it received since it was last made ready."""

    def __init__(self, qp_num: int) -> None:
        self.qp_num = qp_num
        self.epoch = 0
        self.next_number = 1
        self.held: list[tuple[int, int | None]] = []


class Library:
    """Serves one connection's queue pairs at their passive end, without I/O.

    Give it receive completions before datagrams that arrived at the same time: what a queue pair received
    before it was reset must not be taken for what it receives afterwards.

    Each SEND and each immediate has a number, counted from 1 by both ends. After a loss the requester posts
    again what was not acknowledged, although some of it may have arrived; its request says how many were
    acknowledged, so that the library can drop what it has delivered before. What arrives on the shadow
    before that request is held. Deviation: RoGUE leaves repeated SENDs open.
    """

    def __init__(self, qp_num: int, shadow_qp_num: int | None = None, *, seal: Seal | None = None) -> None:
        self._incoming = [_Incoming(number) for number in (qp_num, shadow_qp_num) if number is not None]
        self._current = self._incoming[0]
        self._epoch = 0
        self._delivered = 0
        self._receipts = 0
        self._seal = seal
        self._actions: list[LibraryAction] = []
        self.state = ServerState.UNTOUCHED

    def actions(self) -> list[LibraryAction]:
        """Hand out what the driver must do, in order, and forget it."""
        actions = self._actions
        self._actions = []
        return actions

    def on_receives(self, qp_num: int, completions: Sequence[Completion], nic_now: NicNs) -> None:
        """Take receive completions of one poll; the NIC's clock was read just now.

        Raises PeerError for an immediate that makes no sense.
        """
        incoming = self._incoming_of(qp_num)
        for _wr_id, status, nic_ns, byte_len, imm in completions:
            if status != SUCCESS:
                continue
            if imm is not None and imm > APPLICATION_MAX:
                self._obey(qp_num, imm, nic_now - nic_ns)
            elif incoming is self._current:
                self._take(incoming, byte_len, imm)
            else:
                incoming.held.append((byte_len, imm))

    def on_peer_message(self, payload: bytes) -> None:
        """Take a request; raises PeerError, and does nothing, if it makes no sense."""
        if self._seal is None:
            raise PeerError(f"queue pair {self._current.qp_num} has no shadow, so that its loss is final")
        message = decode(payload, self._seal)
        if not isinstance(message, Resync):
            raise PeerError(f"a library was sent {message}")
        incoming = self._incoming_of(message.responder_qp_num)
        event = self._event_of(message, incoming)
        state = TRANSITIONS.get((self.state, event))
        if state is None:
            raise PeerError(f"{event.value}, although {self.state.value}: {message}")
        if event is ServerEvent.NEXT:
            self._check_receipts(message)
            self._reset(message, incoming, self._seal)
        self.state = state
        if event in {ServerEvent.NEXT, ServerEvent.REPEATED}:
            self._actions.append(SendPeer(encode(Resynced(message.epoch), self._seal)))

    def _obey(self, qp_num: int, imm: int, processing_ns: int) -> None:
        """Do what the other library's immediate asks for."""
        if tag_of(imm) == RATE_TAG:
            self._actions.append(SetResponseRate(qp_num, rate_of(imm)))
        else:
            acknowledgement = batch_immediate(batch_of(imm).number, processing_ns)
            self._actions.append(AcknowledgeBatch(qp_num, acknowledgement))

    def _event_of(self, message: Resync, incoming: _Incoming) -> ServerEvent:
        if message.epoch > self._epoch:
            return ServerEvent.NEXT if message.epoch == self._epoch + 1 else ServerEvent.EARLY
        return ServerEvent.REPEATED if message.epoch == incoming.epoch else ServerEvent.STALE

    def _check_receipts(self, message: Resync) -> None:
        """What was acknowledged has arrived here, and stays acknowledged: no peer can say otherwise."""
        arrived = self._current.next_number - 1
        if not self._receipts <= message.receipts <= arrived:
            raise PeerError(
                f"{message.receipts} messages are said to have been acknowledged, "
                f"but {arrived} have arrived, and {self._receipts} were acknowledged before"
            )

    def _reset(self, message: Resync, incoming: _Incoming, seal: Seal) -> None:
        """Reset and ready our end; what comes next comes on the other one, from a known number on."""
        self._actions.append(ResetQueuePair(incoming.qp_num))
        rq_psn, sq_psn = seal.psns(message.epoch)
        self._actions.append(ReadyQueuePair(incoming.qp_num, sq_psn, rq_psn))
        self._epoch = incoming.epoch = message.epoch
        self._receipts = message.receipts
        incoming.held.clear()
        if incoming is self._current:
            self._current = next(each for each in self._incoming if each is not incoming)
            self._current.next_number = message.receipts + 1
            held, self._current.held = self._current.held, []
            for byte_len, imm in held:
                self._take(self._current, byte_len, imm)

    def _take(self, incoming: _Incoming, byte_len: int, imm: int | None) -> None:
        """Deliver what arrived unless it was delivered before."""
        number = incoming.next_number
        incoming.next_number = number + 1
        if number > self._delivered + 1:
            raise PeerError(f"message {number} after message {self._delivered}: one is missing")
        if number == self._delivered + 1:
            self._delivered = number
            self._actions.append(Deliver(byte_len, imm))

    def _incoming_of(self, qp_num: int) -> _Incoming:
        for incoming in self._incoming:
            if incoming.qp_num == qp_num:
                return incoming
        raise PeerError(f"queue pair {qp_num}, which is none of this connection's")
