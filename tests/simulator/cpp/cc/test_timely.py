"""TIMELY and its repair by themselves: samples, and rates worked by hand."""

from itertools import pairwise

import pytest

from rogue.simulator import SimulationError
from rogue.simulator._core import Controller

GBPS = 10**9
LINE_BPS = 10 * GBPS
MICROSECOND_PS = 1_000_000
PACKET_BYTES = 1000
PACKET_PS = 800_000  # 1000 bytes at 10 Gb/s


class Path:
    """A control whose segments are single packets, acknowledged after a given time."""

    def __init__(self, name: str = "timely", **parameters: float) -> None:
        settings = {"segment_bytes": PACKET_BYTES, "initial_rate_bps": 5 * GBPS, **parameters}
        self.control = Controller(name, line_rate_bps=LINE_BPS, parameters=settings)
        self._now_ps = 0

    def sample(self, rtt_us: float) -> float:
        """Send a segment, acknowledge it so much later, and return the rate in Gb/s."""
        sent_ps = self._now_ps
        self.control.on_sent(sent_ps, PACKET_BYTES)
        self._now_ps += PACKET_PS + round(rtt_us * MICROSECOND_PS)
        self.control.on_acknowledgement(self._now_ps, sent_ps=sent_ps)
        return self.control.rate_bps / GBPS

    def metric(self, name: str) -> float:
        return self.control.metrics(0)[name]


def test_the_first_sample_only_initialises() -> None:
    path = Path()
    assert path.sample(1000) == 5
    assert path.metric("gradient") == 0
    assert path.metric("rtt_ns") == 1_000_000


def test_short_times_raise_the_rate_by_one_step() -> None:
    path = Path()
    rates = [path.sample(rtt_us) for rtt_us in (40, 45, 49.9)]
    assert rates == pytest.approx([5, 5.01, 5.02])


def test_a_gradient_cuts() -> None:
    """2 us more: 7/8 of them are .0875 of 20 us, and .8 of that are 7 %."""
    path = Path()
    path.sample(100)
    assert path.sample(102) == pytest.approx(5 * 0.93)
    assert path.metric("gradient") == pytest.approx(0.0875)


def test_the_gradient_is_an_average() -> None:
    """2 us, then 1 us less: .125 * 1.75 - .875 = -.65625 us, which is no growth any more."""
    path = Path()
    path.sample(100)
    path.sample(102)
    before = path.control.rate_bps
    assert path.sample(101) == pytest.approx(before / GBPS + 0.01)
    assert path.metric("gradient") == pytest.approx(-0.65625 / 20)


def test_very_long_times_cut_whatever_the_gradient() -> None:
    """1000 us are twice 500: .8 of a half is taken off."""
    path = Path()
    path.sample(2000)
    assert path.sample(1000) == pytest.approx(5 * 0.6)


def test_the_thresholds_themselves_lie_between() -> None:
    path = Path()
    path.sample(50)
    assert path.sample(50) == pytest.approx(5.01)
    path = Path()
    path.sample(500)
    assert path.sample(500) == pytest.approx(5.01)


def test_hyper_increase_from_the_fifth_sample_in_a_row() -> None:
    path = Path()
    rates = [path.sample(100) for _ in range(8)]
    steps = [round((b - a) * 1000) for a, b in pairwise(rates)]
    assert steps == [10, 10, 10, 10, 50, 50, 50]
    path.sample(40)  # below the threshold: one step, and the count starts again
    before = path.control.rate_bps
    path.sample(100)
    assert path.metric("streak") == 0
    assert path.control.rate_bps < before


def test_the_rate_stays_within_its_bounds() -> None:
    path = Path(initial_rate_bps=LINE_BPS)
    path.sample(20)
    assert path.sample(20) == 10
    for _ in range(3):
        path.sample(30_000)
        path.sample(60_000)
    for _ in range(20):
        path.sample(100_000)
    assert path.control.rate_bps == 10_000_000


def test_it_begins_at_the_line_rate_unless_told() -> None:
    assert Controller("timely", line_rate_bps=LINE_BPS).rate_bps == LINE_BPS
    assert Controller("timely-ns3-rdma", line_rate_bps=LINE_BPS).rate_bps == 9_600_000_000


