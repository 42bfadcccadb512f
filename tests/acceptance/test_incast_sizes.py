"""Incasts of 2 to 30 senders into one 10 Gb/s port: what RoGUE must give them.

Fixed before the first run; a later change needs an ADR that quotes both figures.
  runs       experiments/rogue-paper/incast-sizes.yaml (2 to 8 senders, WRITE and READ) and
             experiments/rogue-paper/many-senders.yaml (12, 15, 20, 30 senders, WRITE): RC, senders repeating
             128 MB for 20 s, MTU 1024, framing `rocev2`, profile `cx3pro`, 1 us links, base-RTT floor 50 us,
             for the slow tenth of two flows 52 us, which is 50 and the card's own 2 (ADR 9), seeds 1 to 5
  share      payload goodput of the port over N: 10 Gb/s * 1024 / 1106 / N
  goodput    payload delivered in order per flow and whole second, all 20 seconds, the first included
  utilisation  mean over the seconds of all flows' sum, over 10 Gb/s * 1024 / 1106; each seed
  slow tenth 10th percentile, nearest rank, over all flows' 1-s goodput; each seed
  Jain, least  over the flows' goodput of the whole run; each seed

The queue of 12 and more senders is reported and has no bound: their windows are at their minimum.
"""

import pandas as pd
import pytest
from helpers.experiment_run import MTU_OF_BOUNDS, ExperimentRun, jain, nearest_rank, run_experiment

IDEAL_BPS = 10e9 * 1024 / 1106
VERBS = ("write", "read")
FLOOR_WITH_CARD = "transports=[{name: rogue, label: rogue, base_rtt_floor: 52us}]"


def shares(run: ExperimentRun) -> pd.DataFrame:
    """One row per cell, flow and second: goodput as a fraction of the ideal share."""
    rows = run.table("throughput")
    rows = rows[rows["flow_id"].str.startswith("main/")].rename(columns={"workload.senders": "senders"})
    return rows.assign(share=rows["goodput_bps"] * rows["senders"] / IDEAL_BPS)


@pytest.fixture(scope="module", params=VERBS)
def few(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    out = tmp_path_factory.mktemp(f"incast-{request.param}")
    return shares(
        run_experiment("rogue-paper/incast-sizes", out, MTU_OF_BOUNDS, f"workload.verb={request.param}")
    )


@pytest.fixture(scope="module", params=VERBS)
def two(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    out = tmp_path_factory.mktemp(f"two-{request.param}")
    factors = f"factors={{workload.senders: [2], workload.verb: [{request.param}]}}"
    return shares(run_experiment("rogue-paper/incast-sizes", out, MTU_OF_BOUNDS, factors, FLOOR_WITH_CARD))


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    return shares(
        run_experiment("rogue-paper/many-senders", tmp_path_factory.mktemp("many-senders"), MTU_OF_BOUNDS)
    )


@pytest.mark.long
class TestTwoToEight:
    def test_every_second_of_every_flow(self, few: pd.DataFrame) -> None:
        counts = few.groupby(["senders", "seed"]).size()
        assert [(*key, count) for key, count in counts.items()] == [
            (senders, seed, senders * 20) for senders in range(2, 9) for seed in range(1, 6)
        ]

    def test_utilisation(self, few: pd.DataFrame) -> None:
        by_second = few.groupby(["senders", "seed", "t_ns"])["goodput_bps"].sum()
        utilisation = by_second.groupby(["senders", "seed"]).mean() / IDEAL_BPS
        assert (utilisation >= 0.97).all(), utilisation

    def test_slow_tenth_of_two(self, two: pd.DataFrame) -> None:
        tenths = two.groupby("seed")["share"].apply(nearest_rank, percent=10)
        assert len(tenths) == 5
        assert (tenths >= 0.70).all(), tenths

    @pytest.mark.parametrize(("senders", "bound"), [((3,), 0.70), ((4, 5, 6, 7, 8), 0.85)])
    def test_slow_tenth(self, few: pd.DataFrame, senders: tuple[int, ...], bound: float) -> None:
        chosen = few[few["senders"].isin(senders)]
        tenths = chosen.groupby(["senders", "seed"])["share"].apply(nearest_rank, percent=10)
        assert (tenths >= bound).all(), tenths


@pytest.mark.long
class TestTwelveToThirty:
    def test_fairness(self, many: pd.DataFrame) -> None:
        per_flow = many.groupby(["senders", "seed", "flow_id"])["share"].mean()
        fairness = per_flow.groupby(["senders", "seed"]).apply(jain)
        assert len(fairness) == 20
        assert (fairness >= 0.85).all(), fairness

    def test_nobody_below_half(self, many: pd.DataFrame) -> None:
        least = (
            many.groupby(["senders", "seed", "flow_id"])["share"].mean().groupby(["senders", "seed"]).min()
        )
        assert (least >= 0.5).all(), least
