"""Swift, TIMELY and its repair by themselves: windows, targets and rates worked by hand."""

from itertools import pairwise

import pytest
from helpers.networks import GBPS, MICROSECOND_PS

from rogue.simulator import SimulationError
from rogue.simulator._core import Controller

MTU_BYTES, PACKET_BYTES = 4096, 4178
FIXED_NS = 20_000 + 3_053  # one switch
ALPHA_NS = 100_000 / (0.1**-0.5 - 100**-0.5)  # 32 655


class SwiftPath:
    """A control whose packets come back one by one, each after the delay that a test says."""

    def __init__(self, name: str = "swift", hops: int = 1, **parameters: float) -> None:
        self.control = Controller(
            name, line_rate_bps=50 * GBPS, parameters=parameters, base_rtt_ps=10 * MICROSECOND_PS,
            mtu_bytes=MTU_BYTES, packet_bytes=PACKET_BYTES, hops=hops,
        )  # fmt: skip
        self._now_ps = 10**9
        self._psn = 0
        self._recoveries = 0

    def acknowledge(
        self, delay_us: float, after_us: float = 1000, packets: int = 1, recoveries: int = 0
    ) -> float:
        """Return the window in packets, as it is read_metrics."""
        self._now_ps += round(after_us * MICROSECOND_PS)
        self._psn += packets
        self._recoveries += recoveries
        self.control.on_acknowledgement(
            self._now_ps,
            sent_ps=self._now_ps - round(delay_us * MICROSECOND_PS),
            acknowledged_psn=self._psn,
            recoveries=self._recoveries,
        )
        return self["cwnd_packets"]

    def __getitem__(self, metric: str) -> float:
        return self.control.metrics(self._now_ps)[metric]


def test_a_target_worked_example() -> None:
    """Section 3.5, with a window of 4: 32 655 / 2 - 3266 = 13 062 ns on top of base target and hops."""
    assert pytest.approx(32_655, abs=1) == ALPHA_NS
    target_ns = FIXED_NS + ALPHA_NS / 2 - ALPHA_NS / 10
    assert SwiftPath(cwnd_initial_packets=4)["target_delay_ns"] == pytest.approx(target_ns)
    assert pytest.approx(36_115, abs=1) == target_ns
    assert SwiftPath(cwnd_initial_packets=4, hops=5)["target_delay_ns"] == pytest.approx(
        target_ns + 4 * 3_053
    )


@pytest.mark.parametrize(("cwnd_packets", "more_ns"), [(100, 0), (500, 0), (0.1, 100_000), (0.01, 100_000)])
def test_flow_scaling_ends_at_its_bounds(cwnd_packets: float, more_ns: float) -> None:
    assert SwiftPath(cwnd_initial_packets=cwnd_packets)["target_delay_ns"] == pytest.approx(
        FIXED_NS + more_ns
    )


def test_flow_scaling_may_be_off() -> None:
    assert SwiftPath(flow_range_ns=0)["target_delay_ns"] == FIXED_NS
    assert SwiftPath(flow_min_packets=9, flow_max_packets=9)["target_delay_ns"] == FIXED_NS


def test_below_the_target_it_grows_by_one_packet_in_a_round_trip() -> None:
    """12 + 1/12 after one packet; 12.5 and 1/25 of six after six more."""
    path = SwiftPath()
    assert path.acknowledge(10) == pytest.approx(12 + 1 / 12)
    assert path.acknowledge(10, packets=6) == pytest.approx(12 + 1 / 12 + 6 / (12 + 1 / 12))
    assert path.control.window_bytes == 12 * MTU_BYTES
    for _ in range(6):
        path.acknowledge(10)
    assert path.control.window_bytes == 13 * MTU_BYTES


def test_above_the_target_it_shrinks_by_the_excess() -> None:
    """Delay 50 us, target 36 115 ns: 0.8 (50 - 36.115) / 50 = 0.222 of 4 packets."""
    assert SwiftPath(cwnd_initial_packets=4).acknowledge(50) == pytest.approx(
        4 * (1 - 0.8 * (50 - 36.1147) / 50), rel=1e-5
    )


def test_it_shrinks_once_per_round_trip() -> None:
    path = SwiftPath(cwnd_initial_packets=8)
    first = path.acknowledge(60)
    assert path.acknowledge(60, after_us=59) == first
    assert path.acknowledge(60, after_us=1) < first


