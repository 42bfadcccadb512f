"""The lazy engine and the eager one agree on every completion time, counter and sample."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import engine_networks
import pytest
from helpers.networks import GBPS, MILLISECOND_NS, Builder, Star, assert_equal_runs, connect, counter, network
from helpers.random_fabrics import fabric
from helpers.random_features import flow_controls, pause_faults
from helpers.random_networks import RandomNetwork, networks
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rogue.simulator import CONTROLS, CX3PRO, FairRates, Marking, NicControl, PriorityFlowControl, Simulation

SECOND_NS = 10**9
WORKLOADS = engine_networks.WORKLOADS


def incast(star: Star, size_bytes: int, rate_bps: int = 0, **connection: int) -> Builder:
    """Every host sends to the last one, in verbs of 1 MB."""

    def build(simulation_type: type[Simulation]) -> Simulation:
        simulation = star.build(simulation_type)
        simulation.sample_queues(100_000)
        simulation.sample_throughput(MILLISECOND_NS)
        simulation.record_oracle_rtt()
        for i in range(star.hosts - 1):
            queue_pair = connect(simulation, f"h{i}", f"h{star.hosts - 1}", **connection)
            if rate_bps:
                queue_pair.set_rate(rate_bps)
            for wr_id, start in enumerate(range(0, size_bytes, 1_000_000)):
                queue_pair.post_write(wr_id, min(1_000_000, size_bytes - start), wr_id % 2 == 0)
        return simulation

    return build


def test_w1_at_a_tenth_of_its_size() -> None:
    run = assert_equal_runs(
        incast(Star(hosts=9), 12_800_000, mtu_bytes=1000, ack_every_packets=1), 200 * MILLISECOND_NS
    )
    assert run.statistics()["packet_hops"] == 409_600
    assert run.statistics()["verbs_done"] == 8 * 13


def test_an_incast_into_a_small_buffer_with_naks_and_timeouts() -> None:
    run = assert_equal_runs(
        incast(
            Star(hosts=9, buffer_bytes=300_000, profile=CX3PRO),
            4_000_000,
            timeout_exponent=6,
            ack_every_packets=8,
        ),
        100 * MILLISECOND_NS,
    )
    counters = {name.split(".")[-1] for _, _, name, value in run.counters() if value > 0}
    assert {"drops", "naks", "timeouts", "retransmitted_packets"} <= counters


def test_queue_pairs_that_fail() -> None:
    run = assert_equal_runs(
        incast(Star(hosts=9, buffer_bytes=100_000), 4_000_000, timeout_exponent=4, retry_count=1),
        20 * MILLISECOND_NS,
    )
    assert run.statistics()["verbs_done"] > run.oracle_table()["wr_id"].size


@pytest.mark.parametrize("seed", range(10))
def test_queue_pairs_that_share_a_lagging_limiter(seed: int) -> None:
    """Limits come and go while five queue pairs wait for one limiter: whose turn is it?"""
    profile = replace(CX3PRO, limiters=1, actuation_lag_bytes_max=3_000)

    def build(simulation_type: type[Simulation]) -> Simulation:
        stream = random.Random(seed)
        simulation = Star(hosts=2, profile=profile, delay_ps=100_000).build(simulation_type, seed)
        for _ in range(5):
            queue_pair = connect(simulation, "h0", "h1")
            for wr_id in range(9):
                length_bytes = stream.choice((100, 1024, 5000))
                simulation.schedule(
                    stream.randrange(60_000),
                    lambda now, q=queue_pair, w=wr_id, size=length_bytes: q.post_write(w, size, True),
                )
            for rate_bps in (GBPS, 0, 2 * GBPS, 0):
                simulation.schedule(
                    stream.randrange(60_000), lambda now, q=queue_pair, rate=rate_bps: q.set_rate(rate)
                )
        return simulation

    run = assert_equal_runs(build, 10 * MILLISECOND_NS)
    assert run.statistics()["verbs_done"] == 45


def test_instants_beyond_the_horizon_of_the_tree() -> None:
    """The tree counts 34 ms from a base that moves along; a gap at 100 b/s lasts 88 s."""

    def build(simulation_type: type[Simulation]) -> Simulation:
        simulation = Star(hosts=3).build(simulation_type)
        simulation.sample_queues(SECOND_NS)
        slow, fast = connect(simulation, "h0", "h2", timeout_exponent=30), connect(simulation, "h1", "h2")
        slow.set_rate(100)
        slow.post_write(1, 4_000, True)
        for start_ns in (34_359_739, 68_719_477, 103_000_000, 100 * SECOND_NS, 350 * SECOND_NS):
            simulation.schedule(start_ns, lambda now: fast.post_write(now, 100_000, True))
        return simulation

    run = assert_equal_runs(build, 400 * SECOND_NS)
    assert run.statistics()["verbs_done"] == 6


@pytest.mark.parametrize("pause_ns", [None, 5_000])
def test_thresholds_of_20_kb(pause_ns: int | None) -> None:
    flow_control = PriorityFlowControl(xoff_bytes=20_000, pause_ns=pause_ns)
    run = assert_equal_runs(
        incast(Star(hosts=9, flow_control=flow_control), 4_000_000, ack_every_packets=1), 40 * MILLISECOND_NS
    )
    assert run.statistics()["verbs_done"] == 8 * 4
    assert counter(run, "pause_frames") > 1_000
    assert counter(run, "drops") == counter(run, "retransmitted_packets") == 0


@pytest.mark.parametrize("watchdog_ns", [None, 500_000])
def test_a_pause_storm_and_a_slow_receiver(watchdog_ns: int | None) -> None:
    control = PriorityFlowControl(xoff_bytes=20_000, watchdog_ns=watchdog_ns, watchdog_restore_ns=300_000)
    switch = {"buffer_bytes": 4_000_000, "alpha": 8.0, "flow_control": control}
    links = [("s0", "s1"), ("h0", "s0"), ("h1", "s0"), ("h2", "s1"), ("h3", "s1")]

    def build(simulation_type: type[Simulation]) -> Simulation:
        simulation = network(links, simulation_type, switch=switch)
        for source, destination in (("h0", "h2"), ("h1", "h3")):
            connect(simulation, source, destination).post_write(1, 10**8, True)
        simulation.sample_queues(100_000)
        simulation.receive_slowly("h3", rate_bps=3 * GBPS)
        simulation.pause_storm("h2", start_ns=MILLISECOND_NS, duration_ns=2 * MILLISECOND_NS)
        return simulation

    run = assert_equal_runs(build, 8 * MILLISECOND_NS)
    assert counter(run, "pause_frames") > 0
    assert (counter(run, "watchdog_fired") > 0) == (watchdog_ns is not None)


def test_a_slow_receiver_behind_a_switch_that_it_cannot_pause() -> None:
    def build(simulation_type: type[Simulation]) -> Simulation:
        simulation = network([("s0", "s1"), ("h0", "s0"), ("h1", "s1")], simulation_type)
        connect(simulation, "h0", "h1").post_write(1, 10**7, True)
        simulation.receive_slowly(
            "h1", rate_bps=3 * GBPS, start_ns=100_000, duration_ns=MILLISECOND_NS, buffer_bytes=140_000
        )
        return simulation

    run = assert_equal_runs(build, 8 * MILLISECOND_NS)
    assert counter(run, "lost_packets") > 0


@pytest.mark.parametrize("flow_control", [None, PriorityFlowControl(xoff_bytes=100_000)])
@pytest.mark.parametrize("name", CONTROLS)
def test_controls_in_nics(name: str, flow_control: PriorityFlowControl | None) -> None:
    marking = Marking(kmin_bytes=5_000, kmax_bytes=200_000, pmax=0.01)
    features = {"fair_rates": FairRates(), "has_telemetry": True}
    star = Star(
        hosts=9, buffer_bytes=2_000_000, marking=marking, flow_control=flow_control, features=features
    )

    def build(simulation_type: type[Simulation]) -> Simulation:
        simulation = star.build(simulation_type)
        simulation.sample_queues(100_000)
        for i in range(8):
            queue_pair = connect(simulation, f"h{i}", "h8", timeout_exponent=8, control=NicControl(name))
            queue_pair.post_write(1, 3_000_000, True)
        return simulation

    run = assert_equal_runs(build, 50 * MILLISECOND_NS)
    assert counter(run, "tx_bytes") > 10**6


@st.composite
def networks_whose_pauses_go_wrong(draw: st.DrawFn) -> RandomNetwork:
    """With NICs that pause for nothing or receive slowly, and watchdogs that drop."""
    network = draw(networks(flow_controls()))
    assert network.flow_control is not None
    watchdog_ns = draw(st.none() | st.sampled_from((1, 10_000, 90_000)))
    restore_ns = draw(st.sampled_from((1, 30_000, 10**6)))
    flow_control = replace(network.flow_control, watchdog_ns=watchdog_ns, watchdog_restore_ns=restore_ns)
    faults = tuple(draw(pause_faults(len(network.hosts))))
    return replace(network, flow_control=flow_control, pause_faults=faults)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks(has_events=True))
def test_random_networks(network: RandomNetwork) -> None:
    assert_equal_runs(network.build, 2 * MILLISECOND_NS)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks(flow_controls()))
def test_random_networks_with_flow_control(network: RandomNetwork) -> None:
    assert_equal_runs(network.build, 2 * MILLISECOND_NS)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks_whose_pauses_go_wrong())
def test_random_networks_whose_pauses_go_wrong(network: RandomNetwork) -> None:
    assert_equal_runs(network.build, 2 * MILLISECOND_NS)


def test_a_pause_frame_waits_until_the_pause_is_over() -> None:
    """It tells of the pause nevertheless: what it says was written when it left, behind a packet."""

    def build(simulation_type: type[Simulation]) -> Simulation:
        star = Star(hosts=2, flow_control=PriorityFlowControl(xoff_bytes=20_000))
        simulation = star.build(simulation_type)
        queue_pair = connect(simulation, "h0", "h1")
        queue_pair.post_write(1, 4_096, True)  # leaves in packets of 0.9 us
        simulation.pause_storm("h0", start_ns=1_000, duration_ns=950)
        return simulation

    run = assert_equal_runs(build, MILLISECOND_NS)
    pauses = run.pause_table()
    assert list(pauses["port"]) == ["s0->h0"]
    assert list(pauses["start_ns"]) == [2_849]  # packets 0.8976 and 0.8848 us, 84 bytes 0.0672, cable 1


def run_fabric(seed: int, flows: int) -> None:
    """Run it on both; whatever pauses, storms and watchdogs do, no buffer is short of headroom."""
    run = assert_equal_runs(fabric(seed, flows), 2 * MILLISECOND_NS)
    assert run.statistics()["verbs_done"] > flows / 2  # of two per flow
    assert counter(run, "lossless_drops") == 0


def test_random_fabrics_cover_all_events() -> None:
    met = set()
    for seed in range(16):
        run = fabric(seed, flows=250)(Simulation)
        run.run_until(2 * MILLISECOND_NS)
        met |= {name.split(".")[-1] for _, _, name, value in run.counters() if value > 0}
    assert {"drops", "lost_packets", "marked_packets", "pause_frames", "watchdog_fired"} <= met
    assert {"naks", "timeouts", "retransmitted_packets", "cnps_received"} <= met
    assert {"headroom_used_max_bytes", "delivered_messages"} <= met


@pytest.mark.parametrize("seed", range(16))
def test_random_fabrics(seed: int) -> None:
    run_fabric(seed, flows=250)


@pytest.mark.long
@settings(max_examples=20_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks() | networks_whose_pauses_go_wrong())
def test_many_random_networks(network: RandomNetwork) -> None:
    assert_equal_runs(network.build, 2 * MILLISECOND_NS)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(500))
def test_many_random_fabrics(seed: int) -> None:
    run_fabric(seed, flows=500)


@dataclass(frozen=True)
class Excerpt:
    """The first flows of a benchmark's data, cut to a size."""

    workload: str
    flows: int
    size_max_bytes: int = 10**12
    xoff_bytes: int | None = None
    loss_probability: float = 0.0
    timeout_exponent: int = 20
    control: str | None = "dcqcn"

    def build(self, simulation_type: type[Simulation]) -> Simulation:
        """Build the network, with marking and flow control if there is a control, and post the flows.

        With ``xoff_bytes`` there is flow control in any case.
        """
        workload = WORKLOADS[self.workload]
        changes: dict[str, Any] = {"loss_probability": self.loss_probability}
        if self.xoff_bytes is not None:
            mtu_bytes = engine_networks.MTU_BYTES
            changes["flow_control"] = PriorityFlowControl(mtu_bytes=mtu_bytes, xoff_bytes=self.xoff_bytes)
        if self.control is None:
            simulation = workload.network(simulation_type, **changes)
            engine_networks.post(simulation, list(self._cut(workload)))
            return simulation
        simulation = workload.controlled_network(simulation_type, **changes)
        simulation.sample_queues(100_000)
        engine_networks.post(
            simulation,
            list(self._cut(workload)),
            NicControl(self.control),
            timeout_exponent=self.timeout_exponent,
        )
        return simulation

    def _cut(self, workload: Any) -> Iterator[Any]:
        for flow in islice(workload.flows(), self.flows):
            yield replace(flow, size_bytes=min(flow.size_bytes, self.size_max_bytes))


