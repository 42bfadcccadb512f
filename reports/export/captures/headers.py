"""Ethernet, IPv4 and UDP, byte for byte."""

from enum import IntEnum
from typing import Final, NamedTuple

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
    """Where a frame comes from and where it is for."""

    source_mac: bytes
    destination_mac: bytes
    source_ip: bytes
    destination_ip: bytes


def ethernet(destination: bytes, source: bytes, kind: EtherType, content: bytes) -> bytes:
    """Return a frame without its FCS, filled up to the least size."""
    return (destination + source + kind.to_bytes(2, "big") + content).ljust(FRAME_BYTES_MIN, b"\0")


def checksum(content: bytes) -> int:
    """Return the Internet checksum. Source: RFC 1071."""
    padded = content + b"\0" * (len(content) % 2)
    total = sum(int.from_bytes(padded[at : at + 2], "big") for at in range(0, len(padded), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(route: Route, protocol: Protocol, tos: int, length: int) -> bytes:
    """Return the header of a packet with so much behind it: not fragmented, identification 0.

    Source: RFC 791, section 3.1; RFC 6864, section 4.1 (identification of what is not fragmented).
    """
    start = bytes((0x45, tos)) + (IPV4_BYTES + length).to_bytes(2, "big") + bytes((0, 0, 0x40, 0))
    middle = bytes((TTL_HOPS, protocol))
    ends = route.source_ip + route.destination_ip
    return start + middle + checksum(start + middle + b"\0\0" + ends).to_bytes(2, "big") + ends


def udp(source_port: int, destination_port: int, length: int) -> bytes:
    """Return the header of a datagram with so much in it, and no checksum."""
    ports = source_port.to_bytes(2, "big") + destination_port.to_bytes(2, "big")
    return ports + (UDP_BYTES + length).to_bytes(2, "big") + b"\0\0"


def type_of_service(priority: int, ecn: Ecn) -> int:
    """Return the byte of a traffic class: its class selector, and ECN. Source: RFC 2474, section 4.2.2."""
    return priority << 5 | ecn
