"""Frames of recorded packets: addresses, Ethernet, IPv4 and UDP, then RoCEv2 packets and TCP segments."""

import re
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from ipaddress import IPv4Address
from typing import Final, NamedTuple

import numpy as np

from rogue.reports.cells.recorded_packets import Packet

PAUSE_MAC: Final = bytes.fromhex("0180c2000001")
"""Where pause frames go. Source: IEEE 802.3, annex 31B."""
_NETWORK: Final = int(IPv4Address("10.0.0.0"))


@dataclass(frozen=True, slots=True)
class Addresses:
    """Number of each node, from 1; h7 is number 8 wherever hosts are called like that."""

    numbers: dict[str, int]

    def ip(self, node: str) -> bytes:
        """Return an address of 10.0.0.0/8."""
        return (_NETWORK + self.numbers[node]).to_bytes(4, "big")

    def mac(self, node: str) -> bytes:
        """Return a locally administered address."""
        return b"\x02" + self.numbers[node].to_bytes(5, "big")

    def names(self) -> dict[bytes, str]:
        """Return the nodes by IP address."""
        return {self.ip(node): node for node in self.numbers}


def addresses_of(nodes: Iterable[str]) -> Addresses:
    """Number nodes: hosts named h0, h1, ... by their names, all others behind them."""
    known = sorted(set(nodes))
    matched = {node: re.fullmatch(r"h(\d{1,6})", node) for node in known}
    numbers = {
        node: int(found[1]) + 1 for node, found in matched.items() if found and str(int(found[1])) == found[1]
    }
    others = [node for node in known if node not in numbers]
    first = 1 << 20
    return Addresses(numbers | {node: first + nth for nth, node in enumerate(others)})


IPV4_BYTES: Final = 20
UDP_BYTES: Final = 8
FRAME_BYTES_MIN: Final = 60
"""Without FCS. Source: IEEE 802.3, 4.2.3.3."""
TTL_HOPS: Final = 64


class EtherType(IntEnum):
    """Source: IEEE 802 numbers, IANA."""

    IPV4 = 0x0800
    MAC_CONTROL = 0x8808


class Protocol(IntEnum):
    """Source: Assigned Internet Protocol Numbers, IANA."""

    ICMP = 1
    TCP = 6
    UDP = 17


class Ecn(IntEnum):
    """Source: RFC 3168, section 5."""

    NOT_CAPABLE = 0
    CAPABLE = 2
    EXPERIENCED = 3


class Route(NamedTuple):
    """Source and destination addresses of a frame."""

    source_mac: bytes
    destination_mac: bytes
    source_ip: bytes
    destination_ip: bytes


def ethernet(destination: bytes, source: bytes, kind: EtherType, content: bytes) -> bytes:
    """Return a frame without its FCS, padded to the minimum size."""
    return (destination + source + kind.to_bytes(2, "big") + content).ljust(FRAME_BYTES_MIN, b"\0")


