"""The receiver-side library: it serves connections at their passive end, in the background.

It sets the rate of READ responses, acknowledges batches over UC and re-establishes lost queue pairs.
Source: RoGUE, section 3.6.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from rogue.agent.core.actions import SUCCESS, Completion, ReadyQueuePair, ResetQueuePair, SendPeer
from rogue.agent.core.clocks import NicNs
from rogue.agent.core.errors import PeerError
from rogue.agent.core.immediates import APPLICATION_MAX, RATE_TAG, batch_immediate, batch_of, rate_of, tag_of
from rogue.agent.core.resync import Resync, Resynced, Seal, decode, encode


class SetResponseRate(NamedTuple):
    """Set the limiter of our end of a queue pair, which paces the responses to the peer's READs."""

    qp_num: int
    rate_bps: int


class Deliver(NamedTuple):
    """Deliver a SEND or an immediate to the application, once and in posting order."""

    byte_len: int
    imm: int | None


class AcknowledgeBatch(NamedTuple):
    """Post an unsignalled WRITE of no bytes with this immediate value on our end of a queue pair."""

    qp_num: int
    imm: int


LibraryAction: TypeAlias = (
    SetResponseRate | Deliver | AcknowledgeBatch | ResetQueuePair | ReadyQueuePair | SendPeer
)


class _Incoming:
    """Our end of one queue pair, and its receives since it was last made ready."""

    def __init__(self, qp_num: int) -> None:
        self.qp_num = qp_num
        self.epoch = 0
        self.next_number = 1
        self.held: list[tuple[int, int | None]] = []


class Library:
    """Serves one connection's queue pairs at their passive end, without I/O.

    Pass receive completions before datagrams that arrived at the same time, because the library must not
    attribute receives from before a reset to the time after it.

    Both ends number SENDs and immediates from 1. After a loss the requester posts again what was not
    acknowledged, although some of it may have arrived. Its request carries the number of acknowledged
    messages, so that the library drops what it has delivered. Messages that arrive on the shadow before that
    request are held. Requests about an earlier loss, or about one after the next, get no reply.
    Deviation: RoGUE leaves repeated SENDs open.
    """

    def __init__(self, qp_num: int, shadow_qp_num: int | None = None, *, seal: Seal | None = None) -> None:
        self._incoming = [_Incoming(number) for number in (qp_num, shadow_qp_num) if number is not None]
        self._current = self._incoming[0]
        self._epoch = 0
        self._delivered = 0
        self._receipts = 0
        self._seal = seal
        self._actions: list[LibraryAction] = []

    def actions(self) -> list[LibraryAction]:
        """Return the pending actions in order, and clear them."""
        actions = self._actions
        self._actions = []
        return actions

    def on_receives(self, qp_num: int, completions: Sequence[Completion], nic_now: NicNs) -> None:
        """Handle the receive completions of one poll; `nic_now` is the NIC's clock.

        Raises PeerError for an invalid immediate.
        """
        incoming = self._incoming_of(qp_num)
        for _wr_id, status, nic_ns, byte_len, imm in completions:
            if status != SUCCESS:
                continue
            if imm is not None and imm > APPLICATION_MAX:
                self._handle_immediate(qp_num, imm, nic_now - nic_ns)
            elif incoming is self._current:
                self._take(incoming, byte_len, imm)
            else:
                incoming.held.append((byte_len, imm))

    def on_peer_message(self, payload: bytes) -> None:
        """Handle a request; raises PeerError, and does nothing, if it is invalid."""
        if self._seal is None:
            raise PeerError(f"queue pair {self._current.qp_num} has no shadow, so that its loss is final")
        message = decode(payload, self._seal)
        if not isinstance(message, Resync):
            raise PeerError(f"got {message}, expected a request for resynchronisation")
        incoming = self._incoming_of(message.responder_qp_num)
        is_new = message.epoch == self._epoch + 1
        if is_new:
            self._check_receipts(message)
            self._reset(message, incoming, self._seal)
        if is_new or message.epoch == incoming.epoch:
            self._actions.append(SendPeer(encode(Resynced(message.epoch), self._seal)))

    def _handle_immediate(self, qp_num: int, imm: int, processing_ns: int) -> None:
        """Handle an immediate of the other library."""
        if tag_of(imm) == RATE_TAG:
            self._actions.append(SetResponseRate(qp_num, rate_of(imm)))
        else:
            acknowledgement = batch_immediate(batch_of(imm).number, processing_ns)
            self._actions.append(AcknowledgeBatch(qp_num, acknowledgement))

    def _check_receipts(self, message: Resync) -> None:
        """Raise PeerError unless the acknowledged messages have arrived and do not decrease."""
        arrived = self._current.next_number - 1
        if not self._receipts <= message.receipts <= arrived:
            raise PeerError(
                f"got {message.receipts} acknowledged messages, "
                f"expected from {self._receipts}, acknowledged before, to {arrived}, which have arrived"
            )

    def _reset(self, message: Resync, incoming: _Incoming, seal: Seal) -> None:
        """Reset and ready our end; the next messages come on the other one, from a known number on."""
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
        """Deliver a message unless it was delivered before."""
        number = incoming.next_number
        incoming.next_number = number + 1
        if number > self._delivered + 1:
            raise PeerError(f"got message {number} after message {self._delivered}: one is missing")
        if number == self._delivered + 1:
            self._delivered = number
            self._actions.append(Deliver(byte_len, imm))

    def _incoming_of(self, qp_num: int) -> _Incoming:
        for incoming in self._incoming:
            if incoming.qp_num == qp_num:
                return incoming
        raise PeerError(f"got queue pair {qp_num}, expected one of this connection")