def test_below_one_packet_it_paces() -> None:
    """Half a packet in 20 us: 4178 bytes every 40 us; each acknowledged packet adds a whole one (line 10)."""
    path = SwiftPath(cwnd_initial_packets=0.5, additive_increase_packets=1e-9)
    path.acknowledge(20)
    assert path.control.window_bytes == MTU_BYTES
    assert path.control.rate_bps == pytest.approx(PACKET_BYTES * 8 * 10**6 / 40, rel=1e-6)
    assert SwiftPath(cwnd_initial_packets=0.5).acknowledge(20) == 1.5


def test_bounds() -> None:
    path = SwiftPath(cwnd_initial_packets=0.0015)
    assert path.acknowledge(10_000) == 0.001
    assert SwiftPath(cwnd_initial_packets=1000).acknowledge(1) == 1000


def test_a_recovery_takes_half_and_no_second_one_within_the_round_trip() -> None:
    path = SwiftPath(cwnd_initial_packets=8)
    path.acknowledge(10)
    assert path.acknowledge(10, packets=0, recoveries=1) == pytest.approx((8 + 1 / 8) / 2)
    assert path.acknowledge(10, packets=0, after_us=1, recoveries=1) == pytest.approx((8 + 1 / 8) / 2)


def test_packets_that_overtake_one_another_are_no_loss() -> None:
    """An acknowledgement that only says so brings its delay, and nothing to grow by."""
    path = SwiftPath(cwnd_initial_packets=4)
    assert path.acknowledge(10, packets=0) == 4
    assert path.acknowledge(50, packets=0) == pytest.approx(4 * (1 - 0.8 * (50 - 36.1147) / 50), rel=1e-5)


def test_csg_htsim_counts_whole_packets_and_no_hops() -> None:
    assert SwiftPath("swift-htsim", cwnd_initial_packets=0.9)["target_delay_ns"] == 120_000
    assert SwiftPath("swift-htsim", cwnd_initial_packets=1.9)["target_delay_ns"] == pytest.approx(
        20_000 + ALPHA_NS * 0.9
    )


LINE_BPS = 10 * GBPS
PACKET_BYTES = 1000
PACKET_PS = 800_000  # 1000 bytes at 10 Gb/s


class TimelyPath:
    """A control whose segments are single packets, acknowledged after a given time."""

    def __init__(self, name: str = "timely", **parameters: float) -> None:
        settings = {"segment_bytes": PACKET_BYTES, "initial_rate_bps": 5 * GBPS, **parameters}
        self.control = Controller(name, line_rate_bps=LINE_BPS, parameters=settings)
        self._now_ps = 0

    def sample(self, rtt_us: float) -> float:
        """Send a segment, acknowledge it after `rtt_us`, and return the rate in Gb/s."""
        sent_ps = self._now_ps
        self.control.on_sent(sent_ps, PACKET_BYTES)
        self._now_ps += PACKET_PS + round(rtt_us * MICROSECOND_PS)
        self.control.on_acknowledgement(self._now_ps, sent_ps=sent_ps)
        return self.control.rate_bps / GBPS

    def metric(self, name: str) -> float:
        return self.control.metrics(0)[name]


def test_the_first_sample_only_initialises() -> None:
    path = TimelyPath()
    assert path.sample(1000) == 5
    assert path.metric("gradient") == 0
    assert path.metric("rtt_ns") == 1_000_000


def test_short_times_raise_the_rate_by_one_step() -> None:
    path = TimelyPath()
    rates = [path.sample(rtt_us) for rtt_us in (40, 45, 49.9)]
    assert rates == pytest.approx([5, 5.01, 5.02])


def test_a_gradient_cuts() -> None:
    """2 us more: 7/8 of them are 0.0875 of 20 us, and 0.8 of that are 7 %."""
    path = TimelyPath()
    path.sample(100)
    assert path.sample(102) == pytest.approx(5 * 0.93)
    assert path.metric("gradient") == pytest.approx(0.0875)


