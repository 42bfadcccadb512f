"""What goes over a byte stream: transfers one way, the word that they have arrived the other way."""

import struct
from typing import NamedTuple

_HEADER = struct.Struct("!QQ")
_ARRIVED = struct.Struct("!Q")
HEADER_BYTES = _HEADER.size


class Header(NamedTuple):
    """Stands before the bytes of a transfer."""

    transfer_id: int
    size_bytes: int


def encode_header(header: Header) -> bytes:
    """The header as it travels."""
    return _HEADER.pack(*header)


def encode_arrived(transfer_id: int) -> bytes:
    """The word that a transfer has arrived whole."""
    return _ARRIVED.pack(transfer_id)


class ArrivedReader:
    """Cuts a stream of such words into transfer ids."""

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
        header = Header(*_HEADER.unpack(self._pending))
        self._pending = b""
        return header
