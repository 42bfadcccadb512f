"""Messages that resynchronise queue pairs over the side channel, and their authentication."""

import hmac
import struct
from typing import NamedTuple, TypeAlias

from rogue.agent.core.errors import PeerError

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
_RESYNC_KIND, _RESYNCED_KIND = 1, 2
_BODIES = {_RESYNC_KIND: struct.Struct("!IIQ"), _RESYNCED_KIND: struct.Struct("!I")}


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
    if message.epoch == 0 or (isinstance(message, Resync) and message.responder_qp_num > NUMBER_MAX):
        raise PeerError(f"a message with a number out of range: {message}")
    return message
