"""HPCC, PowerTCP and theta-PowerTCP by themselves: windows worked by hand."""

import pytest

from rogue.simulator import SimulationError
from rogue.simulator._core import Controller

GBPS = 10**9
LINE_BPS = 100 * GBPS
BASE_PS = 10_000_000
WINDOW_BYTES = 125_000  # 100 Gb/s for 10 us
HPCC_STEP_BYTES = 50  # 40 Mb/s for 10 us
POWER_STEP_BYTES = 750  # 600 Mb/s for 10 us


class Link:
    """A control and one link whose utilisation and queue are given for each round trip."""

    def __init__(self, name: str, **parameters: float) -> None:
        settings = {"base_rtt_ns": 10_000, **parameters}
        self.control = Controller(name, line_rate_bps=LINE_BPS, parameters=settings)
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
            self._now_ps,
            sent_ps=self._now_ps - BASE_PS,
            acknowledged_psn=self._psn,
            sent_psn=self._psn + 50,
            hops=[(self._now_ps, queue_bytes, self._sent_bytes, LINE_BPS)],
        )
        assert self.control.window_bytes is not None
        return self.control.window_bytes


def test_a_full_link_brings_it_to_eta() -> None:
    """Use 1 and no queue: 0.95 of the window, and one step."""
    link = Link("hpcc")
    link.acknowledge(1)  # only where differences count from
    assert link.control.window_bytes == WINDOW_BYTES
    assert link.acknowledge(1) == pytest.approx(0.95 * WINDOW_BYTES + HPCC_STEP_BYTES, abs=2)
    assert link.control.rate_bps == pytest.approx(
        (0.95 * WINDOW_BYTES + HPCC_STEP_BYTES) * 8 / 10e-6, rel=1e-6
    )


def test_the_step_may_follow_from_the_number_of_flows() -> None:
    """A twentieth of the window over ten flows: 625 bytes; refused beside an explicit step."""
    link = Link("hpcc", expected_flows=10)
    link.acknowledge(1)
    assert link.acknowledge(1) == pytest.approx(0.95 * WINDOW_BYTES + 0.05 * WINDOW_BYTES / 10, abs=2)
    with pytest.raises(SimulationError, match="expected additive_increase_bps or expected_flows, got both"):
        Link("hpcc", expected_flows=10, additive_increase_bps=1e6)


def test_a_queue_counts_as_use() -> None:
    """Half a base round trip's bytes wait: 1.5 in all. Of two queues the shorter one counts."""
    link = Link("hpcc")
    link.acknowledge(1, queue_bytes=62_500)
    assert link.acknowledge(1, queue_bytes=100_000) == pytest.approx(
        0.95 / 1.5 * WINDOW_BYTES + HPCC_STEP_BYTES, abs=2
    )


def test_a_short_time_counts_less() -> None:
    """Half a base round trip with use 2: (1 + 2) / 2 on average, which begins at 1."""
    link = Link("hpcc")
    link.acknowledge(1)
    link.acknowledge(2, elapsed_ps=BASE_PS // 2)
    assert link.control.metrics(0)["utilisation"] == pytest.approx(1.5)


def test_below_eta_it_rises_step_by_step_and_then_follows() -> None:
    link = Link("hpcc")
    link.acknowledge(1)
    start = link.acknowledge(2)  # 59 425
    windows = [link.acknowledge(0.5) for _ in range(6)]
    steps = [round(window - start) for window in windows[:5]]
    assert steps == [50, 100, 150, 200, 250]
    assert windows[5] == pytest.approx((start + 250) * 0.95 / 0.5 + HPCC_STEP_BYTES, rel=1e-3)


def test_within_a_round_trip_acknowledgements_do_not_add_up() -> None:
    link = Link("hpcc")
    link.acknowledge(1)
    first = link.acknowledge(2)
    second = link.acknowledge(2, packets=1)  # not yet past what was on its way
    third = link.acknowledge(2, packets=1)
    assert first == pytest.approx(0.95 / 2 * WINDOW_BYTES + HPCC_STEP_BYTES, abs=2)
    assert second == third == pytest.approx(0.95 / 2 * first + HPCC_STEP_BYTES, abs=2)


def test_bounds() -> None:
    link = Link("hpcc", rate_min_bps=10e9)
    link.acknowledge(1)
    assert link.acknowledge(100) == WINDOW_BYTES / 10
    assert link.acknowledge(0.0001) <= WINDOW_BYTES


def after(old: float, power: float, now: float) -> float:
    """Equation 7 with gamma 0.9."""
    return 0.9 * (old / power + POWER_STEP_BYTES) + 0.1 * now


def test_a_queue_that_grows_counts_twice() -> None:
    """Half a round trip's bytes more wait: current 1.5 of the link, voltage 1.5 of its bytes, power 2.25.

    0.9 (125 000 / 2.25 + 750) + 0.1 * 125 000 = 63 175.
    """
    link = Link("powertcp")
    link.acknowledge(1)  # only where differences count from
    assert link.control.window_bytes == WINDOW_BYTES
    assert link.acknowledge(1, queue_bytes=62_500) == 63_175
    assert link.control.metrics(0)["power"] == pytest.approx(2.25)
    assert link.control.rate_bps == 63_175 * 8 * 10**5


def test_a_constant_queue_counts_once_and_a_shrinking_one_less() -> None:
    link = Link("powertcp")
    link.acknowledge(1)
    first = link.acknowledge(1, queue_bytes=62_500)
    second = link.acknowledge(1, queue_bytes=62_500)
    assert link.control.metrics(0)["power"] == pytest.approx(1.5)
    assert second == pytest.approx(after(first, 1.5, first), abs=1)
    third = link.acknowledge(1, queue_bytes=0)
    assert link.control.metrics(0)["power"] == pytest.approx(0.5)
    assert third == pytest.approx(after(second, 0.5, second), abs=3)


def test_a_short_time_counts_less_for_power() -> None:
    """Half a base round trip with power 2: (1 + 2) / 2 on average, which begins at 1."""
    link = Link("powertcp")
    link.acknowledge(1)
    link.acknowledge(2, elapsed_ps=BASE_PS // 2)
    assert link.control.metrics(0)["power"] == pytest.approx(1.5)


def test_the_old_window_is_that_of_the_last_round_trip() -> None:
    link = Link("powertcp")
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
    link = Link("powertcp", base_rtt_ns=20_000, rate_min_bps=10e9)
    assert link.control.window_bytes == 2 * WINDOW_BYTES
    link.acknowledge(1)
    for _ in range(9):
        low = link.acknowledge(50)
    assert low == 2 * WINDOW_BYTES / 10
    for _ in range(9):
        high = link.acknowledge(0.0001)
    assert high == 2 * WINDOW_BYTES


def test_another_path_restarts_the_count_and_missing_telemetry_changes_nothing() -> None:
    link = Link("powertcp")
    link.acknowledge(1)
    hop = (BASE_PS, 0, 0, LINE_BPS)
    link.control.on_acknowledgement(BASE_PS, sent_ps=0, acknowledged_psn=500, sent_psn=600, hops=[hop, hop])
    link.control.on_acknowledgement(BASE_PS, sent_ps=0, acknowledged_psn=600, sent_psn=700)
    assert link.control.window_bytes == WINDOW_BYTES


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
