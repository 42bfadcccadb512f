"""Ethernet, IPv4 and UDP."""

from rogue.reports.export.captures.packet import (
    Ecn,
    EtherType,
    Protocol,
    Route,
    checksum,
    ethernet,
    ipv4,
    type_of_service,
    udp,
)

ROUTE = Route(bytes(6), bytes(6), bytes((192, 168, 0, 1)), bytes((192, 168, 0, 199)))


def test_the_checksum_of_a_worked_example() -> None:
    """Source: RFC 1071, section 3: the sum of these bytes is ddf2."""
    assert checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0xFFFF - 0xDDF2


def test_an_ip_header_sums_up_to_nothing() -> None:
    header = ipv4(ROUTE, Protocol.UDP, 0, 95)
    assert checksum(header) == 0
    assert header[2:4] == (115).to_bytes(2, "big")


def test_small_frames_are_filled_up() -> None:
    assert len(ethernet(bytes(6), bytes(6), EtherType.IPV4, b"x")) == 60
    assert len(ethernet(bytes(6), bytes(6), EtherType.IPV4, bytes(100))) == 114


def test_a_datagrams_length_counts_its_header() -> None:
    assert udp(49152, 4791, 36) == bytes.fromhex("c00012b7002c0000")


def test_the_class_of_a_priority() -> None:
    assert type_of_service(3, Ecn.EXPERIENCED) == 0b011_000_11
