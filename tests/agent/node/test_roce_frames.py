"""RoCEv2 frames from bytes: every kind of packet, around other headers, and what is not one."""

import struct

import pytest
from helpers.roce_bytes import ETHERNET, RETH, UDP_PORT, WRITE, aeth, frame_of, ipv4, ipv6, transport

from rogue.agent.node.roce_frames import Frame, decode, decode_ip


def found(frame: bytes) -> Frame:
    """Decode a frame that is one of RoCEv2."""
    decoded = decode(frame)
    assert decoded is not None
    return decoded


def test_a_write_has_its_numbers_and_sizes() -> None:
    decoded = found(frame_of(ipv4(WRITE, tos=0x22)))
    assert (decoded.kind, decoded.service, decoded.places) == ("write", "rc", ("first",))
    assert (decoded.source, decoded.destination, decoded.udp_port) == ("10.0.0.1", "10.0.0.2", UDP_PORT)
    assert (decoded.qp_num, decoded.psn, decoded.ack_request) == (17, 0xFFFFFF, True)
    assert (decoded.message_bytes, decoded.payload_bytes) == (100_000, 1024)
    assert decoded.frame_bytes == 14 + 20 + 8 + 12 + 16 + 1024 + 4 + 4
    assert decoded.is_corrupt is False
    assert not decoded.is_marked


@pytest.mark.parametrize(
    ("opcode", "extension", "kind", "service", "places"),
    [
        (0x01, b"", "send", "rc", ()),
        (0x05, b"\0\0\0\x09", "send", "rc", ("first", "last", "immediate")),
        (0x17, b"\0\0\0\x09", "send", "rc", ("first", "last")),
        (0x29, b"\0\0\0\x09", "write", "uc", ("last", "immediate")),
        (0x2A, RETH, "write", "uc", ("first", "last")),
        (0x0C, RETH, "read_request", "rc", ("first", "last")),
        (0x0D, aeth(0), "read_response", "rc", ("first",)),
        (0x0E, b"", "read_response", "rc", ()),
        (0x13, bytes(28), "atomic", "rc", ("first", "last")),
        (0x12, aeth(0) + bytes(8), "atomic_response", "rc", ()),
        (0x64, struct.pack(">II", 1, 31), "datagram", "ud", ("first", "last")),
        (0x81, bytes(16), "cnp", None, ()),
    ],
)
def test_every_kind_has_its_headers(
    opcode: int, extension: bytes, kind: str, service: str | None, places: tuple[str, ...]
) -> None:
    decoded = found(frame_of(ipv4(transport(opcode, extension=extension, payload=b"five!"))))
    assert (decoded.kind, decoded.service, decoded.places) == (kind, service, places)
    assert decoded.payload_bytes == 5
    assert decoded.immediate == (9 if "immediate" in places else None)
    assert decoded.message_bytes == (100_000 if extension == RETH else None)
    assert decoded.src_qp_num == (31 if kind == "datagram" else None)


@pytest.mark.parametrize(
    ("syndrome", "kind", "code"),
    [(0x1F, "ack", None), (0x60, "nak", "sequence"), (0x62, "nak", "remote_access"), (0x2C, "nak", "rnr")],
)
def test_the_syndrome_makes_an_acknowledgement_a_nak(syndrome: int, kind: str, code: str | None) -> None:
    decoded = found(frame_of(ipv4(transport(0x11, extension=aeth(syndrome)))))
    assert (decoded.kind, decoded.nak_code, decoded.message_number) == (kind, code, 5)
    assert decoded.payload_bytes == 0
    assert decoded.frame_bytes == 66


def test_tags_options_and_ipv6_may_stand_before_the_transport() -> None:
    one_tag, two_tags = bytes.fromhex("81000064"), bytes.fromhex("88a8006481000064")
    plain = found(frame_of(ipv4(WRITE)))
    for frame, more_bytes in (
        (frame_of(ipv4(WRITE), one_tag), 4),
        (frame_of(ipv4(WRITE), two_tags), 8),
        (frame_of(ipv4(WRITE, options=bytes((1, 1, 1, 0)))), 4),
        (frame_of(ipv6(WRITE)), 20),
        (frame_of(ipv6(WRITE, following=0, options=bytes((17, 0)) + bytes(6))), 28),
    ):
        decoded = found(frame)
        assert (decoded.kind, decoded.psn, decoded.payload_bytes) == (
            plain.kind,
            plain.psn,
            plain.payload_bytes,
        )
        assert decoded.frame_bytes == plain.frame_bytes + more_bytes
        assert decoded.is_corrupt is False


def test_marks_are_in_the_traffic_class_of_both_ip_versions() -> None:
    assert found(frame_of(ipv4(WRITE, tos=0x63))).is_marked
    assert found(frame_of(ipv6(WRITE, traffic_class=0x63))).tos == 0x63


def test_a_changed_byte_of_the_payload_is_found_and_a_mark_is_none() -> None:
    frame = bytearray(frame_of(ipv4(WRITE)))
    frame[15] |= 3
    assert found(bytes(frame)).is_corrupt is False
    frame[-20] ^= 1
    assert found(bytes(frame)).is_corrupt


def test_a_cut_frame_has_what_was_captured() -> None:
    frame = frame_of(ipv4(WRITE))
    whole = found(frame)
    for length in range(len(frame)):
        decoded = decode(frame[:length])
        if length < 14 + 20 + 8 + 12:
            assert decoded is None
        else:
            assert decoded is not None
            assert (decoded.psn, decoded.payload_bytes, decoded.frame_bytes) == (
                whole.psn,
                whole.payload_bytes,
                whole.frame_bytes,
            )
            assert decoded.is_corrupt is None
            assert decoded.message_bytes == (100_000 if length >= 14 + 20 + 8 + 12 + 16 else None)


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        ETHERNET,
        ETHERNET + bytes.fromhex("0806") + bytes(60),
        ETHERNET + bytes.fromhex("8100"),
        frame_of(ipv4(WRITE, port=53)),
        frame_of(ipv4(WRITE, fragment=0x2000)),
        frame_of(ipv4(WRITE, fragment=0x0010)),
        frame_of(ipv4(transport(0xFF))),
        frame_of(ipv4(transport(0x2C, extension=RETH))),
        frame_of(ipv6(WRITE, following=6)),
    ],
)
def test_other_traffic_is_no_frame(frame: bytes) -> None:
    assert decode(frame) is None


@pytest.mark.parametrize("total_bytes", [1, 20, 36, 43])
def test_a_packet_that_is_shorter_than_its_headers_is_no_frame(total_bytes: int) -> None:
    packet = ipv4(WRITE)
    assert decode_ip(packet[:2] + total_bytes.to_bytes(2, "big") + packet[4:]) is None


def test_a_packet_without_a_link_header_counts_as_one_of_ethernet() -> None:
    decoded = decode_ip(ipv4(WRITE))
    assert decoded is not None
    assert decoded.frame_bytes == found(frame_of(ipv4(WRITE))).frame_bytes
