"""Tests: fairness over shared links."""

import pandas as pd
import pytest
from helpers.networks import Host, connect, counter, max_min_bps
from helpers.paper_runs import MTU_OF_BOUNDS, ExperimentRun, jain, nearest_rank, run_experiment
from hypothesis import given
from hypothesis import strategies as st

from rogue.simulator import IDEAL, Simulation
from rogue.workloads.topologies import TOPOLOGIES, Topology

Ends = list[tuple[str, str]]

CASES: list[tuple[Topology, Ends, list[float]]] = [
    (
        TOPOLOGIES["parking_lot"].model_validate({"rate": "10Gbps"}),
        [(f"h{n}", "h4") for n in range(4)],
        [2.5] * 4,
    ),
    (
        TOPOLOGIES["multi_bottleneck"].model_validate({}),
        [*((f"h{n}", f"h{n + 5}") for n in range(5)), ("h10", "h5")],
        [5, 8.75, 8.75, 8.75, 8.75, 5],
    ),
    (
        TOPOLOGIES["asymmetric_fan_in"].model_validate({}),
        [(f"h{n}", "h7") for n in range(7)],
        [100 / 7] * 7,
    ),
]


def fair_bps(topology: Topology, ends: Ends) -> list[float]:
    """Each direction of a link has its capacity."""
    paths = []
    for source, destination in ends:
        node, path = source, []
        for link in topology.path(source, destination):
            path.append((node, link))
            node = link.other_end(node)
        paths.append(path)
    capacity = {way: float(way[1].rate_bps) for path in paths for way in path}
    return max_min_bps(capacity, paths)


@pytest.mark.parametrize(("topology", "ends", "gbps"), CASES, ids=lambda case: getattr(case, "kind", ""))
def test_by_hand(topology: Topology, ends: Ends, gbps: list[float]) -> None:
    assert fair_bps(topology, ends) == pytest.approx([rate * 1e9 for rate in gbps])


@given(
    st.lists(st.integers(1, 100), min_size=1, max_size=6),
    st.lists(st.sets(st.integers(0, 5), min_size=1), min_size=1, max_size=8),
)
def test_nobody_can_have_more_without_taking_it_from_one_that_has_less(
    capacities: list[int], crossed: list[set[int]]
) -> None:
    paths = [[link % len(capacities) for link in links] for links in crossed]
    rates = max_min_bps(dict(enumerate(map(float, capacities))), paths)
    load = [sum(r for r, p in zip(rates, paths, strict=True) if link in p) for link in range(len(capacities))]
    assert all(used <= capacity * (1 + 1e-6) for used, capacity in zip(load, capacities, strict=True))
    for rate, path in zip(rates, paths, strict=True):
        bottlenecks = [link for link in path if load[link] >= capacities[link] * (1 - 1e-6)]
        largest = [max(r for r, p in zip(rates, paths, strict=True) if link in p) for link in bottlenecks]
        assert any(rate >= most * (1 - 1e-6) for most in largest)


@pytest.mark.parametrize(("topology", "ends", "gbps"), CASES, ids=lambda case: getattr(case, "kind", ""))
def test_the_engine_carries_fair_rates_without_a_loss(
    topology: Topology, ends: Ends, gbps: list[float]
) -> None:
    simulation = Simulation(seed=1)
    for host in topology.host_names():
        simulation.add_host(host, IDEAL)
    for switch in topology.switch_names():
        simulation.add_switch(switch, buffer_bytes=4 * 1086 * len(ends), alpha=8.0)
    for link in topology.links():
        simulation.add_link(link.a, link.b, rate_bps=link.rate_bps, delay_ps=1_000_000)
    queue_pairs = []
    for (source, destination), rate in zip(ends, gbps, strict=True):
        queue_pair = connect(simulation, source, destination, timeout_exponent=20)
        Host(queue_pair)
        queue_pair.set_rate(int(rate * 0.999e9))
        queue_pair.post_write(1, 10**9, True)
        queue_pairs.append(queue_pair)
    simulation.run_until(1_000_000)
    before = [queue_pair.delivered_bytes for queue_pair in queue_pairs]
    simulation.run_until(6_000_000)
    for queue_pair, earlier, rate in zip(queue_pairs, before, gbps, strict=True):
        wire_bps = (queue_pair.delivered_bytes - earlier) * 1106 / 1024 * 8 / 0.005
        assert wire_bps == pytest.approx(rate * 0.999e9, rel=2e-3)
    assert counter(simulation, "dropped_packets") == 0


