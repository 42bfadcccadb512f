"""What the two ends say to each other over the side channel, as bytes.

Datagrams may be lost, repeated and overtaken, and anybody may send one: every field is checked, and a
message that no library can have sent raises PeerError and changes nothing.
"""

import struct
from typing import NamedTuple, TypeAlias

from rogue_agent.core.errors import PeerError

MAGIC = b"RoGU"
VERSION = 1
NUMBER_MAX = (1 << 24) - 1
"""Largest queue pair number and packet number: both have 24 bits."""

_HEADER = struct.Struct("!4sBBH")
_RESYNC = struct.Struct("!IIIIQ")
_RESYNCED = struct.Struct("!III")
_RESYNC_KIND, _RESYNCED_KIND = 1, 2


class Resync(NamedTuple):
    """The requester lost a queue pair: the other end is to be reset, and readied with these packet numbers.

    `epoch` counts the losses of a connection from 1. `psn` is the first packet number that the requester will
    send. `receipts` are the SENDs and immediates that were acknowledged before the loss: what is posted
    again starts behind them.
    """

    epoch: int
    requester_qp_num: int
    responder_qp_num: int
    psn: int
    receipts: int


class Resynced(NamedTuple):
    """The reply: the responder's end has been reset and is ready; `psn` is the first it would send."""

    epoch: int
    requester_qp_num: int
    psn: int


Message: TypeAlias = Resync | Resynced


def encode(message: Message) -> bytes:
    """Return a message as it travels."""
    if isinstance(message, Resync):
        return _HEADER.pack(MAGIC, VERSION, _RESYNC_KIND, 0) + _RESYNC.pack(*message)
    return _HEADER.pack(MAGIC, VERSION, _RESYNCED_KIND, 0) + _RESYNCED.pack(*message)


def decode(payload: bytes) -> Message:
    """Return the message in a datagram; raises PeerError for anything else."""
    if len(payload) < _HEADER.size:
        raise PeerError(f"a datagram of {len(payload)} bytes, shorter than any message")
    magic, version, kind, reserved = _HEADER.unpack_from(payload)
    if (magic, version, reserved) != (MAGIC, VERSION, 0):
        raise PeerError(f"a datagram that starts with {payload[:8].hex()}, not with a message of version 1")
    if kind not in (_RESYNC_KIND, _RESYNCED_KIND):
        raise PeerError(f"a message of unknown kind {kind}")
    body = _RESYNC if kind == _RESYNC_KIND else _RESYNCED
    if len(payload) != _HEADER.size + body.size:
        raise PeerError(
            f"a message of kind {kind} with {len(payload)} bytes, expected {_HEADER.size + body.size}"
        )
    fields = body.unpack_from(payload, _HEADER.size)
    message: Message = Resync(*fields) if kind == _RESYNC_KIND else Resynced(*fields)
    _check_ranges(message)
    return message


def _check_ranges(message: Message) -> None:
    numbers = [message.requester_qp_num, message.psn]
    if isinstance(message, Resync):
        numbers.append(message.responder_qp_num)
    if message.epoch == 0 or max(numbers) > NUMBER_MAX:
        raise PeerError(f"a message with a number out of range: {message}")
