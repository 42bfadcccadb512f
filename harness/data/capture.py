"""Read frames from pcap and pcapng files, one after the other.

Source: draft-ietf-opsawg-pcap-04 and draft-ietf-opsawg-pcapng-02; tcpdump.org, link-layer header types.
"""

import struct
from collections.abc import Iterator, Mapping
from mmap import ACCESS_READ, mmap
from pathlib import Path
from stat import S_ISREG
from typing import Final, NamedTuple

from rogue.harness.errors import UsageError

ETHERNET: Final = 1
IP_STARTS: Final = {101: 0, 228: 0, 229: 0, 113: 16, 276: 20, 12: 0, 14: 0}
"""Places of the IP header by link type: raw IP, and Linux's cooked captures."""
_PCAP: Final = {0xA1B2C3D4: 1_000, 0xA1B23C4D: 1}
"""Nanoseconds of a fraction in a packet's time, by the magic number."""
_SECTION, _INTERFACE, _SIMPLE, _ENHANCED = 0x0A0D0D0A, 1, 3, 6
_BYTE_ORDER: Final = 0x1A2B3C4D
_NAME, _RESOLUTION, _OFFSET, _COMMENT = 2, 9, 14, 1
_RECORD_BYTES, _HEADER_BYTES = 16, 24
_SECOND_NS: Final = 10**9


class CapturedFrame(NamedTuple):
    """A frame as captured, perhaps cut short."""

    t_ns: int
    interface: str
    content: bytes
    ip: int | None
    """Place of the IP header; None: Ethernet says."""
    comment: str


class _Interface(NamedTuple):
    name: str
    link_type: int
    units_per_second: int = 10**6
    offset_seconds: int = 0


_Found = tuple[int, _Interface, bytes, str]
"""Time (ns), interface, content and comment of a frame."""


class Capture:
    """The frames of a file; what is counted belongs to the frames that have been read."""

    def __init__(self, path: Path) -> None:
        """Open a file; UsageError if it is no capture."""
        self.path = path
        self.frames_read = 0
        self.is_truncated = False
        """The file ends within a frame."""
        self._content = _content_of(path)
        head = self._content[:4]
        magics = {order: int.from_bytes(head, "little" if order == "<" else "big") for order in "<>"}
        self._order = next((order for order, magic in magics.items() if magic in (*_PCAP, _SECTION)), "")
        self._magic = magics.get(self._order, 0)
        if not self._order:
            got = f"{path}: got a file that begins with {head.hex() or 'nothing'}"
            raise UsageError(f"{got}, expected a pcap or pcapng file; export one with tcpdump or Wireshark.")

    def __iter__(self) -> Iterator[CapturedFrame]:
        """Yield the frames of link types that can carry RoCEv2."""
        self.frames_read, self.is_truncated = 0, False
        for t_ns, interface, content, comment in (
            self._blocks() if self._magic == _SECTION else self._records()
        ):
            self.frames_read += 1
            ip = IP_STARTS.get(interface.link_type)
            if ip is not None or interface.link_type == ETHERNET:
                yield CapturedFrame(t_ns, interface.name, content, ip, comment)

    def _records(self) -> Iterator[_Found]:
        """Yield the frames of a pcap file."""
        content, order, size = self._content, self._order, len(self._content)
        if size < _HEADER_BYTES:
            self.is_truncated = True
            return
        interface = _Interface("", struct.unpack_from(f"{order}I", content, 20)[0] & 0xFFFF)
        place = _HEADER_BYTES
        while place < size:
            length = 0
            if place + _RECORD_BYTES <= size:
                seconds, fraction, length, _ = struct.unpack_from(f"{order}IIII", content, place)
            place += _RECORD_BYTES
            if place + length > size:
                self.is_truncated = True
                return
            t_ns = seconds * _SECOND_NS + fraction * _PCAP[self._magic]
            yield t_ns, interface, content[place : place + length], ""
            place += length

    def _blocks(self) -> Iterator[_Found]:
        """Yield the frames of a pcapng file."""
        content, place, order = self._content, 0, "<"
        interfaces: list[_Interface] = []
        while place < len(content):
            if content[place : place + 4] == struct.pack("<I", _SECTION):
                is_little = content[place + 8 : place + 12] == struct.pack("<I", _BYTE_ORDER)
                order, interfaces = "<" if is_little else ">", []
            kind, length = 0, 0
            if place + 12 <= len(content):
                kind, length = struct.unpack_from(f"{order}II", content, place)
            if length < 12 or place + length > len(content):
                self.is_truncated = True
                return
            body = content[place + 8 : place + length - 4]
            place += length
            if kind == _INTERFACE and len(body) >= 8:
                interfaces.append(_interface(body, order, len(interfaces)))
            elif kind == _ENHANCED and len(body) >= 20:
                yield from _enhanced(interfaces, body, order)
            elif kind == _SIMPLE and len(body) >= 4 and interfaces:
                yield 0, interfaces[0], body[4 : 4 + struct.unpack_from(f"{order}I", body)[0]], ""


def _content_of(path: Path) -> bytes | mmap:
    """Return the bytes of a file, which the system reads when they are used."""
    try:
        found = path.stat()
        if not S_ISREG(found.st_mode):
            raise UsageError(f"{path}: got no regular file, expected a capture; name a pcap or pcapng file.")
        with path.open("rb") as file:
            return mmap(file.fileno(), 0, access=ACCESS_READ) if found.st_size else b""
    except OSError as error:
        got = f"{path}: got {error.strerror!r}, expected a capture that can be read"
        raise UsageError(f"{got}; name a pcap or pcapng file.") from error


def _interface(body: bytes, order: str, number: int) -> _Interface:
    (link_type,) = struct.unpack_from(f"{order}H", body)
    options = _options(body[8:], order)
    resolution = (options.get(_RESOLUTION) or b"\x06")[0]
    units = 2 ** (resolution & 0x7F) if resolution & 0x80 else 10**resolution
    offset = struct.unpack(f"{order}q", options[_OFFSET])[0] if len(options.get(_OFFSET, b"")) == 8 else 0
    name = options.get(_NAME, b"").decode("utf-8", "replace")
    return _Interface(name or str(number), link_type, units, offset)


def _enhanced(interfaces: list[_Interface], body: bytes, order: str) -> Iterator[_Found]:
    number, high, low, length, _ = struct.unpack_from(f"{order}IIIII", body)
    if number < len(interfaces):
        interface = interfaces[number]
        t_ns = (high << 32 | low) * _SECOND_NS // interface.units_per_second
        options = _options(body[20 + length + -length % 4 :], order)
        comment = options.get(_COMMENT, b"").decode("utf-8", "replace")
        yield t_ns + interface.offset_seconds * _SECOND_NS, interface, body[20 : 20 + length], comment


def _options(content: bytes, order: str) -> Mapping[int, bytes]:
    return dict(_each_option(content, order))


def _each_option(content: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    place = 0
    while place + 4 <= len(content):
        code, length = struct.unpack_from(f"{order}HH", content, place)
        if code == 0:
            return
        yield code, content[place + 4 : place + 4 + length]
        place += 4 + length + -length % 4
