"""Strategies for the features and faults of random networks."""

from dataclasses import dataclass
from typing import TypeAlias

from hypothesis import strategies as st

from rogue.simulator import (
    BurstLoss,
    FairRates,
    IndependentLoss,
    IpIdLoss,
    Marking,
    NicControl,
    PriorityFlowControl,
    Reliability,
    Simulation,
    Spraying,
    Trimming,
    unsprayable,
)

LOSSES = (
    IndependentLoss(0.01),
    IndependentLoss(0.1),
    IndependentLoss(0.5, from_ns=10_000, until_ns=30_000),
    BurstLoss(to_bad_probability=0.02, to_good_probability=0.3),
    IpIdLoss(0xF),
)
MTUS_BYTES = (256, 1000, 1024, 4096)
# So fast that something happens in small networks.
CONTROLS = (
    NicControl("dcqcn", {"cnp_gap_ns": 2_000, "rate_timer_ns": 3_000, "byte_counter_bytes": 5_000}),
    NicControl("dcqcn-ns3-rdma", {"rate_timer_ns": 7_000, "rate_min_bps": 1e9}, cnp_priority=0),
    NicControl("constant", {"window_bytes": 3_000}),
    NicControl("constant", {"rate_bps": 2e9, "window_bytes": 20_000}),
    NicControl("timely", {"segment_bytes": 3_000, "rtt_low_ns": 6_000, "rtt_high_ns": 20_000}),
    NicControl("timely-ns3-rdma", {"segment_bytes": 5_000, "rtt_unit_ns": 100_000, "initial_rate_bps": 2e9}),
    NicControl("timely-patched", {"segment_bytes": 500, "rtt_low_ns": 3_000, "beta": 0.2}),
    NicControl("rocc", {"rise_timer_ns": 5_000, "processing_delay_ns": 1_000}),
    NicControl("rocc", {"rise_timer_ns": 30_000, "processing_delay_ns": 0}, cnp_priority=3),
    NicControl("hpcc", {"base_rtt_ns": 8_000}),
    NicControl("swift", {"base_target_ns": 5_000, "flow_range_ns": 20_000}),
    NicControl("swift-htsim", {"base_target_ns": 2_000, "cwnd_initial_packets": 0.3}),
    NicControl("powertcp"),
    NicControl("theta-powertcp", {"gamma": 0.5}),
)
RELIABILITIES = (
    Reliability("irn"),
    Reliability("irn", {"cap_packets": 4, "rto_low_ns": 40_000, "rto_high_ns": 60_000}),
    Reliability("irn", {"cap_packets": 0, "rto_low_ns": 60_000, "rto_low_packets": 0}),
    Reliability("irn", {"threshold_nacks": 3}),
    Reliability("irn-gbn", {"cap_packets": 20, "rto_low_ns": 50_000}),
    Reliability(
        "reno", {"rto_min_ns": 90_000, "delayed_ack_ns": 7_000, "sack": 0, "initial_window_segments": 2}
    ),
    Reliability("dctcp", {"rto_min_ns": 120_000, "delayed_ack_ns": 30_000}),
    Reliability("cubic", {"rto_min_ns": 150_000, "delayed_ack_ns": 40_000, "ecn": 1, "timestamps": 1}),
    Reliability("iwarp", {"receive_window_bytes": 20_000, "rto_min_ns": 60_000}),
    Reliability("go-back-0", {"rto_low_ns": 80_000, "rto_high_ns": 200_000}),
    Reliability("go-back-n-htsim", {"rto_low_ns": 90_000}),
    Reliability("go-back-n-hpcc", {"nak_gap_ns": 5_000}),
    Reliability("uet", {"rto_ns": 50_000, "load_balancing": 0, "window_packets": 30, "nscc": 0}),
    Reliability("uet", {"rto_ns": 90_000, "load_balancing": 1, "sack_every_bytes": 1}),
    Reliability("uet", {"rto_ns": 60_000, "load_balancing": 2, "target_delay_ns": 2_000}, 7),
    Reliability("uet", {"rto_ns": 70_000, "load_balancing": 3, "qa_gate": 0}, 6),
    Reliability("uet", {"rto_ns": 50_000, "load_balancing": 2, "mprdma": 1, "freeze_ns": 90_000}, 7),
    Reliability("uet", {"rto_ns": 50_000, "load_balancing": 2, "smartt": 1, "sack_every_bytes": 1}, 7),
    Reliability("uet-rccc", {"rto_ns": 60_000, "load_balancing": 0}, 7),
    Reliability("uet-rccc", {"rto_ns": 50_000, "load_balancing": 3, "nscc": 0, "base_rtt_ns": 2_000}, 5),
)
TRIMMINGS = (
    None,
    None,
    Trimming(3_000),
    Trimming(9_000, by_coin=True),
    Trimming(20_000, priority=3),
    Trimming(5_000, priority=3, by_coin=True),
    Trimming(0),
)
SPRAYINGS = (Spraying(), Spraying(paths=1), Spraying(paths=4), Spraying(paths=2**16))


