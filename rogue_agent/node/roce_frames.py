"""Decode RoCEv2 frames: Ethernet or bare IP, UDP to port 4791, and InfiniBand's transport headers.

A frame may have VLAN tags, IP options or IPv6 extension headers, and may be cut short by a snapshot length.
Source: InfiniBand architecture, volume 1, chapter 9; annex A17 (RoCEv2).
"""

import struct
import zlib
from functools import lru_cache
from ipaddress import ip_address
from typing import Final, NamedTuple

ROCE_PORT: Final = 4791
PSN_MASK: Final = 0xFFFFFF
_VLAN_TYPES: Final = (0x8100, 0x88A8, 0x9100)
_IPV4_TYPE, _IPV6_TYPE = 0x0800, 0x86DD
_UDP: Final = 17
_OPTION_HEADERS: Final = (0, 43, 60)
"""IPv6 extension headers that may stand before UDP: hop-by-hop options, routing, destination options."""
_ETHERNET_BYTES, _IPV4_BYTES, _IPV6_BYTES, _UDP_BYTES, _BTH_BYTES = 14, 20, 40, 8, 12
_ICRC_BYTES, _FCS_BYTES = 4, 4
_FRAME_BYTES_MIN: Final = 64
_IMMEDIATE_BYTES, _AETH_BYTES, _DETH_BYTES, _RETH_BYTES, _ATOMIC_BYTES = 4, 4, 8, 16, 28
_CNP_BYTES: Final = 16
_CONGESTION_EXPERIENCED: Final = 3
_CNP_OPCODE: Final = 0x81
_SERVICES: Final = {0x00: "rc", 0x20: "uc", 0x60: "ud"}
_FIRST, _LAST, _IMMEDIATE, _ONLY = "first", "last", "immediate", ("first", "last")
_OPERATIONS: Final[dict[int, tuple[str, tuple[str, ...]]]] = {
    0x00: ("send", (_FIRST,)),
    0x01: ("send", ()),
    0x02: ("send", (_LAST,)),
    0x03: ("send", (_LAST, _IMMEDIATE)),
    0x04: ("send", _ONLY),
    0x05: ("send", (*_ONLY, _IMMEDIATE)),
    0x06: ("write", (_FIRST,)),
    0x07: ("write", ()),
    0x08: ("write", (_LAST,)),
    0x09: ("write", (_LAST, _IMMEDIATE)),
    0x0A: ("write", _ONLY),
    0x0B: ("write", (*_ONLY, _IMMEDIATE)),
    0x0C: ("read_request", _ONLY),
    0x0D: ("read_response", (_FIRST,)),
    0x0E: ("read_response", ()),
    0x0F: ("read_response", (_LAST,)),
    0x10: ("read_response", _ONLY),
    0x11: ("ack", ()),
    0x12: ("atomic_response", ()),
    0x13: ("atomic", _ONLY),
    0x14: ("atomic", _ONLY),
    0x16: ("send", (_LAST,)),
    0x17: ("send", _ONLY),
}
"""Kind and place of a packet by the lower five bits of its opcode; the upper three are the service."""
_INVALIDATING: Final = (0x16, 0x17)
NAK_CODES: Final = {0: "sequence", 1: "invalid_request", 2: "remote_access", 3: "remote_operational"}
"""Meaning of the lower five bits of a NAK's syndrome."""


class Frame(NamedTuple):
    """A RoCEv2 packet. A field is None if the packet has no such header, or the capture has cut it off."""

    source: str
    """IP address."""
    destination: str
    tos: int
    """Type of service, or traffic class, with ECN in its lowest two bits."""
    udp_port: int
    """Source port."""
    opcode: int
    kind: str
    """write, send, read_request, read_response, atomic, atomic_response, ack, nak, datagram or cnp."""
    service: str | None
    """rc, uc or ud; None of a CNP."""
    places: tuple[str, ...]
    """Of first, last and immediate those that the opcode says."""
    ack_request: bool
    qp_num: int
    """Queue pair that the packet is for."""
    psn: int
    frame_bytes: int
    """On the wire, from Ethernet header to FCS, also if the capture has less."""
    payload_bytes: int
    ip: int
    """Place of the IP header in the captured bytes."""
    bth: int
    """Place of the BTH."""
    end: int
    """Place behind the ICRC, also if the capture has less."""
    identification: int | None
    """IP ID; IPv6 has none."""
    src_qp_num: int | None = None
    """From a datagram's header; other packets do not say which queue pair sent them."""
    syndrome: int | None = None
    message_number: int | None = None
    message_bytes: int | None = None
    immediate: int | None = None
    is_corrupt: bool | None = None
    """True if the ICRC is wrong; None if the capture does not have the whole packet."""

    @property
    def is_marked(self) -> bool:
        """True if a switch has marked the packet as having experienced congestion."""
        return self.tos & 3 == _CONGESTION_EXPERIENCED

    @property
    def is_rnr(self) -> bool:
        """True of a NAK by a receiver that was not ready."""
        return self.kind == "nak" and self.syndrome is not None and self.syndrome >> 5 == 1

    @property
    def nak_code(self) -> str | None:
        """Return the reason of a NAK: rnr or one of NAK_CODES; None of other packets."""
        if self.kind != "nak" or self.syndrome is None:
            return None
        return "rnr" if self.is_rnr else NAK_CODES.get(self.syndrome & 0x1F, "other")


