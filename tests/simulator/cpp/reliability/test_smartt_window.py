"""SMaRTT's window, with numbers worked by hand.

Packets have 4000 bytes and no header; windows begin with ten, and the path's bytes are 150 000. A round trip
has 12 us without queues, and its target is 18 us.
"""

import pytest
from helpers.networks import FRAME, Window


def smartt(**parameters: float) -> Window:
    return Window(**{"smartt": 1, "target_delay_ns": 6_000, **parameters})


def five_come() -> Window:
    """Packets of a period that ends at 38 us."""
    window = smartt()
    window.acknowledged(20, 3)
    window.acknowledged(21, 3, packets=4)
    return window


def adapted() -> Window:
    """A packet is trimmed in the period, and a mark comes at its end."""
    window = five_come()
    window.trimmed(30)
    assert window.acknowledged(38, 12, is_marked=True) == 16_051
    return window


def test_what_comes_unmarked_adds_a_share_for_all_and_more_for_a_short_round_trip() -> None:
    """1.25 x 4000 x 4000 / 40 000 = 500, and 5 x 6 / 12 x 400 = 1000; then 481.9 and 5 x 3 / 15 x 385.5."""
    window = smartt()
    assert window.acknowledged(20, 0) == 41_500
    assert window.acknowledged(21, 3) == 41_500 + 867
    assert smartt().acknowledged(40, 12) == 40_500
    assert smartt(fair_gain=2).acknowledged(40, 12) == 40_800
    assert smartt(delay_gain=1).acknowledged(20, 0) == 40_700


def test_a_short_round_trip_adds_what_came_at_most() -> None:
    assert smartt(delay_gain=1_000).acknowledged(20, 0) == 40_000 + 500 + FRAME


@pytest.mark.parametrize(
    ("delay_us", "window"),
    [(3, 40_000 - 853), (6, 40_000), (12, 40_000 - 2_853), (168, 40_000 - FRAME)],
)
def test_a_mark_takes_a_fair_share_and_more_for_a_long_round_trip(delay_us: float, window: int) -> None:
    """0.8 x 40 / 150 x 4000 = 853.3, and 2 x 6 / 24 x 4000 = 2000; no more than the packet."""
    assert smartt().acknowledged(200, delay_us, is_marked=True) == window


def test_a_window_without_queues_is_followed_by_four_packets_for_each_until_there_is_one() -> None:
    """Three packets take 0.96 us."""
    window = smartt(fair_gain=0, delay_gain=0)
    for number in range(10):
        assert window.acknowledged(20 + number, 0.9) == 40_000
    assert window.acknowledged(30, 0.9) == 40_000 + 4 * FRAME
    assert window.acknowledged(31, 0) == 40_000 + 8 * FRAME
    assert window.acknowledged(32, 1) == 40_000 + 8 * FRAME
    assert window.acknowledged(33, 0) == 40_000 + 8 * FRAME


def test_it_has_no_more_than_the_path() -> None:
    window = smartt(window_packets=0)
    assert window.bytes == 150_000
    assert window.acknowledged(20, 0) == 150_000


def test_a_trimmed_packet_takes_half_of_itself_within_a_period() -> None:
    window = smartt()
    before = window.acknowledged(20, 3)
    assert window.trimmed(30) == before - FRAME // 2


@pytest.mark.parametrize(("at_us", "window"), [(38, 16_051), (47, 10_700)])
def test_at_the_end_of_a_period_the_window_is_four_fifths_of_what_came(at_us: float, window: int) -> None:
    """Five packets and a header of 64 bytes: 20 064; what ends half a period late counts for two thirds."""
    assert five_come().trimmed(at_us) == window
    assert five_come().trimmed(37.9) > 40_000
    quiet = five_come()
    assert quiet.acknowledged(at_us, 12) > 40_000


def test_what_was_in_flight_then_tells_nothing_by_marks_or_trimmed_packets() -> None:
    """Ten packets were, and a quarter more is ignored: 12.5."""
    window = adapted()
    for number in range(11):
        assert window.acknowledged(39 + number / 10, 12, is_marked=True) == 16_051
    assert window.trimmed(41) == 16_051
    assert window.acknowledged(42, 12, is_marked=True) < 16_051


def test_a_small_window_adds_a_fifth_of_a_packet_for_each() -> None:
    """All of a path add a fifth of it: 150 000 / 5 / 4000 x 16 051 / 150 000 = 0.8026, or 799.9 bytes."""
    assert adapted().acknowledged(39, 12) == 16_051 + 799


def test_after_a_timeout_it_begins_with_a_packet() -> None:
    assert smartt(rto_ns=50_000).times_out(50) == FRAME


def test_a_window_that_stays_has_none_of_it() -> None:
    assert smartt(nscc=0).acknowledged(20, 0, is_marked=True) == 40_000
