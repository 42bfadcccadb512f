"""PowerTCP by itself: windows worked by hand."""

import pytest

from rogue.simulator._core import Controller

GBPS = 10**9
LINE_BPS = 100 * GBPS
BASE_PS = 10_000_000
WINDOW_BYTES = 125_000  # 100 Gb/s for 10 us
STEP_BYTES = 750  # 600 Mb/s for 10 us


class Link:
    """A control and one link whose use and queue are given for each round trip, acknowledged once."""

    def __init__(self, **parameters: float) -> None:
        self.control = Controller(
            "powertcp", line_rate_bps=LINE_BPS, parameters=parameters, base_rtt_ps=BASE_PS
        )
        self._now_ps = 0
        self._sent_bytes = 0
        self._psn = 0

    def acknowledge(
        self, used: float, queue_bytes: int = 0, elapsed_ps: int = BASE_PS, packets: int = 100
    ) -> float:
        """Return the window in bytes after an acknowledgement."""
        self._now_ps += elapsed_ps
        self._sent_bytes += round(used * LINE_BPS / 8 * elapsed_ps / 1e12)
        self._psn += packets
        self.control.on_acknowledgement(
            self._now_ps, sent_ps=self._now_ps - BASE_PS, acknowledged_psn=self._psn, sent_psn=self._psn + 50,
            hops=[(self._now_ps, queue_bytes, self._sent_bytes, LINE_BPS)],
        )  # fmt: skip
        assert self.control.window_bytes is not None
        return self.control.window_bytes

    @property
    def power(self) -> float:
        return self.control.metrics(0)["power"]


def after(old: float, power: float, now: float) -> float:
    """Equation 7 with gamma 0.9."""
    return 0.9 * (old / power + STEP_BYTES) + 0.1 * now


def test_it_begins_at_the_line_rate_with_a_window_of_a_base_round_trip() -> None:
    control = Link().control
    assert (control.rate_bps, control.window_bytes) == (LINE_BPS, WINDOW_BYTES)


def test_a_queue_that_grows_counts_twice() -> None:
    """Half a round trip's bytes more wait: current 1.5 of the link, voltage 1.5 of its bytes, power 2.25.

    0.9 (125 000 / 2.25 + 750) + 0.1 * 125 000 = 63 175.
    """
    link = Link()
    link.acknowledge(1)  # only where differences count from
    assert link.control.window_bytes == WINDOW_BYTES
    assert link.acknowledge(1, queue_bytes=62_500) == 63_175
    assert link.power == pytest.approx(2.25)
    assert link.control.rate_bps == 63_175 * 8 * 10**5


def test_a_queue_that_stands_counts_once_and_one_that_empties_less() -> None:
    link = Link()
    link.acknowledge(1)
    first = link.acknowledge(1, queue_bytes=62_500)
    second = link.acknowledge(1, queue_bytes=62_500)
    assert link.power == pytest.approx(1.5)
    assert second == pytest.approx(after(first, 1.5, first), abs=1)
    third = link.acknowledge(1, queue_bytes=0)
    assert link.power == pytest.approx(0.5)
    assert third == pytest.approx(after(second, 0.5, second), abs=3)


def test_a_short_time_counts_less() -> None:
    """Half a base round trip with power 2: (1 + 2) / 2 on average, which begins at 1."""
    link = Link()
    link.acknowledge(1)
    link.acknowledge(2, elapsed_ps=BASE_PS // 2)
    assert link.power == pytest.approx(1.5)


def test_the_old_window_is_that_of_the_last_round_trip() -> None:
    link = Link()
    link.acknowledge(1)
    first = link.acknowledge(2)
    second = link.acknowledge(2, packets=1)  # not yet past what was on its way
    third = link.acknowledge(2, packets=1)
    assert first == pytest.approx(after(WINDOW_BYTES, 2, WINDOW_BYTES), abs=1)
    assert second == pytest.approx(after(first, 2, first), abs=1)
    assert third == pytest.approx(after(first, 2, second), abs=1)


def test_the_largest_power_of_the_path_counts() -> None:
    control = Controller("powertcp", line_rate_bps=LINE_BPS, base_rtt_ps=BASE_PS)
    for now_ps, sent in ((BASE_PS, 0), (2 * BASE_PS, 125_000)):
        hops = [
            (now_ps, 0, sent // 2, LINE_BPS),
            (now_ps, 0, sent // 5, LINE_BPS // 4),
            (now_ps, 0, 0, LINE_BPS),
        ]
        control.on_acknowledgement(now_ps, sent_ps=0, acknowledged_psn=now_ps, sent_psn=now_ps, hops=hops)
    assert control.metrics(0)["power"] == pytest.approx(0.8)


def test_bounds_and_a_base_round_trip_that_is_stated() -> None:
    link = Link(base_rtt_ns=20_000, rate_min_bps=10e9)
    assert link.control.window_bytes == 2 * WINDOW_BYTES
    link.acknowledge(1)
    for _ in range(9):
        low = link.acknowledge(50)
    assert low == 2 * WINDOW_BYTES / 10
    for _ in range(9):
        high = link.acknowledge(0.0001)
    assert high == 2 * WINDOW_BYTES


def test_another_way_counts_anew_and_silence_changes_nothing() -> None:
    link = Link()
    link.acknowledge(1)
    hop = (BASE_PS, 0, 0, LINE_BPS)
    link.control.on_acknowledgement(BASE_PS, sent_ps=0, acknowledged_psn=500, sent_psn=600, hops=[hop, hop])
    link.control.on_acknowledgement(BASE_PS, sent_ps=0, acknowledged_psn=600, sent_psn=700)
    assert link.control.window_bytes == WINDOW_BYTES
