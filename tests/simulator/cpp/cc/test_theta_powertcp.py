"""PowerTCP by round-trip times: windows worked by hand."""

import pytest

from rogue.simulator._core import Controller

LINE_BPS = 100 * 10**9
BASE_PS = 10_000_000
WINDOW_BYTES = 125_000
STEP_BYTES = 750


class Path:
    """A control that hears of round trips."""

    def __init__(self) -> None:
        self.control = Controller("theta-powertcp", line_rate_bps=LINE_BPS, base_rtt_ps=BASE_PS)
        self._now_ps = 10**9
        self._psn = 0

    def acknowledge(self, rtt_us: int, after_us: int = 10, packets: int = 100) -> float:
        """Return the power after an acknowledgement."""
        self._now_ps += after_us * 10**6
        self._psn += packets
        self.control.on_acknowledgement(
            self._now_ps,
            sent_ps=self._now_ps - rtt_us * 10**6,
            acknowledged_psn=self._psn,
            sent_psn=self._psn + 50,
        )
        return self.control.metrics(0)["power"]


def test_it_begins_at_the_line_rate() -> None:
    control = Path().control
    assert (control.rate_bps, control.window_bytes) == (LINE_BPS, WINDOW_BYTES)


def test_a_round_trip_that_grows_counts_twice() -> None:
    """From 10 to 12 us within 2 us: (1 + 1) 12 / 10 = 2.4, for a fifth of the base round trip: 1.28."""
    path = Path()
    path.acknowledge(10)
    assert path.acknowledge(12, after_us=2) == pytest.approx(0.8 + 0.2 * 2.4)


def test_a_round_trip_that_stays_counts_once() -> None:
    """0.9 (125 000 / 1.5 + 750) + 0.1 * 125 000 = 88 175."""
    path = Path()
    path.acknowledge(15)
    assert path.acknowledge(15) == pytest.approx(1.5)
    assert path.control.window_bytes == 88_175
    assert path.control.rate_bps == 88_175 * 8 * 10**5


def test_the_window_changes_once_per_round_trip() -> None:
    path = Path()
    path.acknowledge(15)
    path.acknowledge(15)
    path.acknowledge(30, packets=1)
    assert path.control.window_bytes == 88_175
    path.acknowledge(30, packets=100)
    assert path.control.window_bytes < 88_175


def test_no_departure_no_sample() -> None:
    control = Path().control
    control.on_acknowledgement(10**9, sent_ps=None, acknowledged_psn=1, sent_psn=2)
    assert control.metrics(0)["rtt_ns"] == 0
