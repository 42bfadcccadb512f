"""A window that follows marks alone, with numbers worked by hand.

Packets have 4000 bytes and no header; windows begin with ten, and the path's largest is 225 000 bytes.
"""

import pytest
from helpers.networks import FRAME, Window


def marked(**parameters: float) -> Window:
    return Window(mprdma=1, **parameters)


def test_what_comes_unmarked_adds_a_packet_per_window_whatever_it_waited() -> None:
    """4000 x 4000 / 40 000 = 400, then 8000 x 4000 / 40 400 = 792.08."""
    window = marked()
    assert window.acknowledged(20, 0) == 40_400
    assert window.acknowledged(3_000, 2_000, packets=2) == 40_400 + 792


def test_a_mark_takes_a_quarter_of_what_comes() -> None:
    window = marked()
    assert window.acknowledged(20, 0, is_marked=True) == 39_000
    assert window.acknowledged(20, 0, packets=2, is_marked=True) == 37_000


def test_a_trimmed_packet_and_a_timeout_take_their_bytes_away() -> None:
    assert marked().trimmed(20) == 36_000
    assert marked(rto_ns=50_000).times_out(50) == FRAME  # all ten, each by itself, and one packet at least


@pytest.mark.parametrize(("round_trip_us", "largest"), [(0, 225_000), (-2, 187_500)])
def test_the_largest_window_is_that_of_the_shortest_round_trip(round_trip_us: float, largest: int) -> None:
    window = marked(window_packets=0)
    assert window.bytes == 225_000
    assert window.acknowledged(20, round_trip_us) == largest


def test_a_window_that_stays_has_no_marks_either() -> None:
    assert marked(nscc=0).acknowledged(20, 0, is_marked=True) == 40_000