def sprayed(spraying: Spraying | None, service: str, control: NicControl | None) -> Spraying | None:
    """The spraying, where connections can have one."""
    is_possible = service == "rc" and (control is None or unsprayable(control.name) is None)
    return spraying if is_possible else None


def flow_controls() -> st.SearchStrategy[PriorityFlowControl]:
    """Thresholds fixed and shared, pauses until further notice and for a time."""
    return st.builds(
        PriorityFlowControl,
        priorities=st.sampled_from(((0,), (3,), (0, 3), (6, 0, 3))),
        xoff_bytes=st.sampled_from((None, None, 5_000, 20_000)),
        alpha=st.sampled_from((1 / 16, 0.5, 4.0)),
        xon_gap_bytes=st.sampled_from((0, 1, 2_500)),
        mtu_bytes=st.just(max(MTUS_BYTES)),
        pause_ns=st.sampled_from((None, None, 70_000, 300_000)),
    )


def fair_rates() -> st.SearchStrategy[FairRates]:
    return st.builds(
        lambda reference, period: FairRates(
            {
                "reference_bytes": reference,
                "middle_bytes": 2 * reference,
                "maximum_bytes": 3 * reference,
                "period_ns": period,
            }
        ),
        st.sampled_from((1_000, 5_000)),
        st.sampled_from((2_000, 7_000)),
    )


def markings() -> st.SearchStrategy[Marking]:
    return st.builds(
        Marking,
        kmin_bytes=st.sampled_from((0, 2_000)),
        kmax_bytes=st.sampled_from((2_000, 20_000)),
        pmax=st.sampled_from((0.1, 1.0)),
        at=st.sampled_from(("departure", "arrival")),
        average_weight=st.sampled_from((1.0, 0.25)),
        drops_above=st.sampled_from((False, False, True)),
        drops_instead=st.sampled_from((False, False, True)),
        spares_hosts=st.sampled_from((False, False, True)),
    )


@dataclass(frozen=True)
class Cut:
    """A cable that carries nothing for a while."""

    host: int
    start_ns: int
    duration_ns: int


@dataclass(frozen=True)
class Misrouting:
    """A switch sends what is for a host to another switch, or floods it."""

    switch: int
    host: int
    next_switch: int | None

    def apply(self, simulation: Simulation) -> None:
        if self.next_switch is None:
            simulation.flood(f"s{self.switch}", f"h{self.host}")
        else:
            simulation.forward(f"s{self.switch}", f"h{self.host}", f"s{self.next_switch}")


@dataclass(frozen=True)
class Storm:
    """A NIC that pauses its switch for nothing."""

    host: int
    start_ns: int
    duration_ns: int
    watchdog_ns: int | None

    def apply(self, simulation: Simulation) -> None:
        simulation.pause_storm(
            f"h{self.host}",
            start_ns=self.start_ns,
            duration_ns=self.duration_ns,
            watchdog_ns=self.watchdog_ns,
        )


@dataclass(frozen=True)
class SlowReceiver:
    """A NIC that takes in less than comes."""

    host: int
    start_ns: int
    duration_ns: int | None
    rate_bps: int
    xoff_bytes: int

    def apply(self, simulation: Simulation) -> None:
        simulation.receive_slowly(
            f"h{self.host}",
            rate_bps=self.rate_bps,
            start_ns=self.start_ns,
            duration_ns=self.duration_ns,
            buffer_bytes=2 * self.xoff_bytes,
            xoff_bytes=self.xoff_bytes,
            xon_bytes=self.xoff_bytes // 2,
        )


PauseFault: TypeAlias = Storm | SlowReceiver


def pause_faults(hosts: int) -> st.SearchStrategy[list[PauseFault]]:
    """One at least; both kinds may befall the same host."""
    host, start_ns = st.integers(0, hosts - 1), st.integers(0, 60_000)
    storms = st.builds(
        Storm, host, start_ns, st.integers(1, 200_000), st.none() | st.sampled_from((1, 20_000, 500_000))
    )
    slow_receivers = st.builds(
        SlowReceiver,
        host,
        start_ns,
        st.none() | st.integers(1, 200_000),
        st.sampled_from((10**6, 10**9, 7 * 10**9)),
        st.sampled_from((2, 6_000, 50_000)),
    )
    return st.lists(storms | slow_receivers, min_size=1, max_size=3)


def cuts(hosts: int) -> st.SearchStrategy[Cut]:
    times = st.integers(0, 60_000)
    return st.builds(Cut, host=st.integers(0, hosts - 1), start_ns=times, duration_ns=st.integers(1, 20_000))


def misroutings(switches: int, hosts: int) -> st.SearchStrategy[list[Misrouting]]:
    neighbours = [
        (i, j) for i in range(switches) for j in (i - 1, i + 1, None) if j is None or 0 <= j < switches
    ]
    each = st.builds(
        lambda ends, host: Misrouting(ends[0], host, ends[1]),
        st.sampled_from(neighbours),
        st.integers(0, hosts - 1),
    )
    return st.lists(each, max_size=2, unique_by=lambda fault: (fault.switch, fault.host))