def checksum(content: bytes) -> int:
    """Return the Internet checksum. Source: RFC 1071."""
    padded = content + b"\0" * (len(content) % 2)
    total = sum(int.from_bytes(padded[at : at + 2], "big") for at in range(0, len(padded), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(route: Route, protocol: Protocol, tos: int, length: int) -> bytes:
    """Return the header of a packet with `length` bytes behind it: not fragmented, identification 0.

    Source: RFC 791, section 3.1; RFC 6864, section 4.1 (identification of unfragmented packets).
    """
    start = bytes((0x45, tos)) + (IPV4_BYTES + length).to_bytes(2, "big") + bytes((0, 0, 0x40, 0))
    middle = bytes((TTL_HOPS, protocol))
    ends = route.source_ip + route.destination_ip
    return start + middle + checksum(start + middle + b"\0\0" + ends).to_bytes(2, "big") + ends


def udp(source_port: int, destination_port: int, length: int) -> bytes:
    """Return the header of a datagram with `length` bytes of payload, without a checksum."""
    ports = source_port.to_bytes(2, "big") + destination_port.to_bytes(2, "big")
    return ports + (UDP_BYTES + length).to_bytes(2, "big") + b"\0\0"


def type_of_service(priority: int, ecn: Ecn) -> int:
    """Return the byte of a traffic class: its class selector, and ECN. Source: RFC 2474, section 4.2.2."""
    return priority << 5 | ecn


UDP_PORT: Final = 4791
"""Source: InfiniBand architecture, annex A17, 17.6."""
ICRC_BYTES: Final = 4
PARTITION: Final = 0xFFFF
NOTIFICATION: Final = 0x81
"""Opcode of a CNP. Source: annex A17, 17.9.3."""
SERVICES: Final = {"rc": 0x00, "uc": 0x20, "ud": 0x60}
"""Upper bits of an opcode. Source: InfiniBand architecture, volume 1, table 35."""
ACKNOWLEDGED: Final = 0x1F
"""AETH syndrome of an ACK that counts no credits. Source: volume 1, table 46."""
SEQUENCE_ERROR: Final = 0x60
"""AETH syndrome of a NAK: a packet is missing."""
Q_KEY: Final = 0x11111111
"""Of the agents' datagrams; any would do."""

# Lower bits of opcodes. Source: InfiniBand architecture, volume 1, table 35.
_BY_PLACE: Final = {
    "send": {
        "first": 0x00, "": 0x01, "last": 0x02, "last immediate": 0x03, "only": 0x04, "only immediate": 0x05,
    },
    "write": {
        "first": 0x06, "": 0x07, "last": 0x08, "last immediate": 0x09, "only": 0x0A, "only immediate": 0x0B,
    },
    "read_response": {"first": 0x0D, "": 0x0E, "last": 0x0F, "only": 0x10},
}  # fmt: skip
_ALONE: Final = {"read_request": 0x0C, "ack": 0x11, "nak": 0x11, "datagram": 0x04}


def roce_packet(route: Route, packet: Packet, messages: int) -> bytes:
    """Return IP header and all behind it; `messages` is what an AETH counts."""
    padding = -packet.payload_bytes % 4
    content = _extension(packet, messages) + bytes(packet.payload_bytes + padding)
    transport = _base(packet, padding) + content
    length = len(transport) + ICRC_BYTES
    tos = type_of_service(packet.priority, ecn_of(packet))
    ip = ipv4(route, Protocol.UDP, tos, UDP_BYTES + length)
    whole = ip + udp(0xC000 | packet.flow_number & 0x3FFF, UDP_PORT, length) + transport
    crc = invariant_crc(whole)
    return whole + (bytes(byte ^ 0xFF for byte in crc) if "corrupt" in packet.flags else crc)


def ecn_of(packet: Packet) -> Ecn:
    """Return what the IP header says about congestion."""
    if packet.is_marked:
        return Ecn.EXPERIENCED
    return Ecn.CAPABLE if "ect" in packet.flags else Ecn.NOT_CAPABLE


def invariant_crc(packet: bytes) -> bytes:
    """Return the CRC of an IPv4 packet up to it: what routers may change counts as ones.

    Source: InfiniBand architecture, annex A17, 17.3.3; Linux rxe (rxe_icrc.c).
    """
    masked = bytearray(b"\xff" * 8 + packet)
    ip, bth = 8, 8 + IPV4_BYTES + UDP_BYTES
    masked[ip + 1] = masked[ip + 8] = 0xFF  # type of service, time to live
    masked[ip + 10 : ip + 12] = b"\xff\xff"  # checksum
    masked[ip + IPV4_BYTES + 6 : ip + IPV4_BYTES + 8] = b"\xff\xff"  # that of UDP
    masked[bth + 4] = 0xFF  # FECN, BECN and reserved bits
    return zlib.crc32(masked).to_bytes(4, "little")


def opcode_of(packet: Packet) -> int:
    """Return the opcode, of which the upper bits are the service."""
    if packet.kind == "cnp":
        return NOTIFICATION
    service = SERVICES[packet.service or "rc"]
    if packet.kind in _ALONE:
        return service | _ALONE[packet.kind]
    place = "only" if {"first", "last"} <= packet.flags else next(iter(packet.flags & {"first", "last"}), "")
    words = f"{place} immediate" if "immediate" in packet.flags else place
    return service | _BY_PLACE[packet.kind][words]


def _base(packet: Packet, padding: int) -> bytes:
    """Return the BTH. Source: volume 1, 9.2; the bits of congestion: annex A17, 17.9."""
    backward = 0x40 if packet.kind == "cnp" else 0
    ack_request = 0x80 if "ack_request" in packet.flags else 0
    psn = (packet.psn or 0) & 0xFFFFFF
    return struct.pack(
        ">BBHII",
        opcode_of(packet),
        padding << 4,
        PARTITION,
        backward << 24 | packet.qp_num,
        ack_request << 24 | psn,
    )


def _extension(packet: Packet, messages: int) -> bytes:
    """Return the headers between the BTH and the payload. Source: volume 1, 9.3."""
    if packet.kind == "cnp":
        return bytes(16)
    if packet.kind == "datagram":
        return struct.pack(">II", Q_KEY, packet.src_qp_num)
    if packet.kind in ("ack", "nak"):
        return _acknowledge(SEQUENCE_ERROR if packet.kind == "nak" else ACKNOWLEDGED, messages)
    if packet.kind == "read_response":
        return _acknowledge(ACKNOWLEDGED, messages) if packet.flags & {"first", "last"} else b""
    has_remote = packet.kind == "read_request" or (packet.kind == "write" and "first" in packet.flags)
    remote = struct.pack(">QII", 0, packet.qp_num, packet.message_bytes) if has_remote else b""
    return remote + (packet.immediate.to_bytes(4, "big") if "immediate" in packet.flags else b"")


def _acknowledge(syndrome: int, messages: int) -> bytes:
    return struct.pack(">I", syndrome << 24 | messages & 0xFFFFFF)


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
    """Sequence numbers of the segments in one direction of a connection.

    Segments that are missing in the capture count as full ones.
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
    """Return the bytes that a segment carries for TCP: payload, and framing of a layer above."""
    return segment.bytes - FRAME_OVERHEAD_BYTES - options_bytes


def options_bytes(packets: Iterable[Packet]) -> int:
    """Return the bytes of timestamps in each segment; only acknowledgements distinguish them from framing."""
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
