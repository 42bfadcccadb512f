"""Bytes on the wire, immediate values, and the names of statuses."""

from collections.abc import Callable
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.agent.core.actions import (
    RETRY_EXC_ERR,
    STATUS_NAMES,
    SUCCESS,
    WR_FLUSH_ERR,
    Verb,
    status_name,
)
from rogue.agent.core.errors import PeerError
from rogue.agent.core.framing import FRAMINGS
from rogue.agent.core.immediates import (
    APPLICATION_MAX,
    BATCH_NUMBERS,
    RATE_TAG,
    BatchAcknowledgement,
    batch_immediate,
    batch_of,
    rate_immediate,
    rate_of,
    tag_of,
)

ROCE = FRAMINGS["rocev2"]


def test_a_full_packet_is_1086_bytes_in_a_frame_and_1106_on_the_wire() -> None:
    assert 1024 + ROCE.frame_overhead_bytes == 1086
    assert ROCE.packet_wire_bytes(1024) == 1106


def test_verbs_of_64_kib_worked_example() -> None:
    """64 packets are 65536 + 64 * 82 = 70784, and the headers that not every packet has come on top.

    A WRITE has a RETH of 16 on its first packet, a READ's response an AETH of 4 on its first and last one, a
    SEND nothing; an immediate value adds 4 to the last packet.
    """
    assert ROCE.verb_wire_bytes("write", 65_536, 1024) == (70_800, 1106)
    assert ROCE.verb_wire_bytes("write", 65_536, 1024, has_immediate=True) == (70_804, 1110)
    assert ROCE.verb_wire_bytes("read", 65_536, 1024) == (70_792, 1110)
    assert ROCE.verb_wire_bytes("send", 65_536, 1024) == (70_784, 1106)
    assert ROCE.verb_wire_bytes("send", 65_536, 1024, has_immediate=True) == (70_788, 1110)


def test_single_packets_worked_example() -> None:
    """A frame of 62 and a gap of 20; a 0-byte WRITE with an immediate is the 82-byte frame of the papers."""
    assert ROCE.verb_wire_bytes("write", 0, 1024, has_immediate=True) == (82 + 20, 82 + 20)
    assert ROCE.verb_wire_bytes("read", 100, 1024) == (186, 186)
    assert ROCE.verb_wire_bytes("send", 100, 1024) == (182, 182)


@pytest.mark.parametrize(
    ("length_bytes", "expected"),
    [(0, (98, 98)), (1024, (1122, 1122)), (1025, (1024 + 82 + 16 + 83, 83))],  # 98: 62 + RETH 16 + gap 20
)
def test_edges_of_a_write(length_bytes: int, expected: tuple[int, int]) -> None:
    assert ROCE.verb_wire_bytes("write", length_bytes, 1024) == expected


@given(length_bytes=st.integers(0, 1 << 21), mtu_bytes=st.sampled_from([256, 512, 1024, 2048, 4096]))
def test_a_write_is_the_sum_of_its_packets(length_bytes: int, mtu_bytes: int) -> None:
    payloads = [min(mtu_bytes, length_bytes - at) for at in range(0, length_bytes, mtu_bytes)] or [0]
    packets = [ROCE.packet_wire_bytes(payload) for payload in payloads]
    packets[0] += 16
    assert ROCE.verb_wire_bytes("write", length_bytes, mtu_bytes) == (sum(packets), packets[-1])


def test_a_packet_of_ns3_has_the_headers_of_point_to_point_ipv4_and_udp() -> None:
    """2 + 20 + 8 bytes, and nothing else, whatever the verb."""
    for verb in get_args(Verb):
        assert FRAMINGS["ns3"].verb_wire_bytes(verb, 2000, 1000, has_immediate=True) == (2060, 1030)


def test_rate_worked_example() -> None:
    """1.7696 Gb/s are 1 769 600 kbit/s, which is 0x1B0080."""
    assert rate_immediate(1_769_600_000) == 0xE01B_0080
    assert rate_of(0xE01B_0080) == 1_769_600_000


def test_a_rate_of_more_than_27_bits_is_in_mbps() -> None:
    """134.217727 Gb/s are 0x7FFFFFF kbit/s; 400 Gb/s are 400 000 Mbit/s, which is 0x61A80."""
    assert rate_immediate(134_217_727_000) == 0xE7FF_FFFF
    assert rate_immediate(134_217_727_001) == 0xE800_0000 + 134_218
    assert rate_immediate(400_000_000_000) == 0xE806_1A80
    assert rate_of(0xE806_1A80) == 400_000_000_000


@given(rate_bps=st.integers(0, 2_000_000_000_000))
def test_a_rate_arrives_rounded_up_to_its_unit(rate_bps: int) -> None:
    unit_bps = 1_000 if rate_bps <= 134_217_727_000 else 1_000_000
    assert 0 <= rate_of(rate_immediate(rate_bps)) - rate_bps < unit_bps


def test_application_values_end_below_the_library_values() -> None:
    assert tag_of(APPLICATION_MAX) == RATE_TAG - 1
    assert tag_of(APPLICATION_MAX + 1) == RATE_TAG


def test_batch_worked_example() -> None:
    """Number 1030 is 6 again; 3000 ns are 750 units, which shifted by ten bits are 0xBB800."""
    assert batch_immediate(1030, 3000) == 0xF00B_B806
    assert batch_of(0xF00B_B806) == BatchAcknowledgement(6, 3000)


@given(number=st.integers(0, BATCH_NUMBERS - 1), processing_ns=st.integers(-10, 2_000_000))
def test_an_acknowledgement_has_a_time_to_4_ns_or_none(number: int, processing_ns: int) -> None:
    acknowledgement = batch_of(batch_immediate(number, processing_ns))
    assert acknowledgement.number == number
    if processing_ns >= 4 * (2**18 - 1):
        assert acknowledgement.processing_ns is None, "longer than about one millisecond"
    else:
        assert acknowledgement.processing_ns is not None
        assert 0 <= max(0, processing_ns) - acknowledgement.processing_ns < 4


@pytest.mark.parametrize(
    ("decode", "imm", "problem"),
    [
        *((batch_of, imm, "expected a batch") for imm in (0, APPLICATION_MAX, rate_immediate(10**9))),
        *((rate_of, imm, "expected a rate") for imm in (0, APPLICATION_MAX, 0xF000_0000)),
        *((tag_of, imm, "expected 32 bits") for imm in (-1, 1 << 32)),
    ],
)
def test_invalid_immediate_is_an_error_of_the_peer(
    decode: Callable[[int], object], imm: int, problem: str
) -> None:
    with pytest.raises(PeerError, match=problem):
        decode(imm)


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (SUCCESS, "IBV_WC_SUCCESS"),
        (WR_FLUSH_ERR, "IBV_WC_WR_FLUSH_ERR"),
        (RETRY_EXC_ERR, "IBV_WC_RETRY_EXC_ERR"),
        (21, "IBV_WC_GENERAL_ERR"),
        (len(STATUS_NAMES), "ibv_wc_status 22"),
        (99, "ibv_wc_status 99"),
        (-1, "ibv_wc_status -1"),
    ],
)
def test_statuses_have_the_names_of_verbs(status: int, name: str) -> None:
    assert status_name(status) == name
