"""Swift by itself: windows and targets worked by hand."""

import pytest
from helpers.networks import GBPS, MICROSECOND_PS, MILLISECOND_NS, ReferenceSimulation, Star

from rogue.simulator import NicControl, Simulation
from rogue.simulator._core import Controller

MTU_BYTES, PACKET_BYTES = 4096, 4178
FIXED_NS = 20_000 + 3_053  # one switch
ALPHA_NS = 100_000 / (0.1**-0.5 - 100**-0.5)  # 32 655


class Path:
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
        """Return the window in packets, as it is believed."""
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


def test_it_begins_with_whole_packets_at_the_line_rate() -> None:
    control = Path().control
    assert (control.window_bytes, control.rate_bps) == (12 * MTU_BYTES, 50 * GBPS)


def test_a_target_worked_example() -> None:
    """Section 3.5, with a window of 4: 32 655 / 2 - 3266 = 13 062 ns on top of base target and hops."""
    assert pytest.approx(32_655, abs=1) == ALPHA_NS
    target_ns = FIXED_NS + ALPHA_NS / 2 - ALPHA_NS / 10
    assert Path(cwnd_initial_packets=4)["target_delay_ns"] == pytest.approx(target_ns)
    assert pytest.approx(36_115, abs=1) == target_ns
    assert Path(cwnd_initial_packets=4, hops=5)["target_delay_ns"] == pytest.approx(target_ns + 4 * 3_053)


@pytest.mark.parametrize(("cwnd_packets", "more_ns"), [(100, 0), (500, 0), (0.1, 100_000), (0.01, 100_000)])
def test_flow_scaling_ends_at_its_bounds(cwnd_packets: float, more_ns: float) -> None:
    assert Path(cwnd_initial_packets=cwnd_packets)["target_delay_ns"] == pytest.approx(FIXED_NS + more_ns)


def test_flow_scaling_may_be_off() -> None:
    assert Path(flow_range_ns=0)["target_delay_ns"] == FIXED_NS
    assert Path(flow_min_packets=9, flow_max_packets=9)["target_delay_ns"] == FIXED_NS


def test_below_the_target_it_grows_by_one_packet_in_a_round_trip() -> None:
    """12 + 1/12 after one packet; 12.5 and 1/25 of six after six more."""
    path = Path()
    assert path.acknowledge(10) == pytest.approx(12 + 1 / 12)
    assert path.acknowledge(10, packets=6) == pytest.approx(12 + 1 / 12 + 6 / (12 + 1 / 12))
    assert path.control.window_bytes == 12 * MTU_BYTES
    for _ in range(6):
        path.acknowledge(10)
    assert path.control.window_bytes == 13 * MTU_BYTES


def test_above_the_target_it_shrinks_by_the_excess() -> None:
    """Delay 50 us, target 36 115 ns: 0.8 (50 - 36.115) / 50 = 0.222 of 4 packets."""
    assert Path(cwnd_initial_packets=4).acknowledge(50) == pytest.approx(
        4 * (1 - 0.8 * (50 - 36.1147) / 50), rel=1e-5
    )


def test_no_cut_takes_more_than_half() -> None:
    assert Path(cwnd_initial_packets=4).acknowledge(500) == 2


def test_it_shrinks_once_per_round_trip() -> None:
    path = Path(cwnd_initial_packets=8)
    first = path.acknowledge(60)
    assert path.acknowledge(60, after_us=59) == first
    assert path.acknowledge(60, after_us=1) < first


def test_below_one_packet_it_paces() -> None:
    """Half a packet in 20 us: 4178 bytes every 40 us; each acknowledged packet adds a whole one (line 10)."""
    path = Path(cwnd_initial_packets=0.5, additive_increase_packets=1e-9)
    path.acknowledge(20)
    assert path.control.window_bytes == MTU_BYTES
    assert path.control.rate_bps == pytest.approx(PACKET_BYTES * 8 * 10**6 / 40, rel=1e-6)
    assert Path(cwnd_initial_packets=0.5).acknowledge(20) == 1.5


def test_bounds() -> None:
    path = Path(cwnd_initial_packets=0.0015)
    assert path.acknowledge(10_000) == 0.001
    assert Path(cwnd_initial_packets=1000).acknowledge(1) == 1000


def test_a_recovery_takes_half_and_no_second_one_within_the_round_trip() -> None:
    path = Path(cwnd_initial_packets=8)
    path.acknowledge(10)
    assert path.acknowledge(10, packets=0, recoveries=1) == pytest.approx((8 + 1 / 8) / 2)
    assert path.acknowledge(10, packets=0, after_us=1, recoveries=1) == pytest.approx((8 + 1 / 8) / 2)


def test_packets_that_overtake_one_another_are_no_loss() -> None:
    """An acknowledgement that only says so brings its delay, and nothing to grow by."""
    path = Path(cwnd_initial_packets=4)
    assert path.acknowledge(10, packets=0) == 4
    assert path.acknowledge(50, packets=0) == pytest.approx(4 * (1 - 0.8 * (50 - 36.1147) / 50), rel=1e-5)


def test_csg_htsim_counts_whole_packets_and_no_hops() -> None:
    assert Path("swift-htsim", cwnd_initial_packets=0.9)["target_delay_ns"] == 120_000
    assert Path("swift-htsim", cwnd_initial_packets=1.9)["target_delay_ns"] == pytest.approx(
        20_000 + ALPHA_NS * 0.9
    )


@pytest.mark.parametrize("engine", [Simulation, ReferenceSimulation])
def test_more_flows_than_packets_fit_share_a_port(engine: type[Simulation]) -> None:
    """64 flows through 10 Gb/s, which 10 packets fill: the queue stays below the largest target."""
    simulation = Star(hosts=65, rate_bps=10 * GBPS, buffer_bytes=9_000_000).build(engine)
    control = NicControl("swift", {"cwnd_initial_packets": 0.1})
    pairs = [
        simulation.connect(
            f"h{host}", "h64", mtu_bytes=1024, retry_count=7, timeout_exponent=14, control=control
        )[0]
        for host in range(64)
    ]
    for pair in pairs:
        pair.post_write(1, 10**8, True)
    simulation.sample_queues(50_000)
    simulation.run_until(6 * MILLISECOND_NS)
    delivered = sum(pair.delivered_bytes for pair in pairs)
    simulation.run_until(8 * MILLISECOND_NS)
    bits = 8 * (sum(pair.delivered_bytes for pair in pairs) - delivered)
    assert bits > 0.97 * 10 * GBPS * 2e-3 * 1024 / 1106
    table = simulation.queue_table()
    late = table["bytes"][(table["t_ns"] > 6 * MILLISECOND_NS) & (table["port"] == "s0->h64")]
    assert 0 < late.max() < 123_053e-9 * 10 * GBPS / 8
    assert sum(pair.retransmitted_bytes for pair in pairs) == 0
