"""Captures: which packets the kernel's filter accepts, and the file."""

import socket
import struct
from collections.abc import Sequence

import pytest
from helpers.roce_bytes import WRITE, frame_of, ipv4, ipv6

from rogue.agent.node.capture import (
    SNAPSHOT_BYTES,
    CapturedPacket,
    Instruction,
    PacketEnd,
    attach_filter,
    captured_packets,
    direct_filter,
    packet_filter,
)

OUTGOING, OTHER_HOST = 4, 3
LEAF, SPINE = 7, 9


def accepted_bytes(
    program: Sequence[Instruction], frame: bytes, interface: int = LEAF, direction: int = OUTGOING
) -> int:
    """Run a classic BPF program as the kernel does, as far as these programs need it."""
    ancillary = {0xFFFFF004: direction, 0xFFFFF008: interface}
    accumulator = index = place = 0
    while True:
        code, yes, no, operand = program[place]
        place += 1
        if code == 0x06:
            return operand
        if code == 0x20:
            known = ancillary.get(operand)
            accumulator = struct.unpack_from(">I", frame, operand)[0] if known is None else known
        elif code in (0x28, 0x48):
            accumulator = struct.unpack_from(">H", frame, operand + (index if code == 0x48 else 0))[0]
        elif code == 0x30:
            accumulator = frame[operand]
        elif code == 0xB1:
            index = (frame[operand] & 0xF) * 4
        elif code == 0x54:
            accumulator &= operand
        elif code == 0x05:
            place += operand
        else:
            assert code == 0x15
            place += yes if accumulator == operand else no


ROCE = frame_of(ipv4(WRITE))


@pytest.mark.parametrize(
    ("interface", "direction", "is_recorded"),
    [
        (LEAF, OUTGOING, True),
        (LEAF, OTHER_HOST, True),
        (SPINE, OUTGOING, True),
        (SPINE, OTHER_HOST, False),
        (8, OUTGOING, False),
    ],
)
def test_packets_of_chosen_ports_are_recorded(interface: int, direction: int, is_recorded: bool) -> None:
    program = packet_filter([(LEAF, False), (LEAF, True), (SPINE, False)], [])
    expected = SNAPSHOT_BYTES if is_recorded else 0
    assert accepted_bytes(program, ROCE, interface, direction) == expected


def test_only_roce_is_recorded() -> None:
    program = packet_filter([(LEAF, False)], [])
    assert accepted_bytes(program, frame_of(ipv4(WRITE, options=bytes((1, 1, 1, 0))))) == SNAPSHOT_BYTES
    assert accepted_bytes(program, frame_of(ipv6(WRITE))) == SNAPSHOT_BYTES
    assert accepted_bytes(program, frame_of(ipv4(WRITE, port=53))) == 0
    assert accepted_bytes(program, ROCE[:12] + b"\x08\x06" + bytes(60)) == 0


def test_packets_of_chosen_queue_pairs_are_recorded() -> None:
    for address, qp_num, is_recorded in (
        ("10.0.0.2", 17, True),
        ("10.0.0.2", 18, False),
        ("10.0.0.3", 17, False),
    ):
        program = packet_filter([(LEAF, False)], [PacketEnd("10.0.0.9", 1), PacketEnd(address, qp_num)])
        assert bool(accepted_bytes(program, ROCE)) is is_recorded


def test_the_kernel_takes_a_filter_for_600_flows_of_six_queue_pairs() -> None:
    ends = [PacketEnd(f"10.0.0.{2 + (number - 17) % 40}", number) for number in range(17, 3617)]
    program = packet_filter([(LEAF, False), (SPINE, True)], ends)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as somewhere:
        attach_filter(somewhere, program)
    for qp_num in (17, 418, 3577, 3617):
        program = packet_filter(
            [(LEAF, False)], [end._replace(qp_num=end.qp_num - qp_num + 17) for end in ends]
        )
        assert bool(accepted_bytes(program, ROCE)) is (qp_num < 3617 and (qp_num - 17) % 40 == 0)


def test_whole_packets_to_an_address_go_through_a_relay() -> None:
    here, elsewhere = 0x0A000002, 0x0A000003
    assert accepted_bytes(direct_filter([elsewhere, here]), ROCE) >= len(ROCE)
    assert accepted_bytes(direct_filter([elsewhere]), ROCE) == 0
    assert accepted_bytes(direct_filter([here]), frame_of(ipv4(WRITE, port=53))) == 0


def test_capture_file_has_its_packets_and_damage_is_an_error() -> None:
    content = struct.pack("<QHH", 5, 1, 3) + b"abc" + struct.pack("<QHH", 6, 0, 0)
    assert list(captured_packets(content)) == [CapturedPacket(5, 1, b"abc"), CapturedPacket(6, 0, b"")]
    for cut in (content[:5], content[:13]):
        with pytest.raises(ValueError, match="ends within a packet"):
            list(captured_packets(cut))
