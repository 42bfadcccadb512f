"""Two racks behind four uplinks: what hashing leaves, and what the queue costs RDMA and TCP.

Bounds come from the claims, which were written before the first run (sigcomm16_figures_7_and_8.yaml):
  run     experiments/sigcomm16-paper/figure-8.yaml and figure-8-tcp.yaml, seed 1, `roce+pfc`
  M-3     20 pairs, eight connections each way: 7 Gb/s per server to within twice the claim's tolerance of 5 %
  M-4     99th percentile of RDMA pings at least five times that beside one pair
  M-5     99th percentile of TCP pings, in a class of their own, within 10 % of that beside one pair
  losses  no switch drops a packet
"""

import pandas as pd
import pytest
from helpers.experiment_run import ExperimentRun, nearest_rank, run_experiment

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
