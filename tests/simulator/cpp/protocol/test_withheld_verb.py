"""ConnectX-3 after a loss: the next verb waits until the current one is acknowledged."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.networks import GBPS, MILLISECOND_NS, connect, direct

from rogue.simulator import IDEAL, BurstLoss, IndependentLoss, NicProfile, Simulation

MTU = 1024
WITHHOLDING = replace(IDEAL, withholds_next_verb=True)
PACKET_PS = 897_600
ROUND_TRIP_PS = PACKET_PS + 1_000_000 + 68_800 + 1_000_000


def gaps_ps(profile: NicProfile) -> list[int]:
    """Times between completions of twelve one-packet verbs, of which the third is lost once."""
    simulation = direct(profile=profile)
    simulation.record_oracle_rtt()
    queue_pair = connect(simulation, "a", "b")
    simulation.cut_link("a", "b", start_ns=2_000, duration_ns=1)  # 0 has arrived; 1 and 2 are on it
    for wr_id in range(12):
        queue_pair.post_write(wr_id, MTU, True)
    simulation.run_until(MILLISECOND_NS)
    simulation.check_invariants()
    gaps: list[int] = np.diff(simulation.oracle_table()["t_comp_ps"]).tolist()
    return gaps


def test_small_verbs_take_a_round_trip_each_until_all_is_sent_again() -> None:
    # 1 and 2 are lost. 3 opens the gap at 4.5904 us; the NAK is back at 5.6592 us, when 6 is leaving. So 1 to
    # 6 go one by one, and 7 follows 6 at once.
    assert gaps_ps(WITHHOLDING)[1:] == [ROUND_TRIP_PS] * 5 + [PACKET_PS] * 5


def test_other_cards_go_on_at_line_rate() -> None:
    assert gaps_ps(IDEAL)[1:] == [PACKET_PS] * 10


def delivered(profile: NicProfile, verb_bytes: int) -> int:
    simulation = Simulation(seed=1)
    for name in ("a", "b"):
        simulation.add_host(name, profile)
    loss = IndependentLoss(0.001)
    simulation.add_link("a", "b", rate_bps=10 * GBPS, delay_ps=10_000_000, loss=loss)
    queue_pair = connect(simulation, "a", "b", timeout_exponent=7)
    for wr_id in range(2 * 10**7 // verb_bytes):
        queue_pair.post_write(wr_id, verb_bytes, True)
    simulation.run_until(10 * MILLISECOND_NS)
    return queue_pair.delivered_bytes


def test_small_verbs_suffer_and_large_ones_barely_notice() -> None:
    small = delivered(WITHHOLDING, 1024) / delivered(IDEAL, 1024)
    large = delivered(WITHHOLDING, 65_536) / delivered(IDEAL, 65_536)
    assert small < 0.75 < 0.9 < large


@pytest.mark.parametrize("seed", range(5))
def test_everything_arrives_in_bursts_of_losses(seed: int) -> None:
    simulation = Simulation(seed=seed)
    for name in ("a", "b"):
        simulation.add_host(name, WITHHOLDING)
    loss = BurstLoss(to_bad_probability=0.01, to_good_probability=0.3)
    simulation.add_link("a", "b", rate_bps=10 * GBPS, delay_ps=1_000_000, loss=loss)
    queue_pair = connect(simulation, "a", "b", timeout_exponent=4)
    for wr_id in range(300):
        post = (queue_pair.post_write, queue_pair.post_read, queue_pair.post_send)[wr_id % 3]
        post(wr_id, 3_000, True)
    simulation.run_until(500 * MILLISECOND_NS)
    assert queue_pair.delivered_bytes == 300 * 3_000
    simulation.check_invariants()
