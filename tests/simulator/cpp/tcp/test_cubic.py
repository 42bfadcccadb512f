"""The window of CUBIC: the function and its regions worked by hand, in segments of 1460 bytes."""

import pytest

from rogue.simulator._core import TcpWindow

SEGMENT_BYTES = 1460
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


def test_reno_grows_faster_once_it_is_where_the_window_was() -> None:
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
