"""Tests: packets and transport headers of captures."""

import struct
import zlib
from pathlib import Path

import pytest
from helpers.experiments import packets_of_cell

from rogue.reports.cells.recorded_packets import Packet, packets_of
from rogue.reports.export.captures.transport_headers import (
    Ecn,
    Route,
    Stream,
    addresses_of,
    checksum,
    ecn_of,
    invariant_crc,
    opcode_of,
    options_bytes,
    roce_packet,
    stream_bytes,
    tcp_packet,
)


def test_missing_fields_of_packets_are_empty(tmp_path: Path) -> None:
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


CNP = bytes.fromhex(
    "45c2003c718c400040119161 0a001101 0a001201"  # IPv4
    "000012b700280000"  # UDP
    "8100ffff40000118 00000000"  # BTH
    "00000000000000000000000000000000"
    "82fd002a"
)
"""Sent by a ConnectX-4 Lx, without its Ethernet header. Source: Scapy, test/contrib/roce.uts."""
TEN_ROUTE = Route(bytes(6), bytes(6), bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2)))
NOTHING = Packet(
    0, "h0", "h0->s0", "write", "rc", "h0", "h1", 2, 3, 0, 0, 0, 0, False, "", frozenset(), 0, 0, "", 0, 0
)  # fmt: skip


def packet(**values: object) -> Packet:
    flags = frozenset(str(values.pop("flags", "")).split())
    return NOTHING._replace(flags=flags, **values)  # type: ignore[arg-type]


def test_the_invariant_crc_of_a_real_packet() -> None:
    assert invariant_crc(CNP[:-4]) == CNP[-4:]


def test_only_the_invariant_crc_of_a_corrupt_packet_is_wrong() -> None:
    flags = ("first last", "first last corrupt")
    right, wrong = (roce_packet(TEN_ROUTE, packet(flags=each), 1) for each in flags)
    assert right[-4:] == invariant_crc(right[:-4])
    assert wrong[:-4] == right[:-4]
    assert wrong[-4:] != right[-4:]


def test_invariant_crc_ignores_fields_that_routers_change() -> None:
    changed = bytearray(CNP[:-4])
    for at in (
        1,
        8,
        10,
        11,
        26,
        27,
        32,
    ):  # service, time to live, checksums of IP and UDP, ECN bits of the BTH
        changed[at] ^= 0x55
    assert invariant_crc(bytes(changed)) == CNP[-4:]
    for at in (4, 12, 20, 28, 33, 40):
        other = bytearray(CNP[:-4])
        other[at] ^= 1
        assert invariant_crc(bytes(other)) != CNP[-4:]


@pytest.mark.parametrize(
    ("kind", "service", "flags", "opcode"),
    [
        ("write", "rc", "first", 0x06),
        ("write", "rc", "", 0x07),
        ("write", "rc", "last ack_request", 0x08),
        ("write", "rc", "first last", 0x0A),
        ("write", "rc", "last immediate", 0x09),
        ("send", "rc", "first last immediate", 0x05),
        ("send", "uc", "", 0x21),
        ("write", "uc", "first last", 0x2A),
        ("read_request", "rc", "first", 0x0C),
        ("read_response", "rc", "first", 0x0D),
        ("read_response", "rc", "first last", 0x10),
        ("ack", "rc", "", 0x11),
        ("nak", "rc", "", 0x11),
        ("datagram", "ud", "", 0x64),
        ("cnp", "rc", "", 0x81),
    ],
)
def test_opcodes(kind: str, service: str, flags: str, opcode: int) -> None:
    """Source: InfiniBand architecture, volume 1, table 35."""
    assert opcode_of(packet(kind=kind, service=service, flags=flags)) == opcode


def test_a_cnp_looks_like_a_real_one() -> None:
    made = roce_packet(TEN_ROUTE, packet(kind="cnp", qp_num=0x118), 0)
    assert made[28:56] == CNP[28:56]
    assert len(made) == len(CNP)


