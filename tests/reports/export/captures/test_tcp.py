"""From counted segments to bytes of a stream."""

import struct

from rogue.reports.export.captures.packet import Packet, Route, checksum
from rogue.reports.export.captures.transport_headers import Stream, options_bytes, stream_bytes, tcp_packet

ROUTE = Route(bytes(6), bytes(6), bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2)))


def segment(number: int, stream: int = 1460, options: int = 0) -> Packet:
    return Packet(
        0, "h0", "h0->s0", "write", "tcp", "h0", "h1", 2, 3, number, 58 + options + stream, stream, 0,
        False, "", frozenset(), 0, 0, "", 0, 0,
    )  # fmt: skip


def acknowledgement(number: int, selective: str = "", frame_bytes: int = 64) -> Packet:
    packet = segment(number)._replace(kind="ack", src_qp_num=3, qp_num=2, payload_bytes=0)
    return packet._replace(bytes=frame_bytes, selective=selective)


def test_where_segments_stand() -> None:
    stream = Stream([segment(0), segment(1, 540), segment(2)], 0)
    assert [stream.sequence(number) for number in range(4)] == [1, 1461, 2001, 3461]
    assert stream.sequence(5) == 3461 + 2 * 1460


def test_what_is_not_in_the_capture_was_full() -> None:
    stream = Stream([segment(10), segment(12)], 0)
    assert stream.sequence(10) == 1
    assert stream.sequence(12) == 1 + 2 * 1460
    assert stream.sequence(13) == 1 + 3 * 1460
    assert Stream([], 0).sequence(7) == 1


def test_framing_of_a_layer_above_belongs_to_the_stream() -> None:
    assert stream_bytes(segment(0, 1460 + 24), 0) == 1484


def test_timestamps_are_told_by_acknowledgements() -> None:
    assert options_bytes([segment(0), acknowledgement(1)]) == 0
    assert options_bytes([segment(0, options=12), acknowledgement(1, frame_bytes=70)]) == 12
    assert options_bytes([acknowledgement(1, "3-4", frame_bytes=70)]) == 0


def test_an_acknowledgement_names_what_has_come_besides() -> None:
    streams = {(2, 3): Stream([segment(number) for number in range(6)], 0)}
    packet = tcp_packet(ROUTE, acknowledgement(2, "4-4"), streams, 0)
    header = packet[20:]
    source, destination, _, acknowledged, offset, flags = struct.unpack_from(">HHIIBB", header)
    assert (source, destination) == (5001, 0xC002)
    assert acknowledged == 1 + 2 * 1460
    assert (offset >> 4, flags) == (8, 0x10)
    assert header[20:] == bytes((1, 1, 5, 10)) + struct.pack(">II", 1 + 4 * 1460, 1 + 5 * 1460)
    pseudo = ROUTE.source_ip + ROUTE.destination_ip + struct.pack(">HH", 6, len(header))
    assert checksum(pseudo + header) == 0