IDEAL_BPS = 10e9 * 1024 / 1106
POINT = ["seed"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRun:
    out = tmp_path_factory.mktemp("parking-lot")
    return run_experiment("rogue-paper/figure-11-13", out, "transports=[rogue]", MTU_OF_BOUNDS)


@pytest.fixture(scope="module")
def goodput(run: ExperimentRun) -> pd.DataFrame:
    rows = run.table("throughput")
    return rows[rows["flow_id"].str.startswith("main/")]


@pytest.mark.long
class TestFourToOne:
    def test_five_runs(self, run: ExperimentRun, goodput: pd.DataFrame) -> None:
        assert run.seeds() == {1, 2, 3, 4, 5}
        assert (goodput.groupby(POINT).size() == 40).all()
        assert len(goodput.groupby(POINT)) == 5

    def test_aggregate(self, goodput: pd.DataFrame) -> None:
        aggregate = goodput.groupby([*POINT, "t_ns"])["goodput_bps"].sum().groupby(POINT).mean() / IDEAL_BPS
        assert (aggregate >= 0.98).all(), aggregate

    def test_fairness(self, goodput: pd.DataFrame) -> None:
        fairness = goodput.groupby([*POINT, "flow_id"])["goodput_bps"].mean().groupby(POINT).apply(jain)
        assert (fairness >= 0.88).all(), fairness

    def test_latency(self, run: ExperimentRun) -> None:
        medians = run.table("latency").groupby(POINT)["rtt_ns"].apply(nearest_rank, percent=50)
        assert ((medians >= 40_000) & (medians <= 80_000)).all(), medians


PAIRS = "traffic[0].workload.pairs"
SETTINGS = ("repetitions=1", "transports=[roce+pfc]")
TRANSPORT = "roce+pfc"


def p99_ns(run: ExperimentRun) -> pd.Series:
    """By number of pairs, of the pings that came back."""
    pings = run.table("latency", TRANSPORT)
    return pings[pings["status"] == "ok"].groupby(PAIRS)["rtt_ns"].apply(nearest_rank, percent=99)


@pytest.fixture(scope="module")
def rdma(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRun:
    return run_experiment("sigcomm16-paper/figure-8", tmp_path_factory.mktemp("rdma"), *SETTINGS)


@pytest.mark.long
class TestRdmaAlone:
    def test_goodput(self, rdma: ExperimentRun) -> None:
        rows = rdma.table("throughput", TRANSPORT)
        rows = rows[rows[PAIRS] == 20]
        per_server_bps = rows["delivered_bytes"].sum() * 8 * 1086 / 1024 / 0.11 / rows["src"].nunique()
        assert rows["src"].nunique() == 40
        assert per_server_bps == pytest.approx(7e9, rel=0.1)

    def test_latency(self, rdma: ExperimentRun) -> None:
        latency_ns = p99_ns(rdma)
        assert latency_ns[20] >= 5 * latency_ns[1]

    def test_nothing_is_lost(self, rdma: ExperimentRun) -> None:
        counters = rdma.table("counters", TRANSPORT)
        drops = counters[counters["name"] == "drops"]
        assert len(drops) > 0 and drops["after"].sum() == 0


@pytest.mark.long
def test_latency_of_tcp_does_not_change(tmp_path_factory: pytest.TempPathFactory) -> None:
    run = run_experiment("sigcomm16-paper/figure-8-tcp", tmp_path_factory.mktemp("tcp"), *SETTINGS)
    latency_ns = p99_ns(run)
    assert latency_ns[20] == pytest.approx(latency_ns[1], rel=0.1)