def test_a_level_time_does_nothing_in_ns3_rdma() -> None:
    path = Path("timely-ns3-rdma")
    path.sample(100)
    assert path.sample(100) == 5
    rates = [path.sample(100 - n) for n in range(1, 9)]
    assert rates[-1] == pytest.approx(5 + 8 * 0.01)  # no hyper increase


class TestPatched:
    def test_at_the_lower_threshold_half_a_step(self) -> None:
        path = Path("timely-patched")
        path.sample(50)
        assert path.sample(50) == pytest.approx(5.005)

    def test_between(self) -> None:
        """Gradient .1: weight .7; 75 us are half more than 50: .9972 of the rate and 3 Mb/s."""
        path = Path("timely-patched")
        path.sample(75 - 2 / 0.875)
        assert path.sample(75) == pytest.approx(5 * 0.9972 + 0.003)
        assert path.metric("gradient") == pytest.approx(0.1)

    @pytest.mark.parametrize(("growth_us", "expected"), [(-6, 5.01), (6, 5 * (1 - 0.008 * 1))])
    def test_steep_gradients_take_all_of_one_side(self, growth_us: float, expected: float) -> None:
        path = Path("timely-patched")
        path.sample(100 - growth_us)
        assert path.sample(100) == pytest.approx(expected)

    def test_outside_the_thresholds_it_is_timely(self) -> None:
        path = Path("timely-patched")
        path.sample(2000)
        assert path.sample(1000) == pytest.approx(5 * (1 - 0.008 * 0.5))
        assert path.sample(40) == pytest.approx(5 * (1 - 0.008 * 0.5) + 0.01)


class TestSamples:
    """One per segment: the time of its last packet, from when that has left."""

    def test_one_per_segment(self) -> None:
        control = Controller("timely", line_rate_bps=LINE_BPS, parameters={"segment_bytes": 2500})
        for nth in range(3):
            control.on_sent(nth * PACKET_PS, PACKET_BYTES)
        for nth in range(2):
            control.on_acknowledgement(100 * MICROSECOND_PS, sent_ps=nth * PACKET_PS)
            assert control.metrics(0)["rtt_ns"] == 0
        control.on_acknowledgement(3 * PACKET_PS + 60 * MICROSECOND_PS, sent_ps=2 * PACKET_PS)
        assert control.metrics(0)["rtt_ns"] == 60_000

    def test_none_if_the_acknowledgement_of_the_last_packet_is_missing(self) -> None:
        control = Controller("timely", line_rate_bps=LINE_BPS, parameters={"segment_bytes": 2000})
        for nth in range(5):
            control.on_sent(nth * PACKET_PS, PACKET_BYTES)
        control.on_acknowledgement(70 * MICROSECOND_PS, sent_ps=2 * PACKET_PS)
        assert control.metrics(0)["rtt_ns"] == 0
        control.on_acknowledgement(70 * MICROSECOND_PS, sent_ps=3 * PACKET_PS)
        assert control.metrics(0)["rtt_ns"] == 70_000 - 4 * 800

    def test_none_if_nobody_knows_when_it_left(self) -> None:
        control = Controller("timely", line_rate_bps=LINE_BPS, parameters={"segment_bytes": 1000})
        control.on_sent(0, PACKET_BYTES)
        control.on_acknowledgement(50 * MICROSECOND_PS, sent_ps=None)
        assert control.metrics(0)["rtt_ns"] == 0


def test_bursts() -> None:
    assert Controller("timely", line_rate_bps=LINE_BPS).burst_bytes == 16_000
    assert Controller("timely", line_rate_bps=LINE_BPS, parameters={"is_bursty": 0}).burst_bytes == 0
    assert Controller("timely-patched", line_rate_bps=LINE_BPS).burst_bytes == 0


def test_nonsense_gives_a_sentence() -> None:
    with pytest.raises(
        SimulationError, match="timely: expected rtt_low_ns up to rtt_high_ns, 500000, got 600000"
    ):
        Path(rtt_low_ns=600_000)
    with pytest.raises(SimulationError, match="timely-patched: expected beta from 1e-09 to 1, got 2"):
        Path("timely-patched", beta=2)
