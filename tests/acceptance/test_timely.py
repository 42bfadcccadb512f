"""TIMELY and its repair against the paper that took them apart.

Fixed with the claims, before the first run.
  runs       experiments/ecn-or-delay: 2, 10 and 40 flows over one 10 Gb/s port, links of 1 us, seeds 1 to 5
  queue      median of the receiver's port, sampled each 100 us, over the second half of the run; every seed
             within 20 % of C * 50 us * (1 + N * 10 Mb/s / (.008 * C)) = 78, 141 and 375 KB
  rates      wire rate per flow over the second half of 500 ms, two flows that begin at 7 and 3 Gb/s; each
             seed. Patched: within 5 % of 5 Gb/s. TIMELY paced by packets: the lesser below 4 Gb/s; in bursts
             of 16 KB: above; in bursts of 64 KB: both together below 90 % of the port
"""

import numpy as np
import pandas as pd
import pytest
from helpers.paper_runs import ExperimentRun, run_experiment

PAYLOAD = 1024 / 1106
PATCHED = "roce+timely-patched"
STARTS = {"2": "5Gbps", "10": "1Gbps", "40": "250Mbps"}


def second_half(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["t_ns"] > rows.groupby("seed")["t_ns"].transform("max") / 2]


def wire_rates_bps(run: ExperimentRun, transport: str) -> pd.DataFrame:
    """A row per seed, a column per flow."""
    rows = second_half(run.table("throughput", transport))
    sums = rows.groupby(["seed", "flow_id"], observed=True)[["delivered_bytes", "interval_ns"]].sum()
    rates = (sums["delivered_bytes"] * 8e9 / sums["interval_ns"] / PAYLOAD).unstack()
    assert rates.shape == (5, 2)
    return rates


@pytest.mark.long
@pytest.mark.parametrize(("senders", "queue_bytes"), [("2", 78_125), ("10", 140_625), ("40", 375_000)])
def test_the_repair_rests_where_its_model_says(
    tmp_path_factory: pytest.TempPathFactory, senders: str, queue_bytes: int
) -> None:
    out = tmp_path_factory.mktemp(f"patched-{senders}")
    run = run_experiment(f"ecn-or-delay/timely-patched-{senders}", out)
    assert run.seeds() == {1, 2, 3, 4, 5}
    rows = run.table("queues", f"{PATCHED},initial_rate={STARTS[senders]}")
    rows = second_half(rows[(rows["port"] == f"s0->h{senders}") & (rows["priority"] == 0)])
    medians = rows.groupby("seed")["bytes"].median()
    assert len(medians) == 5
    assert (np.abs(medians / queue_bytes - 1) <= 0.2).all(), medians


@pytest.mark.long
def test_the_repair_makes_two_flows_equal(tmp_path_factory: pytest.TempPathFactory) -> None:
    run = run_experiment("ecn-or-delay/timely-patched-start", tmp_path_factory.mktemp("start"))
    rates = wire_rates_bps(run, PATCHED)
    assert (rates.min(axis=1) >= 0.95 * 5e9).all(), rates


@pytest.fixture(scope="module")
def from_seven_and_three(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRun:
    return run_experiment("ecn-or-delay/timely-start", tmp_path_factory.mktemp("start"))


@pytest.mark.long
class TestTwoFlowsFromSevenAndThree:
    def test_by_packets_they_stay_unequal(self, from_seven_and_three: ExperimentRun) -> None:
        rates = wire_rates_bps(from_seven_and_three, "TIMELY by packets")
        assert (rates.min(axis=1) < 4e9).all(), rates

    def test_small_bursts_bring_them_together(self, from_seven_and_three: ExperimentRun) -> None:
        rates = wire_rates_bps(from_seven_and_three, "TIMELY, 16 KB bursts")
        assert (rates.min(axis=1) > 4e9).all(), rates

    def test_large_bursts_lose_throughput(self, from_seven_and_three: ExperimentRun) -> None:
        rates = wire_rates_bps(from_seven_and_three, "TIMELY, 64 KB bursts")
        assert (rates.sum(axis=1) < 9e9).all(), rates