class _Ip(NamedTuple):
    source: str
    destination: str
    tos: int
    udp: int
    """Place of the UDP header."""
    end: int
    """Place behind the packet's last byte, also if the capture has less."""
    identification: int | None = None


def decode(frame: bytes) -> Frame | None:
    """Decode an Ethernet frame without FCS; return None if it has no whole BTH of RoCEv2."""
    place = _ETHERNET_BYTES - 2
    while int.from_bytes(frame[place : place + 2], "big") in _VLAN_TYPES:
        place += 4
    if int.from_bytes(frame[place : place + 2], "big") not in (_IPV4_TYPE, _IPV6_TYPE):
        return None
    return decode_ip(frame, place + 2, place + 2)


def decode_ip(packet: bytes, start: int = 0, link_bytes: int = _ETHERNET_BYTES) -> Frame | None:
    """Decode an IP packet that begins at `start`; return None if it has no whole BTH of RoCEv2.

    `link_bytes`: of the header before it on the wire.
    """
    ip = _ip(packet, start)
    if ip is None or min(len(packet), ip.end - _ICRC_BYTES) < ip.udp + _UDP_BYTES + _BTH_BYTES:
        return None
    udp_port, port = struct.unpack_from(">HH", packet, ip.udp)
    opcode, bits, _, to_qp, numbered = struct.unpack_from(">BBHII", packet, ip.udp + _UDP_BYTES)
    service = _SERVICES.get(opcode & 0xE0)
    operation = _operation(opcode, service)
    if port != ROCE_PORT or operation is None:
        return None
    kind, places = operation
    bth = ip.udp + _UDP_BYTES
    padding_bytes = bits >> 4 & 3
    extension, extension_bytes = _extension(packet, bth + _BTH_BYTES, opcode, kind, places)
    if kind == "ack" and (extension.get("syndrome") or 0) >> 5:
        kind = "nak"
    return Frame(
        ip.source,
        ip.destination,
        ip.tos,
        udp_port,
        opcode,
        kind,
        service,
        places,
        ack_request=bool(numbered >> 31),
        qp_num=to_qp & 0xFFFFFF,
        psn=numbered & PSN_MASK,
        frame_bytes=max(_FRAME_BYTES_MIN, link_bytes + ip.end - start + _FCS_BYTES),
        payload_bytes=max(0, ip.end - bth - _BTH_BYTES - extension_bytes - padding_bytes - _ICRC_BYTES),
        ip=start,
        bth=bth,
        end=ip.end,
        identification=ip.identification,
        is_corrupt=_is_corrupt(packet, start, ip),
        **extension,
    )


def _ip(packet: bytes, start: int) -> _Ip | None:
    """Decode the IP header; None if it is none of a whole UDP datagram."""
    version = packet[start] >> 4 if len(packet) > start else 0
    if version == 4:
        return _ipv4(packet, start)
    return _ipv6(packet, start) if version == 6 else None


def _ipv4(packet: bytes, start: int) -> _Ip | None:
    if len(packet) < start + _IPV4_BYTES:
        return None
    header_bytes = (packet[start] & 0xF) * 4
    tos, length, number, fragment, _, protocol = struct.unpack_from(">BHHHBB", packet, start + 1)
    is_fragment = fragment & 0x3FFF != 0
    if protocol != _UDP or is_fragment or header_bytes < _IPV4_BYTES:
        return None
    source, destination = (_address(packet[start + at : start + at + 4]) for at in (12, 16))
    end = start + length if length else len(packet)
    return _Ip(source, destination, tos, start + header_bytes, end, number)


