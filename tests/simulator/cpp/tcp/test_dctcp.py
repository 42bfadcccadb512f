"""The window of DCTCP: alpha and cuts worked by hand, in segments of 1460 bytes."""

import pytest

from rogue.simulator import SimulationError
from rogue.simulator._core import TcpWindow

SEGMENT_BYTES = 1460


def dctcp(**parameters: float) -> TcpWindow:
    return TcpWindow("dctcp", parameters)


def alpha_after(window: TcpWindow, marked: int, unmarked: int) -> float:
    """A window of so many marked and unmarked segments."""
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


def test_alpha_of_one_halves_as_reno_does() -> None:
    window = dctcp()
    window.on_marked()
    assert window.window_bytes == 5 * SEGMENT_BYTES


def test_cuts_stop_at_two_segments() -> None:
    window = dctcp()
    for _ in range(9):
        window.on_marked()
    assert window.window_bytes == 2 * SEGMENT_BYTES


def test_a_loss_halves_what_is_in_flight_whatever_alpha_is() -> None:
    window = dctcp(initial_alpha=0)
    window.on_loss(8 * SEGMENT_BYTES)
    assert window.window_bytes == 4 * SEGMENT_BYTES


def test_the_first_cut_ends_slow_start() -> None:
    window = dctcp(initial_alpha=0)
    window.on_marked()
    window.on_acknowledged(acknowledged_bytes=2 * SEGMENT_BYTES)
    assert window.window_bytes == 10 * SEGMENT_BYTES


@pytest.mark.parametrize(("name", "value"), [("g", 0), ("g", 2), ("initial_alpha", -1)])
def test_a_weight_that_cannot_be(name: str, value: float) -> None:
    with pytest.raises(SimulationError, match=f"dctcp: expected {name} from .* to 1, got {value}"):
        dctcp(**{name: value})
