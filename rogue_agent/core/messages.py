"""What the two ends say to each other over the side channel, as bytes.

Datagrams may be lost, repeated and overtaken, and anybody may send one: each carries the tag of its
connection's seal. A message that the peer's library cannot have sent raises PeerError and changes nothing.
"""

import struct
from typing import NamedTuple, TypeAlias

from rogue.agent.core.errors import PeerError
from rogue.agent.core.seal import NUMBER_MAX, TAG_BYTES, Seal

MAGIC = b"Ro"
VERSION = 2

_HEADER = struct.Struct("!2sBB")
_RESYNC = struct.Struct("!IIQ")
_RESYNCED = struct.Struct("!I")
_RESYNC_KIND, _RESYNCED_KIND = 1, 2
_BODIES = {_RESYNC_KIND: _RESYNC, _RESYNCED_KIND: _RESYNCED}


class Resync(NamedTuple):
    """The requester lost a queue pair: the other end is to be reset, and readied.

    `epoch` counts the losses of a connection from 1; the packet numbers follow from it (`Seal.psn`).
    `receipts` are the SENDs and immediates that were acknowledged before the loss: what is posted again
    starts behind them.
    """

    epoch: int
    responder_qp_num: int
    receipts: int


class Resynced(NamedTuple):
    """The reply: after the loss of this epoch the responder's end has been reset, and is ready."""

    epoch: int


Message: TypeAlias = Resync | Resynced


def encode(message: Message, seal: Seal) -> bytes:
    """Return a message as it travels."""
    kind = _RESYNC_KIND if isinstance(message, Resync) else _RESYNCED_KIND
    return seal.sealed(_HEADER.pack(MAGIC, VERSION, kind) + _BODIES[kind].pack(*message))


def decode(payload: bytes, seal: Seal) -> Message:
    """Return the message in a datagram; raises PeerError for anything else."""
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
