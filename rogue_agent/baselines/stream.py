"""What goes over a byte stream: transfers one way, the word that they have arrived the other way.

The receiver drew a *token* and told it over SSH. A connection begins with a header that has it for a number
and no bytes: whoever begins otherwise is not the peer. Transfers have the numbers that follow it.
"""

import struct
from typing import NamedTuple

_HEADER = struct.Struct("!QQ")
_ARRIVED = struct.Struct("!Q")
HEADER_BYTES = _HEADER.size
TOKEN_BITS = 64
_NUMBER_MASK = (1 << TOKEN_BITS) - 1


def number_of(token: int, transfer_id: int) -> int:
    """The number that a transfer has on the stream."""
    return (token + transfer_id) & _NUMBER_MASK


class Header(NamedTuple):
    """Stands before the bytes of a transfer."""

    number: int
    size_bytes: int


def encode_header(header: Header) -> bytes:
    """The header as it travels."""
    return _HEADER.pack(*header)


def decode_header(encoded: bytes) -> Header:
    """The header in its bytes."""
    return Header(*_HEADER.unpack(encoded))


def encode_arrived(number: int) -> bytes:
    """The word that a transfer has arrived whole."""
    return _ARRIVED.pack(number)


def encode_proof(token: int) -> bytes:
    """What a connection begins with."""
    return encode_header(Header(number_of(token, 0), 0))


class ArrivedReader:
    """Cuts a stream of such words into the numbers of transfers."""

    def __init__(self) -> None:
        self._pending = b""

    def feed(self, chunk: bytes) -> list[int]:
        """Take the next bytes; return the transfers that have arrived."""
        stream = self._pending + chunk
        whole = len(stream) // _ARRIVED.size * _ARRIVED.size
        self._pending = stream[whole:]
        return [each[0] for each in _ARRIVED.iter_unpack(stream[:whole])]


class HeaderReader:
    """Collects a header byte by byte."""

    def __init__(self) -> None:
        self._pending = b""

    @property
    def missing_bytes(self) -> int:
        """How many bytes the header still needs."""
        return HEADER_BYTES - len(self._pending)

    def feed(self, chunk: bytes) -> Header | None:
        """Take at most the missing bytes; return the header once it is complete."""
        self._pending += chunk
        if self.missing_bytes:
            return None
        header = decode_header(self._pending)
        self._pending = b""
        return header
