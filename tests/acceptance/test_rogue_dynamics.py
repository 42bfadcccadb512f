"""Tests: RoGUE's start, sharing, noise and equilibrium."""

from pathlib import Path

import pandas as pd
import pytest
from helpers.experiments import cell_of
from helpers.paper_runs import MTU_OF_BOUNDS, ExperimentRun, jain, nearest_rank, run_experiment

from rogue.harness.testbeds.simulator import SimulatorTestbed

ALONE = """\
name: alone
topology: {kind: star, hosts: 2, rate: 10Gbps, delay: 1us, nic: ideal}
workload: {kind: incast, senders: 1, size: 64MB, repeat_for: 20ms}
transports: [rogue]
measure: [rtt]
"""


def test_nine_updates_of_six_batches(tmp_path: Path) -> None:
    result = SimulatorTestbed().run(cell_of(tmp_path, text=ALONE), lambda _fraction: None)
    assert result.failure is None
    rtt = result.tables["rtt"]
    updates = [
        (t_ns, rate)
        for t_ns, rate, accepted in zip(rtt["t_ns"], rtt["limiter_bps"], rtt["accepted"], strict=True)
        if accepted
    ]
    rates = [rate for _, rate in updates]
    at_line_rate = next(number for number, rate in enumerate(rates, start=1) if rate >= 9.9e9)
    assert 8 <= at_line_rate <= 10, rates[:12]
    batches = [5, *[6] * 8]
    expected_ns = sum(8 * 70_784 * n / (1.77 + step) for step, n in enumerate(batches))
    assert expected_ns == pytest.approx(6.70e6, rel=0.01)
    assert updates[at_line_rate - 1][0] == pytest.approx(expected_ns, rel=0.03)


IDEAL_BPS = 10e9 * 1024 / 1106
SECOND_NS = 1_000_000_000
STEP_NS = 10 * SECOND_NS
FLOWS = [1, 2, 3, 4, 5, 4, 3, 2, 1]
FLOORS_US = (50, 52)


@pytest.fixture(scope="module", params=FLOORS_US)
def levels(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> pd.Series:
    """Mean goodput by seed, level and flow."""
    floor = f"transports=[{{name: rogue, label: rogue, base_rtt_floor: {request.param}us}}]"
    run: ExperimentRun = run_experiment(
        "rogue-paper/figure-12", tmp_path_factory.mktemp("staggered"), floor, MTU_OF_BOUNDS
    )
    rows = run.table("throughput")
    rows = rows[rows["flow_id"].str.startswith("main/")]
    rows = rows.assign(level=(rows["t_ns"] - 1) // STEP_NS)
    settled = rows[rows["t_ns"] - rows["interval_ns"] >= rows["level"] * STEP_NS + SECOND_NS]
    sender = settled["src"].str.removeprefix("h").astype(int)
    taking_part = sender < settled["level"].map(dict(enumerate(FLOWS)))
    return settled[taking_part].groupby(["seed", "level", "flow_id"])["goodput_bps"].mean()


@pytest.fixture
def judged(levels: pd.Series, request: pytest.FixtureRequest) -> pd.Series:
    """The levels whose fairness has a bound at this floor."""
    is_low = request.node.callspec.params["levels"] == FLOORS_US[0]
    flows = levels.groupby(["seed", "level"]).transform("size")
    return levels[flows != 2] if is_low else levels


@pytest.mark.long
class TestOneToFiveToOne:
    def test_every_level_of_every_seed(self, levels: pd.Series) -> None:
        counts = levels.groupby(["seed", "level"]).size()
        assert list(counts) == FLOWS * 5

    def test_aggregate(self, levels: pd.Series) -> None:
        aggregate = levels.groupby(["seed", "level"]).sum() / IDEAL_BPS
        assert (aggregate >= 0.98).all(), aggregate

    def test_fairness(self, judged: pd.Series) -> None:
        fairness = judged.groupby(["seed", "level"]).apply(jain)
        assert (fairness >= 0.93).all(), fairness

    def test_most_over_least(self, judged: pd.Series) -> None:
        groups = judged.groupby(["seed", "level"])
        ratio = groups.max() / groups.min()
        assert (ratio <= 2.1).all(), ratio


NOISE = "transports[0].rtt_noise"


@pytest.fixture(scope="module")
def aggregate_bps(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """A row per seed, a column per x."""
    rows = run_experiment("rogue-paper/figure-8", tmp_path_factory.mktemp("noise"), MTU_OF_BOUNDS).table(
        "throughput"
    )
    rows = rows[rows["flow_id"].str.startswith("main/")]
    by_second = rows.groupby([NOISE, "seed", "t_ns"])["goodput_bps"].sum()
    return by_second.groupby(["seed", NOISE]).mean().unstack()


@pytest.mark.long
class TestNoise:
    def test_every_seed_and_point(self, aggregate_bps: pd.DataFrame) -> None:
        assert list(aggregate_bps.index) == [1, 2, 3, 4, 5]
        assert set(aggregate_bps.columns) == {"0us", "25us", "50us", "75us", "100us"}
        assert not aggregate_bps.isna().any(axis=None)

    @pytest.mark.parametrize("noise", ["25us", "50us"])
    def test_no_visible_loss(self, aggregate_bps: pd.DataFrame, noise: str) -> None:
        kept = aggregate_bps[noise] / aggregate_bps["0us"]
        assert (kept >= 0.97).all(), kept


ALPHA_PACKETS, BETA_PACKETS = 2, 4
BASE_RTT_FLOOR_US = 50
PACKETS_PER_FLOOR = 10e9 * 50e-6 / (2130 * 8)
SHORT = (
    "repetitions=3",
    "transports=[rogue]",
    "workload.repeat_for=2s",
    "factors={workload.senders: [3, 4]}",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRun:
    return run_experiment("rogue-paper/incast", tmp_path_factory.mktemp("equilibrium"), *SHORT)


def test_worked_bounds() -> None:
    """N = 3: c = 9.78 packets, 62.9 to 84.6 us; N = 4: c = 7.34 packets, 68.7 to 110 us.

    With N = 8 c is below beta, and there are no bounds: a flow has fewer packets than it may queue.
    """
    assert bounds_us(3) == pytest.approx((62.85, 84.6), abs=0.05)
    assert bounds_us(4) == pytest.approx((68.74, 110.0), abs=0.1)


def bounds_us(senders: int) -> tuple[float, float]:
    packets = PACKETS_PER_FLOOR / senders
    low_us, high_us = (
        BASE_RTT_FLOOR_US * packets / (packets - kept) for kept in (ALPHA_PACKETS, BETA_PACKETS)
    )
    return low_us, high_us


@pytest.mark.parametrize("senders", [3, 4])
def test_round_trips_rest_between_the_bounds(run: ExperimentRun, senders: int) -> None:
    samples = run.table("rtt")
    samples = samples[(samples["workload.senders"] == senders) & samples["accepted"]]
    low_us, high_us = bounds_us(senders)
    assert low_us <= nearest_rank(samples["rtt_ns"], 50) / 1000 <= high_us


@pytest.mark.parametrize("senders", [3, 4])
def test_no_host_is_favoured_by_its_number(run: ExperimentRun, senders: int) -> None:
    rows = run.table("throughput")
    rows = rows[rows["workload.senders"] == senders]
    per_host = rows.groupby(["seed", "src"])["goodput_bps"].mean()
    assert (per_host.groupby("seed").apply(jain) >= 0.99).all()
    over_seeds = per_host.groupby("src").mean()
    assert (abs(over_seeds / over_seeds.mean() - 1) <= 0.06).all(), over_seeds
