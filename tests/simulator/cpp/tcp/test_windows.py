"""Windows of Reno, DCTCP and CUBIC, worked by hand in segments of 1460 bytes."""

import pytest
from rogue.simulator._reference import Requester, Responder, TcpWindow

from rogue.simulator import SimulationError
from rogue.simulator._core import reliabilities

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


def dctcp(**parameters: float) -> TcpWindow:
    return TcpWindow("dctcp", parameters)


def alpha_after(window: TcpWindow, marked: int, unmarked: int) -> float:
    """Acknowledge a window of marked and unmarked segments; return alpha."""
    for n in range(marked + unmarked):
        window.on_acknowledged(
            acknowledged_bytes=SEGMENT_BYTES,
            is_echo=n < marked,
            is_window_over=n == marked + unmarked - 1,
            may_grow=False,
        )
    return window.metrics()["alpha"]


def test_alpha_moves_by_a_sixteenth_towards_the_marked_share() -> None:
    """1, then 15/16 + 1/16 * 1/4, then 15/16 of that."""
    window = dctcp()
    first = 15 / 16 + 1 / 64
    assert alpha_after(window, marked=1, unmarked=3) == pytest.approx(first)
    assert alpha_after(window, marked=0, unmarked=4) == pytest.approx(first * 15 / 16)


def test_a_window_counts_only_its_own_marks() -> None:
    window = dctcp(g=1)
    assert alpha_after(window, marked=2, unmarked=2) == 0.5
    assert alpha_after(window, marked=0, unmarked=4) == 0
    assert alpha_after(window, marked=4, unmarked=0) == 1


def test_marks_cut_by_half_of_alpha() -> None:
    """alpha 1/2 takes a quarter of ten segments."""
    window = dctcp(initial_alpha=0.5)
    window.on_marked()
    assert window.window_bytes == 7.5 * SEGMENT_BYTES == window.threshold_bytes


def test_cuts_stop_at_two_segments() -> None:
    window = dctcp()
    for _ in range(9):
        window.on_marked()
    assert window.window_bytes == 2 * SEGMENT_BYTES


def test_a_loss_halves_what_is_in_flight_whatever_alpha_is() -> None:
    window = dctcp(initial_alpha=0)
    window.on_loss(8 * SEGMENT_BYTES)
    assert window.window_bytes == 4 * SEGMENT_BYTES


SECOND_PS = 10**12


def cubic(segments: int, **parameters: float) -> TcpWindow:
    return TcpWindow("cubic", {"initial_window_segments": segments, **parameters})


def grow_until(window: TcpWindow, seconds: float, *, steps: int = 1000, round_trip_s: float = 0.0) -> float:
    """Acknowledge a window of segments at each of many instants; return the window in segments."""
    for step in range(1, steps + 1):
        window.on_acknowledged(
            now_ps=round(seconds * SECOND_PS * step / steps),
            acknowledged_bytes=window.window_bytes,
            round_trip_ps=round(round_trip_s * SECOND_PS),
        )
    return window.window_bytes / SEGMENT_BYTES


def test_a_reduction_leaves_seven_tenths() -> None:
    window = cubic(100)
    window.on_loss(100 * SEGMENT_BYTES)
    assert window.window_bytes == window.threshold_bytes == 70 * SEGMENT_BYTES


def test_the_window_is_back_after_k() -> None:
    """From 700 of 1000 segments: K = cbrt(300 / 0.4) = 9.0856 s."""
    window = cubic(1000)
    window.on_loss(0)
    window.on_acknowledged(now_ps=0, acknowledged_bytes=SEGMENT_BYTES)
    assert window.metrics()["k_seconds"] == pytest.approx(9.0856, abs=1e-4)
    assert window.metrics()["most_segments"] == 1000


def test_the_cubic_function_is_followed() -> None:
    """Half-way, W(K/2) = 1000 - 300/8; there is no faster Reno, whose round trips would be long."""
    window = cubic(1000)
    window.on_loss(0)
    window.on_acknowledged(now_ps=0, acknowledged_bytes=1)
    half = window.metrics()["k_seconds"] / 2
    assert grow_until(window, half, steps=20) == pytest.approx(1000 - 300 / 8, abs=1)


