"""Tests: recorded packets, their addresses and Ethernet, IPv4 and UDP headers."""

from pathlib import Path

from helpers.experiments import packets_of_cell

from rogue.reports.export.captures.packet import (
    Ecn,
    EtherType,
    Protocol,
    Route,
    addresses_of,
    checksum,
    ethernet,
    ipv4,
    packets_of,
    type_of_service,
    udp,
)


def test_rows_with_what_they_lack_as_nothing(tmp_path: Path) -> None:
    table = packets_of_cell(tmp_path, "transports=[roce+pfc+dcqcn]", "topology.buffer=1MB")
    packets = list(packets_of(table))
    assert [packet.t_ps for packet in packets] == sorted(table["t_ps"])
    pause = next(packet for packet in packets if packet.kind == "pause")
    assert (pause.src, pause.qp_num, pause.flags, pause.reason) == ("", 0, frozenset(), "")
    first = next(packet for packet in packets if "first" in packet.flags)
    assert (first.kind, first.message_bytes, first.flow_number) == ("write", 200_000, first.src_qp_num)


def test_hosts_are_numbered_by_their_names() -> None:
    addresses = addresses_of(["s0", "h7", "h0"])
    assert addresses.ip("h7") == bytes((10, 0, 0, 8))
    assert addresses.mac("h0") == bytes((2, 0, 0, 0, 0, 1))
    assert addresses.names()[addresses.ip("s0")] == "s0"


def test_no_two_nodes_share_an_address() -> None:
    nodes = ["h1", "h01", "s1", "s0", "host", "h"]
    addresses = addresses_of([*nodes, *nodes])
    assert len({addresses.ip(node) for node in nodes}) == len({addresses.mac(node) for node in nodes}) == 6


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