def test_the_gradient_is_an_average() -> None:
    """2 us, then 1 us less: 0.125 * 1.75 - 0.875 = -0.65625 us, which is no growth."""
    path = TimelyPath()
    path.sample(100)
    path.sample(102)
    before = path.control.rate_bps
    assert path.sample(101) == pytest.approx(before / GBPS + 0.01)
    assert path.metric("gradient") == pytest.approx(-0.65625 / 20)


def test_very_long_times_cut_whatever_the_gradient() -> None:
    """1000 us are twice 500: 0.8 of a half is taken off."""
    path = TimelyPath()
    path.sample(2000)
    assert path.sample(1000) == pytest.approx(5 * 0.6)


def test_the_thresholds_themselves_lie_between() -> None:
    path = TimelyPath()
    path.sample(50)
    assert path.sample(50) == pytest.approx(5.01)
    path = TimelyPath()
    path.sample(500)
    assert path.sample(500) == pytest.approx(5.01)


def test_hyper_increase_from_the_fifth_sample_in_a_row() -> None:
    path = TimelyPath()
    rates = [path.sample(100) for _ in range(8)]
    steps = [round((b - a) * 1000) for a, b in pairwise(rates)]
    assert steps == [10, 10, 10, 10, 50, 50, 50]
    path.sample(40)  # below the threshold: one step, and the count starts again
    before = path.control.rate_bps
    path.sample(100)
    assert path.metric("streak") == 0
    assert path.control.rate_bps < before


def test_the_rate_stays_within_its_bounds() -> None:
    path = TimelyPath(initial_rate_bps=LINE_BPS)
    path.sample(20)
    assert path.sample(20) == 10
    for _ in range(3):
        path.sample(30_000)
        path.sample(60_000)
    for _ in range(20):
        path.sample(100_000)
    assert path.control.rate_bps == 10_000_000


def test_a_level_time_does_nothing_in_ns3_rdma() -> None:
    path = TimelyPath("timely-ns3-rdma")
    path.sample(100)
    assert path.sample(100) == 5
    rates = [path.sample(100 - n) for n in range(1, 9)]
    assert rates[-1] == pytest.approx(5 + 8 * 0.01)  # no hyper increase


class TestPatched:
    def test_at_the_lower_threshold_half_a_step(self) -> None:
        path = TimelyPath("timely-patched")
        path.sample(50)
        assert path.sample(50) == pytest.approx(5.005)

    def test_between(self) -> None:
        """Gradient 0.1: weight 0.7; 75 us are half more than 50: 0.9972 of the rate and 3 Mb/s."""
        path = TimelyPath("timely-patched")
        path.sample(75 - 2 / 0.875)
        assert path.sample(75) == pytest.approx(5 * 0.9972 + 0.003)
        assert path.metric("gradient") == pytest.approx(0.1)

    @pytest.mark.parametrize(("growth_us", "expected"), [(-6, 5.01), (6, 5 * (1 - 0.008 * 1))])
    def test_steep_gradients_take_all_of_one_side(self, growth_us: float, expected: float) -> None:
        path = TimelyPath("timely-patched")
        path.sample(100 - growth_us)
        assert path.sample(100) == pytest.approx(expected)

    def test_outside_the_thresholds_it_is_timely(self) -> None:
        path = TimelyPath("timely-patched")
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

    def test_none_if_the_departure_is_unknown(self) -> None:
        control = Controller("timely", line_rate_bps=LINE_BPS, parameters={"segment_bytes": 1000})
        control.on_sent(0, PACKET_BYTES)
        control.on_acknowledgement(50 * MICROSECOND_PS, sent_ps=None)
        assert control.metrics(0)["rtt_ns"] == 0


def test_bursts() -> None:
    assert Controller("timely", line_rate_bps=LINE_BPS).burst_bytes == 16_000
    assert Controller("timely", line_rate_bps=LINE_BPS, parameters={"is_bursty": 0}).burst_bytes == 0
    assert Controller("timely-patched", line_rate_bps=LINE_BPS).burst_bytes == 0


def test_invalid_arguments_are_refused() -> None:
    with pytest.raises(
        SimulationError, match="timely: expected rtt_low_ns up to rtt_high_ns, 500000, got 600000"
    ):
        TimelyPath(rtt_low_ns=600_000)
    with pytest.raises(SimulationError, match="timely-patched: expected beta from 1e-09 to 1, got 2"):
        TimelyPath("timely-patched", beta=2)
