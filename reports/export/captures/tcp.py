"""Segments of TCP. The simulator counts segments; here they become bytes of a stream."""

import struct
from collections.abc import Iterable
from typing import Final

import numpy as np

from rogue.reports.export.captures.headers import Protocol, Route, checksum, ipv4, type_of_service
from rogue.reports.export.captures.packet import Packet
from rogue.reports.export.captures.roce import ecn_of

HEADER_BYTES: Final = 20
FRAME_OVERHEAD_BYTES: Final = 14 + 20 + HEADER_BYTES + 4
"""Ethernet with FCS, IP and TCP without options."""
TIMESTAMP_BYTES: Final = 12
TCP_PORT: Final = 5001
WINDOW: Final = 0xFFFF
PS_PER_MS: Final = 10**9

_PUSH, _ACK, _ECE, _CWR = 0x08, 0x10, 0x40, 0x80

Direction = tuple[int, int]
"""Numbers of the ends: sender of the data, and receiver."""


class Stream:
    """Where segments stand in one direction of a connection.

    What no packet of the capture tells is taken for a full segment.
    """

    def __init__(self, segments: Iterable[Packet], options_bytes: int) -> None:
        sizes = {each.psn: stream_bytes(each, options_bytes) for each in segments}
        self._numbers = np.array(sorted(sizes), dtype=np.int64)
        own = [sizes[int(number)] for number in self._numbers]
        self._ends = np.concatenate([[0], np.cumsum(own, dtype=np.int64)])
        self._full = max(own, default=0)

    def sequence(self, number: int) -> int:
        """Return the sequence number of a segment's first byte; the first one of the capture has 1."""
        if not len(self._numbers):
            return 1
        known = int(np.searchsorted(self._numbers, number))
        unknown = max(0, number - int(self._numbers[0]) - known)
        return (1 + int(self._ends[known]) + unknown * self._full) & 0xFFFFFFFF


def stream_bytes(segment: Packet, options_bytes: int) -> int:
    """Return what a segment carries for TCP: payload, and framing of a layer above."""
    return segment.bytes - FRAME_OVERHEAD_BYTES - options_bytes


def options_bytes(packets: Iterable[Packet]) -> int:
    """Return what each segment has in timestamps: acknowledgements alone tell them from a layer above."""
    plain = FRAME_OVERHEAD_BYTES + TIMESTAMP_BYTES
    acknowledgements = (each for each in packets if each.kind in ("ack", "nak") and not each.selective)
    return TIMESTAMP_BYTES if any(each.bytes == plain for each in acknowledgements) else 0


def tcp_packet(route: Route, packet: Packet, streams: dict[Direction, Stream], timestamps: int) -> bytes:
    """Return IP header and all behind it."""
    direction = packet.src_qp_num, packet.qp_num
    own, other = streams.get(direction), streams.get(direction[::-1])
    is_data = packet.kind not in ("ack", "nak")
    content = bytes(stream_bytes(packet, timestamps)) if is_data else b""
    sequence = own.sequence(packet.psn) if own and is_data else 1
    acknowledged = other.sequence(packet.psn) if other and not is_data else 1
    options = _options(packet, other, timestamps)
    flags = _ACK | (_PUSH if "last" in packet.flags else 0)
    flags |= (_CWR if "cwr" in packet.flags else 0) | (_ECE if "ece" in packet.flags else 0)
    header = struct.pack(
        ">HHIIBBHHH",
        *_ports(packet),
        sequence,
        acknowledged,
        (HEADER_BYTES + len(options)) // 4 << 4,
        flags,
        WINDOW,
        0,
        0,
    )
    segment = header + options + content
    pseudo = route.source_ip + route.destination_ip + struct.pack(">HH", Protocol.TCP, len(segment))
    segment = segment[:16] + checksum(pseudo + segment).to_bytes(2, "big") + segment[18:]
    tos = type_of_service(packet.priority, ecn_of(packet))
    return ipv4(route, Protocol.TCP, tos, len(segment)) + segment


def _ports(packet: Packet) -> tuple[int, int]:
    """Return source and destination: the end with the lower number has connected to the other one."""
    own = 0xC000 | packet.flow_number & 0x3FFF
    return (own, TCP_PORT) if packet.src_qp_num < packet.qp_num else (TCP_PORT, own)


def _options(packet: Packet, other: Stream | None, timestamps: int) -> bytes:
    """Return timestamps (RFC 7323) and what has come besides (RFC 2018), each behind two NOPs."""
    options = b""
    if timestamps:
        options += struct.pack(">BBBBII", 1, 1, 8, 10, packet.t_ps // PS_PER_MS & 0xFFFFFFFF, 0)
    if packet.selective and other is not None:
        blocks = [tuple(map(int, each.split("-"))) for each in packet.selective.split()]
        options += bytes((1, 1, 5, 2 + 8 * len(blocks)))
        for first, last in blocks:
            options += struct.pack(">II", other.sequence(first), other.sequence(last + 1))
    return options
