"""Yardsticks, worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.workloads.ideal import ideal_goodput_bps, ideal_transfer_ns, longest_round_trip_ns
from rogue.workloads.topologies import TOPOLOGIES, Topology


def star(**changes: object) -> Topology:
    keys: dict[str, object] = {"hosts": 3, "rate": "10Gbps", "delay": "1us", **changes}
    return TOPOLOGIES["star"].model_validate(keys)


PATH = star().path_shape("h0", "h1")


def test_goodput_of_ten_gigabit() -> None:
    assert ideal_goodput_bps(star(), "h0", "h1") == pytest.approx(9.2586e9, rel=1e-4)


def test_empty_write() -> None:
    # data 62 + 16 + 20 = 98 bytes and ACK 66 + 20 = 86 bytes over two links of 0.8 ns/byte; 4 us of delay
    assert ideal_transfer_ns(star(), PATH, "write", 0) == 4_000 + round(2 * (98 + 86) * 0.8 + 0.4)


def test_one_packet() -> None:
    # (1024 + 98) and 86 bytes over two links
    assert ideal_transfer_ns(star(), PATH, "write", 1024) == 4_000 + round(2 * (1122 + 86) * 0.8 + 0.4)


def test_one_megabyte() -> None:
    # 1024 packets of 1106 bytes and 16 of RETH once, the first packet again over the second link, ACK twice
    wire_ns = (1024 * 1106 + 16 + 1122 + 2 * 86) * 0.8
    assert ideal_transfer_ns(star(), PATH, "write", 2**20) == 4_000 + round(wire_ns + 0.4)


def test_every_link_of_a_path_counts() -> None:
    """A packet of 1122 bytes and its ACK over 0.8 and 8 ns/byte; 1023 more at the slower; 6 us of delay."""
    wire_ns = (1122 + 86) * (0.8 + 8) + 1023 * 1106 * 8
    path = ((10**10, 1_000), (10**9, 2_000))
    assert ideal_transfer_ns(star(), path, "write", 2**20) == 6_000 + round(wire_ns + 0.4)


def test_send_has_no_remote_address() -> None:
    assert ideal_transfer_ns(star(), PATH, "send", 1024) == 4_000 + round(2 * (1106 + 86) * 0.8 + 0.4)


def test_read_of_one_packet() -> None:
    # request 62 + 16 + 20 = 98 one way, response 1024 + 62 + 4 + 20 = 1110 the other, over two links
    assert ideal_transfer_ns(star(), PATH, "read", 1024) == 4_000 + round(2 * (98 + 1110) * 0.8 + 0.4)


def test_read_of_two_packets() -> None:
    # first and last response carry 4 bytes more; the second packet crosses the last link behind the first
    wire_ns = (2 * (98 + 1110) + 1110) * 0.8
    assert ideal_transfer_ns(star(), PATH, "read", 2048) == 4_000 + round(wire_ns + 0.4)


@given(st.integers(0, 10**9))
def test_never_faster_than_the_payload_rate(size_bytes: int) -> None:
    seconds = ideal_transfer_ns(star(), PATH, "write", size_bytes) / 1e9
    assert size_bytes * 8 / seconds < ideal_goodput_bps(star(), "h0", "h1")


@given(st.integers(0, 10**7), st.integers(1, 10**6))
def test_more_bytes_take_longer(size_bytes: int, more_bytes: int) -> None:
    shorter = ideal_transfer_ns(star(), PATH, "write", size_bytes)
    assert ideal_transfer_ns(star(), PATH, "write", size_bytes + more_bytes) >= shorter


def test_the_longest_round_trip_of_a_fat_tree() -> None:
    """Six links of 2 us each way, on which 1106 and 86 bytes take 238.4 ns at 40 Gb/s; 5 ns of cable each."""
    keys = {"k": 4, "rate": "40Gbps", "delay": "2us"}
    tree = TOPOLOGIES["fat_tree"].model_validate(keys)
    assert longest_round_trip_ns(tree, 1106, 86) == 24_060 + 1_431
    assert longest_round_trip_ns(star(delay_spread="0ns"), 1106, 86) == 4_000 + 1_908