def _ipv6(packet: bytes, start: int) -> _Ip | None:
    if len(packet) < start + _IPV6_BYTES:
        return None
    first, length, following = struct.unpack_from(">IHB", packet, start)
    place = start + _IPV6_BYTES
    while following in _OPTION_HEADERS and len(packet) >= place + 8:
        following, place = packet[place], place + 8 + packet[place + 1] * 8
    if following != _UDP:
        return None
    source, destination = (_address(packet[start + at : start + at + 16]) for at in (8, 24))
    end = start + _IPV6_BYTES + length if length else len(packet)
    return _Ip(source, destination, first >> 20 & 0xFF, place, end)


@lru_cache(maxsize=4096)
def _address(content: bytes) -> str:
    return str(ip_address(content))


def _operation(opcode: int, service: str | None) -> tuple[str, tuple[str, ...]] | None:
    """Return kind and place; None of an opcode that no RoCEv2 packet of a known service has."""
    if opcode == _CNP_OPCODE:
        return "cnp", ()
    operation = _OPERATIONS.get(opcode & 0x1F)
    if service is None or operation is None:
        return None
    kind, places = operation
    if service == "ud":
        return ("datagram", places) if kind == "send" and {_FIRST, _LAST} <= set(places) else None
    return operation if service == "rc" or opcode & 0x1F <= 0x0B else None


def _extension(
    packet: bytes, place: int, opcode: int, kind: str, places: tuple[str, ...]
) -> tuple[dict[str, int], int]:
    """Return the fields of the headers between BTH and payload, as far as captured, and their bytes."""
    fields: dict[str, int] = {}
    start = place
    if kind == "cnp":
        return fields, _CNP_BYTES
    if kind == "datagram":
        if len(packet) >= place + _DETH_BYTES:
            fields["src_qp_num"] = int.from_bytes(packet[place + 5 : place + 8], "big")
        place += _DETH_BYTES
    elif kind == "read_request" or (kind == "write" and _FIRST in places):
        if len(packet) >= place + _RETH_BYTES:
            fields["message_bytes"] = int.from_bytes(packet[place + 12 : place + 16], "big")
        place += _RETH_BYTES
    elif kind == "atomic":
        place += _ATOMIC_BYTES
    elif kind in ("ack", "atomic_response") or (kind == "read_response" and places):
        if len(packet) >= place + _AETH_BYTES:
            fields["syndrome"] = packet[place]
            fields["message_number"] = int.from_bytes(packet[place + 1 : place + 4], "big")
        place += _AETH_BYTES + (8 if kind == "atomic_response" else 0)
    if _IMMEDIATE in places:
        if len(packet) >= place + _IMMEDIATE_BYTES:
            fields["immediate"] = int.from_bytes(packet[place : place + _IMMEDIATE_BYTES], "big")
        place += _IMMEDIATE_BYTES
    if opcode & 0x1F in _INVALIDATING:
        place += _IMMEDIATE_BYTES
    return fields, place - start


def _is_corrupt(packet: bytes, start: int, ip: _Ip) -> bool | None:
    if len(packet) < ip.end:
        return None
    return icrc(packet[start : ip.end - _ICRC_BYTES], ip.udp - start) != packet[ip.end - _ICRC_BYTES : ip.end]


def icrc(packet: bytes, udp: int) -> bytes:
    """Return the invariant CRC of an IP packet without it; `udp` is the place of the UDP header.

    What routers may change counts as ones, and so does the InfiniBand header that RoCEv2 does not have.
    Source: InfiniBand architecture, annex A17, 17.3.3; Linux, drivers/infiniband/sw/rxe/rxe_icrc.c.
    """
    masked = bytearray(packet)
    if packet[0] >> 4 == 4:
        masked[1] = masked[8] = 0xFF  # type of service, time to live
        masked[10:12] = b"\xff\xff"  # checksum
    else:
        masked[0] |= 0x0F  # traffic class and flow label
        masked[1:4] = b"\xff\xff\xff"
        masked[7] = 0xFF  # hop limit
    masked[udp + 6 : udp + 8] = b"\xff\xff"  # checksum of UDP
    masked[udp + _UDP_BYTES + 4] = 0xFF  # FECN, BECN and reserved bits
    return zlib.crc32(b"\xff" * 8 + bytes(masked)).to_bytes(4, "little")
