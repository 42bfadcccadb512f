"""Resynchronise queue pairs over the side channel: messages, their authentication, and repetition."""

import hmac
import struct
from enum import Enum, unique
from typing import NamedTuple, TypeAlias

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import PeerError
from rogue.agent.core.settings import TransportSettings

NONCE_BYTES = 16
TAG_BYTES = 12
"""Truncated length of the HMAC. Source: RFC 2104, section 5 (at least 80 bits)."""

NUMBER_MAX = (1 << 24) - 1
"""Largest queue pair number and packet number: both have 24 bits."""

_SPREAD = 0x9E3779
"""Distance between the packet numbers of successive epochs; odd."""


class Seal:
    """The key of one connection. Source: RFC 2104 (HMAC), with SHA-256."""

    def __init__(self, requester_nonce: bytes, responder_nonce: bytes) -> None:
        for nonce in (requester_nonce, responder_nonce):
            assert len(nonce) == NONCE_BYTES, f"a nonce of {len(nonce)} bytes"
        self.nonces = requester_nonce, responder_nonce
        self._key = requester_nonce + responder_nonce
        self._first_psns = self._number(b"psn of the requester"), self._number(b"psn of the responder")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Seal) and other.nonces == self.nonces

    def __hash__(self) -> int:
        return hash(self.nonces)

    def sealed(self, content: bytes) -> bytes:
        """Append the tag to a message."""
        return content + self._tag(content)

    def opened(self, payload: bytes) -> bytes:
        """Check and remove the tag; raises PeerError if the peer did not make it."""
        content, tag = payload[:-TAG_BYTES], payload[-TAG_BYTES:]
        if not hmac.compare_digest(self._tag(content), tag):
            raise PeerError("a datagram with a wrong tag: not from the peer, or altered")
        return content

    def psns(self, epoch: int) -> tuple[int, int]:
        """Return the first packet numbers of requester and responder after a loss.

        They are unknown to others, and far from those of earlier epochs.
        """
        requester, responder = self._first_psns
        return (requester + epoch * _SPREAD) & NUMBER_MAX, (responder + epoch * _SPREAD) & NUMBER_MAX

    def _tag(self, content: bytes) -> bytes:
        return hmac.digest(self._key, content, "sha256")[:TAG_BYTES]

    def _number(self, label: bytes) -> int:
        return int.from_bytes(hmac.digest(self._key, label, "sha256")[:3], "big")


MAGIC = b"Ro"
VERSION = 2

_HEADER = struct.Struct("!2sBB")
_RESYNC = struct.Struct("!IIQ")
_RESYNCED = struct.Struct("!I")
_RESYNC_KIND, _RESYNCED_KIND = 1, 2
_BODIES = {_RESYNC_KIND: _RESYNC, _RESYNCED_KIND: _RESYNCED}


class Resync(NamedTuple):
    """Request to reset and ready the other end of a queue pair that the requester lost.

    `epoch` counts the losses of a connection from 1 and determines the packet numbers (`Seal.psns`).
    `receipts` counts the SENDs and immediates that were acknowledged before the loss; the repeated ones
    follow them.
    """

    epoch: int
    responder_qp_num: int
    receipts: int


class Resynced(NamedTuple):
    """The reply: the responder's end has been reset after the loss of this epoch, and is ready."""

    epoch: int


Message: TypeAlias = Resync | Resynced


def encode(message: Message, seal: Seal) -> bytes:
    """Encode and seal a message."""
    kind = _RESYNC_KIND if isinstance(message, Resync) else _RESYNCED_KIND
    return seal.sealed(_HEADER.pack(MAGIC, VERSION, kind) + _BODIES[kind].pack(*message))


def decode(payload: bytes, seal: Seal) -> Message:
    """Decode a datagram; raises PeerError unless it is a valid message of the peer."""
    if len(payload) < _HEADER.size:
        raise PeerError(f"a datagram of {len(payload)} bytes, shorter than any message")
    magic, version, kind = _HEADER.unpack_from(payload)
    if (magic, version) != (MAGIC, VERSION):
        raise PeerError(f"a datagram that starts with {payload[:4].hex()}, not with a message of version 2")
    if kind not in _BODIES:
        raise PeerError(f"a message of unknown kind {kind}")
    length = _HEADER.size + _BODIES[kind].size + TAG_BYTES
    if len(payload) != length:
        raise PeerError(f"a message of kind {kind} with {len(payload)} bytes, expected {length}")
    fields = _BODIES[kind].unpack_from(seal.opened(payload), _HEADER.size)
    message: Message = Resync(*fields) if kind == _RESYNC_KIND else Resynced(*fields)
    _check_ranges(message)
    return message


def _check_ranges(message: Message) -> None:
    qp_num = message.responder_qp_num if isinstance(message, Resync) else 0
    if message.epoch == 0 or qp_num > NUMBER_MAX:
        raise PeerError(f"a message with a number out of range: {message}")


@unique
class ClientState(Enum):
    """State of the exchange about one queue pair."""

    IDLE = "no open request"
    ASKING = "a request without a reply"
    GIVEN_UP = "the peer did not reply in time"


class ResyncClient:
    """Repeats the request about one queue pair; the caller sends what `lose` and `on_timer` return.

    The wait before a repetition doubles from `resync_wait_ns` to `resync_wait_max_ns`. `request` is the open
    one, or the last.
    Test: test_recovery.py::test_back_off_worked_example.
    """

    def __init__(self, qp_num: int, peer_qp_num: int, settings: TransportSettings) -> None:
        self.qp_num = qp_num
        self._peer_qp_num = peer_qp_num
        self._first_wait_ns = settings.resync_wait_ns
        self._wait_max_ns = settings.resync_wait_max_ns
        self._limit_ns = settings.resync_limit_ns
        self._wait_ns = 0
        self._expiry_ns = HostNs(0)
        self.request = Resync(0, peer_qp_num, 0)
        self.state = ClientState.IDLE
        self.deadline_ns: HostNs | None = None

    def lose(self, now: HostNs, epoch: int, receipts: int) -> Resync:
        """Return the request about a queue pair that was lost."""
        assert self.state is ClientState.IDLE, f"queue pair {self.qp_num} is lost, {self.state.value}"
        self.state = ClientState.ASKING
        self.request = Resync(epoch, self._peer_qp_num, receipts)
        self._expiry_ns = HostNs(now + self._limit_ns)
        self._wait_ns = self._first_wait_ns
        self._wait(now)
        return self.request

    def on_timer(self, now: HostNs) -> Resync | None:
        """Return the request again when it is due; after the limit `state` becomes GIVEN_UP."""
        if self.deadline_ns is None or now < self.deadline_ns:
            return None
        if now >= self._expiry_ns:
            self.state = ClientState.GIVEN_UP
            self.deadline_ns = None
            return None
        self._wait_ns = min(2 * self._wait_ns, self._wait_max_ns)
        self._wait(now)
        return self.request

    def on_reply(self, reply: Resynced) -> bool:
        """Return True for the reply to the open request."""
        if self.state is not ClientState.ASKING or reply.epoch != self.request.epoch:
            return False
        self.state = ClientState.IDLE
        self.deadline_ns = None
        return True

    def _wait(self, now: HostNs) -> None:
        self.deadline_ns = min(HostNs(now + self._wait_ns), self._expiry_ns)
