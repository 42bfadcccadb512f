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

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
EXPERIMENT = ROOT / "experiments/rogue-paper/incast.yaml"
SHARE_BPS = 10e9 * 1024 / 1106 / 8


class Incast:
    """The tables of one run, per transport one data frame over all cells with a `seed` column."""

    def __init__(self, run: Path) -> None:
        manifest = json.loads((run / "manifest.json").read_text())
        self.cells = [cell for cell in manifest["cells"] if cell["status"] == "ok"]
        self.run = run

    def table(self, name: str, transport: str) -> pd.DataFrame:
        frames = [
            pd.read_parquet(self.run / "cells" / cell["id"] / f"{name}.parquet").assign(seed=cell["seed"])
            for cell in self.cells
            if cell["transport"] == transport
        ]
        return pd.concat(frames, ignore_index=True)

    def goodput_shares(self, transport: str) -> pd.DataFrame:
        """One row per seed, flow and second: goodput as a fraction of the ideal share."""
        rows = self.table("throughput", transport)
        rows = rows[rows["flow_id"].str.startswith("main/")]
        return rows.assign(share=rows["goodput_bps"] / SHARE_BPS)

    def receiver_queue(self, transport: str) -> pd.DataFrame:
        """The samples of the switch port that all senders share."""
        rows = self.table("queues", transport)
        return rows[rows["port"] == rows.groupby("port")["bytes"].mean().idxmax()]


def run_experiment(out: Path, *settings: str) -> Incast:
    command = [sys.executable, "-m", "harness", "run", str(EXPERIMENT), "--out", str(out)]
    command += [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return Incast(Path(done.stdout.strip().splitlines()[-1]))


def nearest_rank(values: pd.Series, percent: float) -> float:
    return float(np.sort(values)[int(np.ceil(percent / 100 * len(values))) - 1])


def jain(rates: pd.Series) -> float:
    return float(rates.sum() ** 2 / (len(rates) * (rates**2).sum()))


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Incast:
    return run_experiment(tmp_path_factory.mktemp("incast"))


@pytest.mark.long
class TestTwentySecondsFiveSeeds:
    def test_median_goodput_is_the_ideal_share(self, full: Incast) -> None:
        medians = full.goodput_shares("rogue").groupby("seed")["share"].apply(nearest_rank, percent=50)
        assert sorted(medians.index) == [1, 2, 3, 4, 5]
        assert abs(medians.median() - 1) <= 0.03, medians
        assert (abs(medians - 1) <= 0.05).all(), medians

    def test_slow_seconds_stay_near_the_share(self, full: Incast) -> None:
        tenths = full.goodput_shares("rogue").groupby("seed")["share"].apply(nearest_rank, percent=10)
        assert (tenths >= 0.85).all(), tenths

    def test_flows_are_treated_alike(self, full: Incast) -> None:
        per_flow = full.goodput_shares("rogue").groupby(["seed", "flow_id"])["share"].mean()
        fairness = per_flow.groupby("seed").apply(jain)
        assert (fairness >= 0.98).all(), fairness

    def test_queue_stays_short(self, full: Incast) -> None:
        medians = full.receiver_queue("rogue").groupby("seed")["bytes"].apply(nearest_rank, percent=50)
        assert (medians <= 200_000).all(), medians

    def test_rtt_estimates_are_true(self, full: Incast) -> None:
        samples = full.table("rtt", "rogue").query("accepted")
        error_ns = (samples["rtt_ns"] - samples["true_rtt_ns"]).groupby(samples["seed"]).median()
        assert (error_ns.abs() <= 3_000).all(), error_ns

    def test_native_roce_starves_some_flows(self, full: Incast) -> None:
        tenths = {
            transport: full.goodput_shares(transport).groupby("seed")["share"].apply(nearest_rank, percent=10)
            for transport in ("rogue", "roce")
        }
        assert tenths["roce"].median() <= tenths["rogue"].median() / 2, tenths
