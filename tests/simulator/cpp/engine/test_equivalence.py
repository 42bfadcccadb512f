"""The lazy engine and the eager one must agree on every completion time, counter and sample."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.networks import GBPS, MILLISECOND_NS, ReferenceSimulation, Star, connect
from helpers.random_networks import Network, networks
from hypothesis import HealthCheck, given, settings

from simulator import CX3PRO, IDEAL, Simulation

SECOND_NS = 10**9
DATA = Path(__file__).parents[4] / "benchmarks/data"
Builder = Callable[[type[Simulation]], Simulation]


def assert_equal_runs(build: Builder, until_ns: int) -> Simulation:
    lazy, eager = build(Simulation), build(ReferenceSimulation)
    for simulation in (lazy, eager):
        simulation.run_until(until_ns)
        simulation.check_invariants()
    assert lazy.digest() == eager.digest()
    assert lazy.counters() == eager.counters()
    assert lazy.statistics()["packet_hops"] == eager.statistics()["packet_hops"]
    for name in ("throughput_table", "queue_table", "oracle_table"):
        left, right = getattr(lazy, name)(), getattr(eager, name)()
        assert {column: values.tolist() for column, values in left.items()} == {
            column: values.tolist() for column, values in right.items()
        }, name
    return lazy


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


@pytest.mark.long
def test_w1_whole() -> None:
    run = assert_equal_runs(
        incast(Star(hosts=9), 128_000_000, mtu_bytes=1000, ack_every_packets=1), 1000 * MILLISECOND_NS
    )
    assert run.statistics()["packet_hops"] == 4_096_000


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


def test_random_losses_of_one_in_two_thousand() -> None:
    run = assert_equal_runs(
        incast(Star(hosts=9, loss_probability=0.0005), 8_000_000, timeout_exponent=14), 1000 * MILLISECOND_NS
    )
    assert run.statistics()["verbs_done"] == 8 * 8


def test_paced_queue_pairs() -> None:
    assert_equal_runs(incast(Star(hosts=9, profile=CX3PRO), 8_000_000, rate_bps=GBPS), 100 * MILLISECOND_NS)


def test_instants_beyond_the_horizon_of_the_tree() -> None:
    """The tree counts 69 ms from a base that moves along; a gap at 100 b/s lasts 88 s."""

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


def fat_tree(k: int, flows: Path, count: int) -> Builder:
    """The first flows of a benchmark on its fat tree: host h under edge switch h // (k / 2)."""

    def build(simulation_type: type[Simulation]) -> Simulation:
        simulation = simulation_type(seed=1)
        half = k // 2
        hosts, edges = k * half * half, k * half
        for host in range(hosts):
            simulation.add_host(f"h{host}", IDEAL)
        for switch in (*(f"e{i}" for i in range(edges)), *(f"a{i}" for i in range(edges))):
            simulation.add_switch(switch, buffer_bytes=None, alpha=1.0)
        for core in range(half * half):
            simulation.add_switch(f"c{core}", buffer_bytes=None, alpha=1.0)
        joined = [(f"h{host}", f"e{host // half}") for host in range(hosts)]
        for edge in range(edges):
            pod = edge // half
            joined += [(f"e{edge}", f"a{pod * half + i}") for i in range(half)]
            joined += [(f"a{edge}", f"c{edge % half * half + i}") for i in range(half)]
        for a, b in joined:
            simulation.add_link(a, b, rate_bps=100 * GBPS, delay_ps=1_000_000)
        with flows.open() as file:
            for number, row in zip(range(count), csv.DictReader(file), strict=False):
                queue_pair = connect(
                    simulation,
                    f"h{row['src']}",
                    f"h{row['dst']}",
                    mtu_bytes=1000,
                    ack_every_packets=1,
                    path_seed=number,
                )
                simulation.schedule(
                    int(row["start_us"]) * 1000,
                    lambda now, q=queue_pair, size=int(row["size_bytes"]): q.post_write(1, size, True),
                )
        return simulation

    return build


def test_a_slice_of_w2() -> None:
    run = assert_equal_runs(fat_tree(6, DATA / "w2.csv", 100), 20 * MILLISECOND_NS)
    assert run.statistics()["verbs_done"] == 100


@pytest.mark.long
def test_w2_whole() -> None:
    run = assert_equal_runs(fat_tree(6, DATA / "w2.csv", 10_000), 100 * MILLISECOND_NS)
    assert run.statistics()["verbs_done"] == 2035


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks())
def test_random_networks(network: Network) -> None:
    assert_equal_runs(network.build, 2 * MILLISECOND_NS)


@pytest.mark.long
@settings(max_examples=20_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks())
def test_many_random_networks(network: Network) -> None:
    assert_equal_runs(network.build, 2 * MILLISECOND_NS)