def test_first_packet_of_a_write_has_its_length() -> None:
    made = roce_packet(TEN_ROUTE, packet(flags="first ect", psn=7, payload_bytes=1024, message_bytes=3000), 0)
    assert len(made) == 20 + 8 + 12 + 16 + 1024 + 4
    assert made[36:40] == bytes((0, 0, 0, 7))
    assert made[40:56] == bytes(8) + (3).to_bytes(4, "big") + (3000).to_bytes(4, "big")
    assert made[1] == Ecn.CAPABLE


def test_an_acknowledgement_counts_messages() -> None:
    made = roce_packet(TEN_ROUTE, packet(kind="ack", psn=9), 5)
    assert made[40:44] == bytes((0x1F, 0, 0, 5))
    assert roce_packet(TEN_ROUTE, packet(kind="nak"), 0)[40] == 0x60


def test_a_payload_is_filled_up_to_whole_words() -> None:
    made = roce_packet(TEN_ROUTE, packet(flags="last", payload_bytes=5), 0)
    assert made[29] == 3 << 4
    assert len(made) == 20 + 8 + 12 + 8 + 4
    assert zlib.crc32(made) != 0


def test_marks_are_in_the_ip_header() -> None:
    assert ecn_of(packet(is_marked=True, flags="ect")) is Ecn.EXPERIENCED
    assert ecn_of(packet()) is Ecn.NOT_CAPABLE
    assert roce_packet(TEN_ROUTE, packet(priority=3, flags="last"), 0)[1] == 3 << 5


def segment(number: int, stream: int = 1460, options: int = 0) -> Packet:
    return Packet(
        0, "h0", "h0->s0", "write", "tcp", "h0", "h1", 2, 3, number, 58 + options + stream, stream, 0,
        False, "", frozenset(), 0, 0, "", 0, 0,
    )  # fmt: skip


def acknowledgement(number: int, selective: str = "", frame_bytes: int = 64) -> Packet:
    packet = segment(number)._replace(kind="ack", src_qp_num=3, qp_num=2, payload_bytes=0)
    return packet._replace(bytes=frame_bytes, selective=selective)


def test_sequence_numbers_of_segments() -> None:
    stream = Stream([segment(0), segment(1, 540), segment(2)], 0)
    assert [stream.sequence(number) for number in range(4)] == [1, 1461, 2001, 3461]
    assert stream.sequence(5) == 3461 + 2 * 1460


def test_missing_segments_count_as_full() -> None:
    stream = Stream([segment(10), segment(12)], 0)
    assert stream.sequence(10) == 1
    assert stream.sequence(12) == 1 + 2 * 1460
    assert stream.sequence(13) == 1 + 3 * 1460
    assert Stream([], 0).sequence(7) == 1


def test_framing_of_a_layer_above_belongs_to_the_stream() -> None:
    assert stream_bytes(segment(0, 1460 + 24), 0) == 1484


def test_acknowledgements_reveal_timestamps() -> None:
    assert options_bytes([segment(0), acknowledgement(1)]) == 0
    assert options_bytes([segment(0, options=12), acknowledgement(1, frame_bytes=70)]) == 12
    assert options_bytes([acknowledgement(1, "3-4", frame_bytes=70)]) == 0


def test_acknowledgement_has_selective_blocks() -> None:
    streams = {(2, 3): Stream([segment(number) for number in range(6)], 0)}
    packet = tcp_packet(TEN_ROUTE, acknowledgement(2, "4-4"), streams, 0)
    header = packet[20:]
    source, destination, _, acknowledged, offset, flags = struct.unpack_from(">HHIIBB", header)
    assert (source, destination) == (5001, 0xC002)
    assert acknowledged == 1 + 2 * 1460
    assert (offset >> 4, flags) == (8, 0x10)
    assert header[20:] == bytes((1, 1, 5, 10)) + struct.pack(">II", 1 + 4 * 1460, 1 + 5 * 1460)
    pseudo = TEN_ROUTE.source_ip + TEN_ROUTE.destination_ip + struct.pack(">HH", 6, len(header))
    assert checksum(pseudo + header) == 0
