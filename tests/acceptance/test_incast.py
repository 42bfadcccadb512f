"""Eight senders into one 10 Gb/s port: the figures that the RoGUE core must reach on the simulator.

Fixed before the first run; a later change needs an ADR that quotes both figures.
  run        experiments/rogue-paper/incast.yaml: RC WRITE, 8 senders repeating 128 MB for 20 s, MTU 1024,
             framing `rocev2`, profile `cx3pro` (limiter and timestamps on one oscillator), 1 us links,
             base-RTT floor 50 us, seeds 1 to 5
  share      payload goodput of the port over 8: 10 Gb/s * 1024 / 1106 / 8
  goodput    payload delivered in order per flow and whole second, all 20 seconds, the first included
  Jain       over the eight flows' goodput of the whole run
  queue      bytes waiting at the port towards the receiver, sampled at fixed instants
  estimate   the agent's accepted RTT samples minus the simulator's truth for the same batch
"""

import pandas as pd
import pytest
from helpers.experiment_run import MTU_OF_BOUNDS, ExperimentRun, jain, nearest_rank, run_experiment

SHARE_BPS = 10e9 * 1024 / 1106 / 8


def goodput_shares(run: ExperimentRun, transport: str) -> pd.DataFrame:
    """One row per seed, flow and second: goodput as a fraction of the ideal share."""
    rows = run.table("throughput", transport)
    return rows.assign(share=rows["goodput_bps"] / SHARE_BPS)


def receiver_queue(run: ExperimentRun, transport: str) -> pd.DataFrame:
    """The samples of the switch port that all senders share."""
    rows = run.table("queues", transport)
    return rows[rows["port"] == "s0->h8"]


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRun:
    return run_experiment("rogue-paper/incast", tmp_path_factory.mktemp("incast"), MTU_OF_BOUNDS)


@pytest.mark.long
class TestTwentySecondsFiveSeeds:
    def test_median_goodput_is_the_ideal_share(self, full: ExperimentRun) -> None:
        medians = goodput_shares(full, "rogue").groupby("seed")["share"].apply(nearest_rank, percent=50)
        assert sorted(medians.index) == [1, 2, 3, 4, 5]
        assert abs(medians.median() - 1) <= 0.03, medians
        assert (abs(medians - 1) <= 0.05).all(), medians

    def test_slow_seconds_stay_near_the_share(self, full: ExperimentRun) -> None:
        tenths = goodput_shares(full, "rogue").groupby("seed")["share"].apply(nearest_rank, percent=10)
        assert (tenths >= 0.85).all(), tenths

    def test_flows_are_treated_alike(self, full: ExperimentRun) -> None:
        per_flow = goodput_shares(full, "rogue").groupby(["seed", "flow_id"])["share"].mean()
        fairness = per_flow.groupby("seed").apply(jain)
        assert (fairness >= 0.98).all(), fairness

    def test_queue_stays_short(self, full: ExperimentRun) -> None:
        medians = receiver_queue(full, "rogue").groupby("seed")["bytes"].apply(nearest_rank, percent=50)
        assert sorted(medians.index) == [1, 2, 3, 4, 5]
        assert (medians <= 200_000).all(), medians

    def test_rtt_estimates_are_true(self, full: ExperimentRun) -> None:
        samples = full.table("rtt", "rogue").query("accepted")
        error_ns = (samples["rtt_ns"] - samples["true_rtt_ns"]).groupby(samples["seed"]).median()
        assert sorted(error_ns.index) == [1, 2, 3, 4, 5]
        assert (error_ns.abs() <= 3_000).all(), error_ns

    def test_native_roce_starves_some_flows(self, full: ExperimentRun) -> None:
        tenths = {
            transport: goodput_shares(full, transport)
            .groupby("seed")["share"]
            .apply(nearest_rank, percent=10)
            for transport in ("rogue", "roce")
        }
        assert tenths["roce"].median() <= tenths["rogue"].median() / 2, tenths