def test_short_round_trips_follow_reno() -> None:
    """Twenty windows within 2 ms: Reno with 0.7 adds 9/17 of a segment per window, CUBIC next to nothing."""
    window = cubic(100)
    window.on_loss(0)
    assert grow_until(window, 0.002, steps=20) == pytest.approx(70 + 20 * 9 / 17, abs=0.5)


def test_reno_grows_faster_above_the_earlier_window() -> None:
    """70 to 100 takes 57 windows at 9/17; each of the next 43 adds a whole segment."""
    window = cubic(100)
    window.on_loss(0)
    assert grow_until(window, 0.01, steps=100) == pytest.approx(143, abs=2)


def test_a_flow_that_shrinks_leaves_room() -> None:
    """The second loss comes at 70 of 100: W_max = 70 (1 + 0.7) / 2."""
    window = cubic(100)
    window.on_loss(0)
    window.on_loss(0)
    window.on_acknowledged(acknowledged_bytes=1)
    assert window.metrics()["most_segments"] == pytest.approx(59.5)
    slow = cubic(100, converges_fast=0)
    slow.on_loss(0)
    slow.on_loss(0)
    slow.on_acknowledged(acknowledged_bytes=1)
    assert slow.metrics()["most_segments"] == pytest.approx(70)


def test_after_a_timeout_the_curve_begins_at_the_threshold() -> None:
    window = cubic(100)
    window.on_timeout(100 * SEGMENT_BYTES)
    assert (window.window_bytes, window.threshold_bytes) == (SEGMENT_BYTES, 70 * SEGMENT_BYTES)
    while window.window_bytes < window.threshold_bytes:
        window.on_acknowledged(acknowledged_bytes=2 * SEGMENT_BYTES)
    window.on_acknowledged(acknowledged_bytes=2 * SEGMENT_BYTES)
    assert window.metrics()["k_seconds"] == 0


def test_time_without_use_does_not_count() -> None:
    """A pause of an hour, reported by an acknowledgement that may not grow the window, changes nothing."""
    busy, paused = cubic(1000), cubic(1000)
    hour_ps = 3600 * SECOND_PS
    for window in (busy, paused):
        window.on_loss(0)
        window.on_acknowledged(now_ps=0, acknowledged_bytes=SEGMENT_BYTES)
    paused.on_acknowledged(now_ps=hour_ps, acknowledged_bytes=SEGMENT_BYTES, may_grow=False)
    for window, start_ps in ((busy, 0), (paused, hour_ps)):
        window.on_acknowledged(now_ps=start_ps + SECOND_PS, acknowledged_bytes=100 * SEGMENT_BYTES)
    assert busy.window_bytes == paused.window_bytes > 700 * SEGMENT_BYTES


TCPS = {name: parameters for name, _, _, parameters, controls_window in reliabilities() if controls_window}


@pytest.mark.parametrize("name", TCPS)
def test_a_window_is_never_below_one_segment(name: str) -> None:
    window = TcpWindow(name, {"initial_window_segments": 1})
    for _ in range(5):
        window.on_loss(0)
        window.on_marked()
        window.on_timeout(0)
        assert window.window_bytes >= SEGMENT_BYTES
        window.on_acknowledged(acknowledged_bytes=SEGMENT_BYTES)


def test_a_window_of_something_that_is_no_tcp() -> None:
    with pytest.raises(SimulationError, match="TcpWindow: expected the name of a TCP, got irn"):
        TcpWindow("irn")


def test_timeouts_that_contradict_each_other() -> None:
    with pytest.raises(SimulationError, match="tcp: expected rto_min_ns up to rto_max_ns, 1000, got 2"):
        Requester("reno", mtu_bytes=SEGMENT_BYTES, parameters={"rto_max_ns": 1000})
    with pytest.raises(SimulationError, match="tcp: expected delayed_ack_ns below rto_min_ns"):
        Responder("dctcp", mtu_bytes=SEGMENT_BYTES, parameters={"delayed_ack_ns": 10e6})
