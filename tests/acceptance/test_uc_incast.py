"""Incasts over unreliable connections: what RoGUE must deliver, and what the NIC alone loses.

Fixed before the first run; a later change needs an ADR that quotes both figures.
  run        experiments/rogue-paper/figure-14b.yaml: UC WRITE, 2 to 8 senders, one transfer of 128 MB each,
             MTU 1024, framing `rocev2`, profile `cx3pro`, 1 us links, base-RTT floor 50 us, seeds 1 to 5
  share      payload goodput of the port over N: 10 Gb/s * 1024 / 1106 / N
  slow tenth 10th percentile, nearest rank, over the N flows of size / completion time; median of the 5 seeds
  delivered  payload of whole messages that arrived, over the payload of all transfers; each seed

One sender is reported and has no bound: its window opens too slowly for 128 MB.
"""

import pandas as pd
import pytest
from helpers.experiment_run import MTU_OF_BOUNDS, ExperimentRun, nearest_rank, run_experiment

IDEAL_BPS = 10e9 * 1024 / 1106
POINT = ["workload.senders", "seed"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRun:
    out = tmp_path_factory.mktemp("uc-incast")
    return run_experiment(
        "rogue-paper/figure-14b", out, MTU_OF_BOUNDS, "workload.senders=[2, 3, 4, 5, 6, 7, 8]"
    )


def delivered_share(run: ExperimentRun, transport: str) -> pd.Series:
    asked = run.table("flows", transport).groupby(POINT)["size_bytes"].sum()
    arrived = run.table("throughput", transport).groupby(POINT)["delivered_bytes"].sum()
    assert len(asked) == 35
    share: pd.Series = arrived.reindex(asked.index, fill_value=0) / asked
    return share


@pytest.mark.long
class TestUnreliable:
    def test_slow_tenth(self, run: ExperimentRun) -> None:
        flows = run.table("flows", "rogue-uc")
        flows["share"] = flows["goodput_bps"].fillna(0) * flows["workload.senders"] / IDEAL_BPS
        tenths = flows.groupby(POINT)["share"].apply(nearest_rank, percent=10)
        medians = tenths.groupby("workload.senders").median()
        assert (medians >= 0.95).all(), tenths

    def test_nearly_everything_arrives(self, run: ExperimentRun) -> None:
        share = delivered_share(run, "rogue-uc")
        assert (share >= 0.99).all(), share

    def test_without_rogue_no_more_arrives_than_the_port_and_its_buffer_can_take(
        self, run: ExperimentRun
    ) -> None:
        """1/N of what N senders at line rate send fits through the port; 4.5 MB of 128 MB * N wait in it."""
        share = delivered_share(run, "roce-uc")
        senders = share.index.get_level_values("workload.senders").to_numpy()
        assert (share <= (1 + 4.5 / 128) / senders).all(), share
        assert (share[senders > 2] < 0.5).all(), "most is lost"
