"""NSCC, with numbers worked by hand.

The path has 12 us at 100 Gb/s, 150 000 bytes, so that all gains are those of the reference network. Packets
have 4000 bytes of payload and, here, no header. The target delay is 9 us, the largest window 225 000 bytes.
"""

import pytest
from helpers.networks import FRAME, Window


def test_it_begins_with_one_and_a_half_times_the_bytes_of_the_path() -> None:
    assert Window(window_packets=0).bytes == 225_000


@pytest.mark.parametrize(
    ("delay_us", "is_marked", "window_bytes"),
    [
        pytest.param(
            3, False, 40_000 + 800 + 600, id="proportional: 4 x 4000 x 9/12 x 4000 x (1 - 3/9) / 40000"
        ),
        pytest.param(9, False, 40_000 + 2_000 + 600, id="fair: 5 x 4000 x 4000 / 40000"),
        pytest.param(
            3, True, 40_000 + 600, id="marked without delay: only what is added once per round trip"
        ),
        pytest.param(
            1_000, True, 31_040 + 600, id="multiplicative: average 12.5 us, 1 - .8 x 3.5 / 12.5 = .776"
        ),
    ],
)
def test_four_cases(delay_us: float, is_marked: bool, window_bytes: int) -> None:
    """Each increase counts once the sum is put into effect, here at once, with .15 x 4000 bytes besides."""
    assert Window().acknowledged(20, delay_us, is_marked=is_marked) == window_bytes


def test_decreases_are_a_round_trip_apart_and_half_at_most() -> None:
    window = Window(gamma=1)
    assert (
        window.acknowledged(20, 5_000, is_marked=True) == 20_000 + 600
    )  # average 62.5 us: .144 is too little
    assert window.acknowledged(32, 5_000, is_marked=True) == 20_600
    assert window.acknowledged(32.1, 5_000, is_marked=True) == 10_300 + 600  # and the 12.1 us are over


def test_increases_gather_for_eight_packets_or_a_round_trip() -> None:
    """8 packets at 3 us: 8 x 800; 41 400 bytes and 6400 x 40 000 / 41 400 = 6183 in whole bytes."""
    window = Window()
    assert window.acknowledged(20, 3) == 41_400
    assert window.acknowledged(25, 3, packets=8) == 41_400
    assert window.acknowledged(26, 3) == 41_400 + 9 * 32_000_000 // 41_400


def test_a_window_without_delay_makes_it_grow_by_a_quarter_of_what_comes() -> None:
    window = Window()
    first = window.acknowledged(20, 0, packets=4)
    assert first == 40_000 + 4 * 1_200 + 600
    assert window.acknowledged(20.1, 0, packets=6) == first  # 40 000 bytes are not more than the window
    assert window.acknowledged(20.2, 0, packets=2) == first + 2_000  # 48 000 are


def test_quick_adapt_takes_what_has_come_in_a_period_for_the_window() -> None:
    """The period ends 21 us after the first acknowledgement; in it two packets came, below 225 000 / 8."""
    window = Window()
    window.acknowledged(20, 0)
    window.acknowledged(30, 0, packets=2)
    assert window.trimmed(42) == 2 * FRAME


def test_quick_adapt_leaves_a_sender_alone_of_which_enough_came() -> None:
    """32 000 bytes are more than 225 000 / 8; a trimmed packet still takes its bytes away."""
    window = Window()
    window.acknowledged(20, 0)
    before = window.acknowledged(30, 0, packets=8)
    assert window.trimmed(42) == before - FRAME


def test_marks_of_what_was_in_flight_then_are_ignored() -> None:
    window = Window()
    window.acknowledged(20, 0)
    window.acknowledged(30, 0, packets=2)
    window.trimmed(42)
    assert window.acknowledged(60, 1_000, is_marked=True) == 2 * FRAME
    low = window.acknowledged(100, 1_000, packets=12, is_marked=True)
    assert window.acknowledged(140, 1_000, is_marked=True) < low, "and no longer, once that has come"


def test_a_trimmed_packet_and_a_timeout_take_their_bytes_away() -> None:
    assert Window().trimmed(20) == 36_000
    assert Window(rto_ns=50_000).times_out(50) == 4_000  # all ten, each by itself, and one packet at least


def test_a_shorter_round_trip_lowers_the_largest_window() -> None:
    assert Window(window_packets=0).acknowledged(20, -2, is_marked=True) == 187_500


@pytest.mark.parametrize(
    ("delay_us", "average_ns"),
    [
        pytest.param(-2, 12_500, id="shorter than any packet's: no sample"),
        pytest.param(3, 0.0125 * 3_000 + 0.9875 * 12_500, id="a sample as any other"),
    ],
)
def test_the_round_trip_of_a_request_is_a_sample_if_a_packet_may_have_it(
    delay_us: float, average_ns: float
) -> None:
    """uec.cpp, processAck: if (raw_rtt >= _base_rtt) update_delay(raw_rtt, ...). The target is 9 us."""
    window = Window()
    window.acknowledged(20, 1_000, is_marked=True)
    assert window.average_delay_ns == pytest.approx(12_500)
    window.acknowledged(21, delay_us, asked=True)
    assert window.average_delay_ns == pytest.approx(average_ns)


def test_without_nscc_the_window_stays() -> None:
    window = Window(nscc=0)
    assert window.acknowledged(20, 1_000, is_marked=True) == window.trimmed(50) == window.bytes == 40_000
