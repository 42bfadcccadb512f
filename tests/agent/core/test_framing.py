"""Tests: bytes that a verb occupies on the wire."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.agent.core.actions import Verb
from rogue.agent.core.errors import SettingsError
from rogue.agent.core.framing import FRAMINGS, framing_named

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
    [
        (0, (98, 98)),  # RETH only: 62 + 16 + 20
        (1, (99, 99)),
        (1024, (1122, 1122)),
        (1025, (1024 + 82 + 16 + 83, 83)),
        (8192, (8 * 1106 + 16, 1106)),
    ],
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


def test_an_unknown_framing_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SettingsError, match=r"framing: got 'ethernet', expected one of rocev2"):
        framing_named("ethernet")
