"""The window of Reno: growth and reductions worked by hand, in segments of 1460 bytes."""

from rogue.simulator._core import TcpWindow

SEGMENT_BYTES = 1460


def segments(window: TcpWindow) -> float:
    return window.window_bytes / SEGMENT_BYTES


def acknowledge(window: TcpWindow, *counts: int) -> None:
    for count in counts:
        window.on_acknowledged(acknowledged_bytes=count * SEGMENT_BYTES)


def test_slow_start_adds_what_is_acknowledged_but_two_segments_at_most() -> None:
    window = TcpWindow("reno")
    assert segments(window) == 10
    acknowledge(window, 2, 1, 7)
    assert segments(window) == 15


def test_congestion_avoidance_adds_one_segment_per_window() -> None:
    """A loss with 20 in flight leaves 10: ten acknowledged segments make 11, eleven more 12."""
    window = TcpWindow("reno")
    window.on_loss(20 * SEGMENT_BYTES)
    assert segments(window) == window.threshold_bytes / SEGMENT_BYTES == 10
    acknowledge(window, *[2] * 4, 1)
    assert segments(window) == 10
    acknowledge(window, 1)
    assert segments(window) == 11
    acknowledge(window, *[1] * 10)
    assert segments(window) == 11
    acknowledge(window, 1)
    assert segments(window) == 12


def test_a_window_that_may_not_grow_stays() -> None:
    window = TcpWindow("reno")
    window.on_acknowledged(acknowledged_bytes=SEGMENT_BYTES, may_grow=False)
    assert segments(window) == 10


def test_a_timeout_leaves_one_segment_and_halves_the_threshold_once() -> None:
    window = TcpWindow("reno")
    window.on_timeout(16 * SEGMENT_BYTES)
    assert (segments(window), window.threshold_bytes) == (1, 8 * SEGMENT_BYTES)
    window.on_timeout(SEGMENT_BYTES, is_first=False)
    assert (segments(window), window.threshold_bytes) == (1, 8 * SEGMENT_BYTES)


def test_no_reduction_goes_below_two_segments() -> None:
    window = TcpWindow("reno")
    window.on_loss(SEGMENT_BYTES)
    assert segments(window) == 2


def test_a_mark_halves_the_window() -> None:
    window = TcpWindow("reno", {"ecn": 1})
    window.on_marked()
    assert segments(window) == 5
