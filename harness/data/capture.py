"""Read frames from pcap and pcapng files.

Source: draft-ietf-opsawg-pcap-04 and draft-ietf-opsawg-pcapng-02; tcpdump.org, link-layer header types.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import Final, NamedTuple

from rogue.harness.errors import UsageError

BYTES_MAX: Final = 2_000_000_000
"""A capture is read into memory."""
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


@dataclass(slots=True)
class Capture:
    """The frames of a file."""

    frames: list[CapturedFrame] = field(default_factory=list)
    others: int = 0
    """Frames of link types that carry no RoCEv2."""
    is_truncated: bool = False
    """The file ends within a frame."""


def read_capture(path: Path) -> Capture:
    """Read a capture; UsageError if the file is none."""
    try:
        found = path.stat()
        if not S_ISREG(found.st_mode):
            raise UsageError(f"{path}: got no regular file, expected a capture; name a pcap or pcapng file.")
        if found.st_size > BYTES_MAX:
            got = f"{path}: got {found.st_size} bytes, expected at most {BYTES_MAX}"
            raise UsageError(f"{got}; cut the capture, for example with `editcap -c`.")
        content = path.read_bytes()
    except OSError as error:
        got = f"{path}: got {error.strerror!r}, expected a capture that can be read"
        raise UsageError(f"{got}; name a pcap or pcapng file.") from error
    for order in "<>":
        magic = struct.unpack_from(f"{order}I", content)[0] if len(content) >= 4 else 0
        if magic in _PCAP:
            return _read_pcap(content, order, _PCAP[magic])
    if magic == _SECTION:
        return _read_pcapng(content)
    got = f"{path}: got a file that begins with {content[:4].hex() or 'nothing'}"
    raise UsageError(f"{got}, expected a pcap or pcapng file; export one with tcpdump or Wireshark.")


def _read_pcap(content: bytes, order: str, unit_ns: int) -> Capture:
    capture = Capture(is_truncated=len(content) < _HEADER_BYTES)
    if capture.is_truncated:
        return capture
    link_type = struct.unpack_from(f"{order}I", content, 20)[0] & 0xFFFF
    place = _HEADER_BYTES
    while place < len(content):
        if place + _RECORD_BYTES > len(content):
            capture.is_truncated = True
            break
        seconds, fraction, length, _ = struct.unpack_from(f"{order}IIII", content, place)
        place += _RECORD_BYTES
        frame = content[place : place + length]
        capture.is_truncated = len(frame) < length
        place += length
        if not capture.is_truncated:
            _add(capture, seconds * _SECOND_NS + fraction * unit_ns, _Interface("", link_type), frame)
    return capture


class _Interface(NamedTuple):
    name: str
    link_type: int
    units_per_second: int = 10**6
    offset_seconds: int = 0


def _add(capture: Capture, t_ns: int, interface: _Interface, frame: bytes, comment: str = "") -> None:
    ip = IP_STARTS.get(interface.link_type)
    if ip is None and interface.link_type != ETHERNET:
        capture.others += 1
    else:
        capture.frames.append(CapturedFrame(t_ns, interface.name, frame, ip, comment))


def _read_pcapng(content: bytes) -> Capture:
    capture, place, order = Capture(), 0, "<"
    interfaces: list[_Interface] = []
    while place < len(content):
        if content[place : place + 4] == struct.pack("<I", _SECTION):
            is_little = content[place + 8 : place + 12] == struct.pack("<I", _BYTE_ORDER)
            order, interfaces = "<" if is_little else ">", []
        if place + 12 > len(content):
            capture.is_truncated = True
            break
        kind, length = struct.unpack_from(f"{order}II", content, place)
        if length < 12 or place + length > len(content):
            capture.is_truncated = True
            break
        body = content[place + 8 : place + length - 4]
        place += length
        if kind == _INTERFACE and len(body) >= 8:
            interfaces.append(_interface(body, order, len(interfaces)))
        elif kind == _ENHANCED and len(body) >= 20:
            _add_enhanced(capture, interfaces, body, order)
        elif kind == _SIMPLE and len(body) >= 4 and interfaces:
            _add(capture, 0, interfaces[0], body[4 : 4 + struct.unpack_from(f"{order}I", body)[0]])
    return capture


def _interface(body: bytes, order: str, number: int) -> _Interface:
    (link_type,) = struct.unpack_from(f"{order}H", body)
    options = _options(body[8:], order)
    resolution = (options.get(_RESOLUTION) or b"\x06")[0]
    units = 2 ** (resolution & 0x7F) if resolution & 0x80 else 10**resolution
    offset = struct.unpack(f"{order}q", options[_OFFSET])[0] if len(options.get(_OFFSET, b"")) == 8 else 0
    name = options.get(_NAME, b"").decode("utf-8", "replace")
    return _Interface(name or str(number), link_type, units, offset)


def _add_enhanced(capture: Capture, interfaces: list[_Interface], body: bytes, order: str) -> None:
    number, high, low, length, _ = struct.unpack_from(f"{order}IIIII", body)
    if number >= len(interfaces):
        capture.others += 1
        return
    interface = interfaces[number]
    t_ns = (high << 32 | low) * _SECOND_NS // interface.units_per_second
    options = _options(body[20 + length + -length % 4 :], order)
    comment = options.get(_COMMENT, b"").decode("utf-8", "replace")
    _add(capture, t_ns + interface.offset_seconds * _SECOND_NS, interface, body[20 : 20 + length], comment)


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