PAUSES: dict[str, Any] = {"xoff_bytes": 20_000}
LOSSES: dict[str, Any] = {"loss_probability": 0.0005, "timeout_exponent": 10}
CUT: dict[str, Any] = {"size_max_bytes": 600_000}
STRESS: dict[str, Any] = {"size_max_bytes": 20_000_000, **PAUSES}


@pytest.mark.parametrize(
    ("excerpt", "until_ms", "least"),
    [
        pytest.param(Excerpt("W1", 8, **CUT), 30, {"cnps_received": 101}, id="W1"),
        pytest.param(Excerpt("W2", 150), 30, {}, id="W2"),
        pytest.param(Excerpt("W3", 60, size_max_bytes=100_000), 1, {}, id="W3, where the engine prefetches"),
        pytest.param(Excerpt("W1", 8, **CUT, **PAUSES), 30, {"pause_frames": 201}, id="W1, pauses"),
        pytest.param(Excerpt("W2", 150, **CUT, **PAUSES), 30, {"pause_frames": 201}, id="W2, pauses"),
        pytest.param(
            Excerpt("W2", 100, **PAUSES, control=None),
            20,
            {"pause_frames": 1_001},
            id="W2, pauses, no control",
        ),
        pytest.param(Excerpt("W1", 8, **CUT, **LOSSES), 100, {"lost_packets": 4}, id="W1, losses"),
        pytest.param(Excerpt("W2", 150, **CUT, **LOSSES), 100, {"lost_packets": 4}, id="W2, losses"),
        pytest.param(Excerpt("W1", 8), 1_200, {}, id="all of W1", marks=pytest.mark.long),
        pytest.param(Excerpt("W2", 2_035), 200, {}, id="all of W2", marks=pytest.mark.long),
        pytest.param(Excerpt("W1", 8, **STRESS), 400, {}, id="W1, many pauses", marks=pytest.mark.long),
        pytest.param(Excerpt("W2", 600, **STRESS), 400, {}, id="W2, many pauses", marks=pytest.mark.long),
        pytest.param(Excerpt("W2", 600, **LOSSES), 400, {}, id="W2, many losses", marks=pytest.mark.long),
    ],
)
def test_benchmarks(excerpt: Excerpt, until_ms: int, least: dict[str, int]) -> None:
    simulation = assert_equal_runs(excerpt.build, until_ms * MILLISECOND_NS)
    assert simulation.statistics()["verbs_done"] == excerpt.flows
    assert counter(simulation, "lossless_drops") == 0
    assert all(counter(simulation, name) >= value for name, value in least.items())


@pytest.mark.long
@pytest.mark.parametrize(
    ("excerpt", "until_ms", "statistic", "value"),
    [
        (Excerpt("W1", 8, control=None), 1_000, "packet_hops", 4_096_000),
        (Excerpt("W2", 10_000, control=None), 100, "verbs_done", 2_035),
    ],
)
def test_benchmarks_without_a_control(excerpt: Excerpt, until_ms: int, statistic: str, value: int) -> None:
    run = assert_equal_runs(excerpt.build, until_ms * MILLISECOND_NS)
    assert run.statistics()[statistic] == value
