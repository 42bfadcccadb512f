"""Where the window rule must come to rest, from arithmetic alone.

With a base-RTT floor B0 the rates sum to C when each of N windows holds c = C * B0 / (N * packet wire bits)
packets, and nothing moves while alpha <= c * (rtt - B0) / rtt <= beta. So the round-trip time rests between
B0 * c / (c - alpha) and B0 * c / (c - beta).
  run       experiments/rogue-paper/incast.yaml with 4 and 8 senders, RoGUE only, 2 s, seeds 1 to 3
  rtt       median of the agent's accepted samples
  symmetry  mean goodput of each host over the seeds, as a fraction of the hosts' mean
"""

import pytest
from helpers.experiment_run import MTU_OF_BOUNDS, ExperimentRun, jain, nearest_rank, run_experiment

ALPHA_PACKETS, BETA_PACKETS = 2, 4
BASE_RTT_FLOOR_US = 50
PACKETS_PER_FLOOR = 10e9 * 50e-6 / (1106 * 8)
SHORT = (
    "repetitions=3",
    "transports=[rogue]",
    "workload.repeat_for=2s",
    "factors={workload.senders: [4, 8]}",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRun:
    return run_experiment("rogue-paper/incast", tmp_path_factory.mktemp("equilibrium"), MTU_OF_BOUNDS, *SHORT)


def test_worked_bounds() -> None:
    """N = 4: c = 14.1 packets, 58.3 to 69.8 us; N = 8: c = 7.06 packets, 69.8 to 115.3 us."""
    assert bounds_us(4) == pytest.approx((58.25, 69.75), abs=0.01)
    assert bounds_us(8) == pytest.approx((69.75, 115.3), abs=0.1)


def bounds_us(senders: int) -> tuple[float, float]:
    packets = PACKETS_PER_FLOOR / senders
    low_us, high_us = (
        BASE_RTT_FLOOR_US * packets / (packets - kept) for kept in (ALPHA_PACKETS, BETA_PACKETS)
    )
    return low_us, high_us


@pytest.mark.parametrize("senders", [4, 8])
def test_round_trips_rest_between_the_bounds(run: ExperimentRun, senders: int) -> None:
    samples = run.table("rtt")
    samples = samples[(samples["workload.senders"] == senders) & samples["accepted"]]
    low_us, high_us = bounds_us(senders)
    assert low_us <= nearest_rank(samples["rtt_ns"], 50) / 1000 <= high_us


@pytest.mark.parametrize("senders", [4, 8])
def test_no_host_is_favoured_by_its_number(run: ExperimentRun, senders: int) -> None:
    rows = run.table("throughput")
    rows = rows[rows["workload.senders"] == senders]
    per_host = rows.groupby(["seed", "src"])["goodput_bps"].mean()
    assert (per_host.groupby("seed").apply(jain) >= 0.99).all()
    over_seeds = per_host.groupby("src").mean()
    assert (abs(over_seeds / over_seeds.mean() - 1) <= 0.06).all(), over_seeds
