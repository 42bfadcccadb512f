"""Addresses of nodes, and Ethernet, IPv4 and UDP headers."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from ipaddress import IPv4Address
from typing import Final, NamedTuple

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
