"""Files in the format of packet captures that knows interfaces, nanoseconds and comments.

Source: draft-ietf-opsawg-pcapng (sections 4.1 to 4.5), which Wireshark and tcpdump read.
"""

import struct
from collections.abc import Mapping, Sequence
from typing import BinaryIO, Final

ETHERNET: Final = 1
_SECTION, _INTERFACE, _NAMES, _PACKET = 0x0A0D0D0A, 1, 4, 6
_MAGIC: Final = 0x1A2B3C4D
_COMMENT, _NAME, _RESOLUTION, _APPLICATION = 1, 2, 9, 4
_NANOSECONDS: Final = 9
_IPV4_RECORD: Final = 1


class CaptureFile:
    """A capture with one interface for each port; packets are written in order of time."""

    def __init__(self, file: BinaryIO, application: str, comment: str) -> None:
        self._file = file
        options = {_COMMENT: comment.encode(), _APPLICATION: application.encode()}
        self._block(_SECTION, struct.pack("<IHHq", _MAGIC, 1, 0, -1) + _options(options))

    def add_names(self, names: Mapping[bytes, str]) -> None:
        """Say whose IPv4 addresses those are."""
        records = b"".join(
            struct.pack("<HH", _IPV4_RECORD, len(value)) + _padded(value)
            for value in (address + name.encode() + b"\0" for address, name in names.items())
        )
        self._block(_NAMES, records + bytes(4))

    def add_interfaces(self, names: Sequence[str]) -> None:
        """Number the interfaces from 0, in that order."""
        for name in names:
            options = {_NAME: name.encode(), _RESOLUTION: bytes((_NANOSECONDS,))}
            self._block(_INTERFACE, struct.pack("<HHI", ETHERNET, 0, 0) + _options(options))

    def write(self, interface: int, t_ns: int, frame: bytes, comment: str | None = None) -> None:
        """Add a frame without its FCS."""
        head = struct.pack("<IIIII", interface, t_ns >> 32, t_ns & 0xFFFFFFFF, len(frame), len(frame))
        options = b"" if comment is None else _options({_COMMENT: comment.encode()})
        self._block(_PACKET, head + _padded(frame) + options)

    def _block(self, kind: int, body: bytes) -> None:
        length = struct.pack("<I", 12 + len(body))
        self._file.write(struct.pack("<I", kind) + length + body + length)


def _options(values: Mapping[int, bytes]) -> bytes:
    listed = (struct.pack("<HH", code, len(value)) + _padded(value) for code, value in values.items())
    return b"".join(listed) + bytes(4)


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 4)
