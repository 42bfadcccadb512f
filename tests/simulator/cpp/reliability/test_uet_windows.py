"""Windows of Ultra Ethernet senders: NSCC, marks alone, and SMaRTT, with numbers worked by hand."""

import pytest
from helpers.uet_window import FRAME, Window


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
            1_000, True, 31_040 + 600, id="multiplicative: average 12.5 us, 1 - 0.8 x 3.5 / 12.5 = 0.776"
        ),
    ],
)
def test_four_cases(delay_us: float, is_marked: bool, window_bytes: int) -> None:
    """Each increase counts once the sum is put into effect, here at once, with 0.15 x 4000 bytes besides."""
    assert Window().acknowledged(20, delay_us, is_marked=is_marked) == window_bytes


def test_decreases_are_a_round_trip_apart_and_half_at_most() -> None:
    window = Window(gamma=1)
    assert (
        window.acknowledged(20, 5_000, is_marked=True) == 20_000 + 600
    )  # average 62.5 us: 0.144 is too little
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


def marked(**parameters: float) -> Window:
    return Window(mprdma=1, **parameters)


def test_an_unmarked_packet_adds_one_packet_per_window_at_any_delay() -> None:
    """4000 x 4000 / 40 000 = 400, then 8000 x 4000 / 40 400 = 792.08."""
    window = marked()
    assert window.acknowledged(20, 0) == 40_400
    assert window.acknowledged(3_000, 2_000, packets=2) == 40_400 + 792


def test_a_mark_takes_a_quarter_of_what_comes() -> None:
    window = marked()
    assert window.acknowledged(20, 0, is_marked=True) == 39_000
    assert window.acknowledged(20, 0, packets=2, is_marked=True) == 37_000


def test_marks_alone_a_trimmed_packet_and_a_timeout_take_their_bytes_away() -> None:
    assert marked().trimmed(20) == 36_000
    assert marked(rto_ns=50_000).times_out(50) == FRAME  # all ten, each by itself, and one packet at least


@pytest.mark.parametrize(("round_trip_us", "largest"), [(0, 225_000), (-2, 187_500)])
def test_the_largest_window_is_that_of_the_shortest_round_trip(round_trip_us: float, largest: int) -> None:
    window = marked(window_packets=0)
    assert window.bytes == 225_000
    assert window.acknowledged(20, round_trip_us) == largest


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


def test_packets_sent_before_an_adaptation_bring_no_marks_or_trims() -> None:
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
