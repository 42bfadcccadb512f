"""Pacing by hand: 1122 wire bytes for a first packet, 1106 for the others; 8 ns per byte at 1 Gb/s."""

from dataclasses import replace
from statistics import mean

import numpy as np
import pytest
from helpers.networks import GBPS, MILLISECOND_NS, Star, connect
from numpy.typing import NDArray

from rogue.simulator import (
    CX3PRO,
    IDEAL,
    NicControl,
    NicProfile,
    QueuePair,
    QueuePairError,
    Simulation,
    SimulationError,
)

MTU = 1024
SECOND_NS = 10**9
ONLY_WIRE = 1122
ONE_LIMITER = replace(IDEAL, limiter_scope="per_priority", limiters=1)
EXACT = replace(CX3PRO, actuation_lag_bytes_max=0, clock_drift_ppm_max=0.0)


def two_hosts(profile: NicProfile = IDEAL, seed: int = 1) -> Simulation:
    simulation = Star(hosts=2, profile=profile).build(seed=seed)
    simulation.record_oracle_rtt()
    return simulation


def one_sender(profile: NicProfile = IDEAL, seed: int = 1) -> tuple[Simulation, QueuePair]:
    simulation = two_hosts(profile, seed)
    return simulation, connect(simulation, "h0", "h1")


def left_ps(simulation: Simulation, qp_num: int = 2) -> NDArray[np.int64]:
    """Return when the last byte of each verb left the NIC."""
    table = simulation.oracle_table()
    return table["t_last_ps"][table["qp_num"] == qp_num]


def test_packets_are_paced_in_wire_bytes() -> None:
    simulation, queue_pair = one_sender()
    assert queue_pair.set_rate(GBPS) == GBPS
    queue_pair.post_write(1, 10 * MTU, True)
    simulation.run_until(MILLISECOND_NS)
    # The tenth starts one first and eight other gaps after the first, and leaves at line rate.
    assert left_ps(simulation).tolist() == [8_976_000 + 8 * 8_848_000 + 884_800]


@pytest.mark.parametrize(
    ("requested_bps", "effective_bps"),
    [(1, 10**8), (10**8, 10**8), (10**8 + 1, 2 * 10**8), (9_999_999_999, 10**10), (0, 0)],
)
def test_connectx3_rounds_up_to_its_steps(requested_bps: int, effective_bps: int) -> None:
    _, queue_pair = one_sender(CX3PRO)
    assert queue_pair.set_rate(requested_bps) == effective_bps


def test_zero_removes_the_limit() -> None:
    simulation, queue_pair = one_sender()
    queue_pair.set_rate(GBPS)
    queue_pair.set_rate(0)
    queue_pair.post_write(1, 10 * MTU, True)
    simulation.run_until(MILLISECOND_NS)
    assert left_ps(simulation).tolist() == [897_600 + 9 * 884_800]


def wire_bytes_at_line_rate(simulation: Simulation) -> int:
    """Wire bytes of the one-packet verbs that left before the first pause; the last of them opens it."""
    gaps = np.diff(left_ps(simulation))
    return int(np.argmax(gaps > 897_600) + 1) * ONLY_WIRE


def lag_bytes(seed: int, profile: NicProfile) -> int:
    simulation, queue_pair = one_sender(profile, seed)
    queue_pair.set_rate(10**8)
    for wr_id in range(200):
        queue_pair.post_write(wr_id, MTU, True)
    simulation.run_until(100 * MILLISECOND_NS)
    return wire_bytes_at_line_rate(simulation)


def test_a_new_rate_acts_after_a_random_number_of_sent_bytes() -> None:
    lags = [lag_bytes(seed, CX3PRO) for seed in range(60)]
    assert all(0 < lag <= 160_000 + ONLY_WIRE for lag in lags)
    # Uniform in 0 ... 160 000, and half a packet more: sigma of the mean is 46 188 / sqrt(60) = 5963.
    assert mean(lags) == pytest.approx(80_000 + ONLY_WIRE / 2, abs=3 * 5963)
    assert min(lags) < 20_000 and max(lags) > 140_000


def test_the_latest_of_two_requests_wins() -> None:
    simulation, queue_pair = one_sender(replace(CX3PRO, clock_drift_ppm_max=0.0))
    queue_pair.set_rate(10**8)
    queue_pair.set_rate(2 * 10**8)
    for wr_id in range(200):
        queue_pair.post_write(wr_id, MTU, True)
    simulation.run_until(100 * MILLISECOND_NS)
    assert set(np.diff(left_ps(simulation)).tolist()) == {897_600, ONLY_WIRE * 40_000}


def test_queue_pairs_of_one_priority_share_its_limiter_in_turns() -> None:
    simulation = two_hosts(ONE_LIMITER)
    first, second = connect(simulation, "h0", "h1"), connect(simulation, "h0", "h1")
    first.set_rate(GBPS)
    for queue_pair in (first, second):
        for wr_id in range(3):
            queue_pair.post_write(wr_id, MTU, True)
    simulation.run_until(MILLISECOND_NS)
    gap_ps = ONLY_WIRE * 8_000
    assert left_ps(simulation, first.qp_num).tolist() == [897_600 + n * gap_ps for n in (0, 2, 4)]
    assert left_ps(simulation, second.qp_num).tolist() == [897_600 + n * gap_ps for n in (1, 3, 5)]


def test_connectx3_gives_the_ninth_queue_pair_the_first_limiter() -> None:
    simulation = two_hosts(EXACT)
    queue_pairs = [connect(simulation, "h0", "h1") for _ in range(9)]
    queue_pairs[0].set_rate(GBPS)
    for number in (7, 8):
        for wr_id in range(2):
            queue_pairs[number].post_write(wr_id, MTU, True)
    simulation.run_until(MILLISECOND_NS)
    # The eighth is alone on its limiter: it sends first, and again when the line is free.
    assert left_ps(simulation, queue_pairs[7].qp_num).tolist() == [897_600, 3 * 897_600]
    # The ninth waits for the line, then one gap of the first one's limiter from when it could have started.
    assert left_ps(simulation, queue_pairs[8].qp_num).tolist() == [2 * 897_600, ONLY_WIRE * 8_000 + 897_600]


def test_a_shadow_shares_the_limiter_of_its_main_pair() -> None:
    simulation = two_hosts(EXACT)
    _, main = (connect(simulation, "h0", "h1") for _ in range(2))
    shadow = simulation.connect(
        "h1", "h0", mtu_bytes=MTU, retry_count=1, timeout_exponent=14, limiter_of=main
    )
    third = connect(simulation, "h0", "h1")
    main.set_rate(GBPS)
    for queue_pair in (shadow[1], third):
        for wr_id in range(2):
            queue_pair.post_write(wr_id, MTU, True)
    simulation.run_until(MILLISECOND_NS)
    # h0's end of the shadow obeys its main pair's limiter; the next pair has the next one, which is free.
    assert np.diff(left_ps(simulation, shadow[1].qp_num)).tolist() == [ONLY_WIRE * 8_000]
    assert np.diff(left_ps(simulation, third.qp_num)).tolist() == [897_600]


def test_an_idle_queue_pair_moves_to_another_limiter() -> None:
    simulation = two_hosts(EXACT)
    first, second = connect(simulation, "h0", "h1"), connect(simulation, "h0", "h1")
    first.set_rate(GBPS)
    second.use_limiter(0)
    for wr_id in range(2):
        second.post_write(wr_id, MTU, True)
    with pytest.raises(QueuePairError, match="queue pair 4 is not idle: use_limiter needs an empty"):
        second.use_limiter(1)
    simulation.run_until(MILLISECOND_NS)
    assert np.diff(left_ps(simulation, second.qp_num)).tolist() == [ONLY_WIRE * 8_000]
    second.use_limiter(1)
    for wr_id in range(2):
        second.post_write(wr_id, MTU, True)
    simulation.run_until(2 * MILLISECOND_NS)
    assert np.diff(left_ps(simulation, second.qp_num)).tolist()[-1] == 897_600
    second.use_limiter(7)
    with pytest.raises(SimulationError, match="the NIC has no limiter 8"):
        second.use_limiter(8)


def test_a_limiter_is_shared_only_between_the_same_two_hosts() -> None:
    simulation = Star(hosts=3).build()
    main = connect(simulation, "h0", "h1")
    with pytest.raises(SimulationError, match="expected limiter_of to connect the same two hosts"):
        connect(simulation, "h0", "h2", limiter_of=main)


def test_unlimited_queue_pairs_take_turns_per_packet() -> None:
    simulation = two_hosts()
    queue_pairs = [connect(simulation, "h0", "h1") for _ in range(3)]
    for queue_pair in queue_pairs:
        for wr_id in range(4):
            queue_pair.post_write(wr_id, MTU, True)
    simulation.run_until(MILLISECOND_NS)
    for position, queue_pair in enumerate(queue_pairs):
        expected = [(position + 1 + 3 * turn) * 897_600 for turn in range(4)]
        assert left_ps(simulation, queue_pair.qp_num).tolist() == expected


def test_limits_that_fill_the_line_are_all_met() -> None:
    simulation = Star(hosts=4).build()
    rates = [6 * GBPS, 3 * GBPS, GBPS]
    queue_pairs = [connect(simulation, "h0", f"h{i + 1}") for i in range(3)]
    for queue_pair, rate_bps in zip(queue_pairs, rates, strict=True):
        queue_pair.set_rate(rate_bps)
        queue_pair.post_write(1, 10**9, True)
    simulation.run_until(100 * MILLISECOND_NS)
    for queue_pair, rate_bps in zip(queue_pairs, rates, strict=True):
        expected = rate_bps * MTU / 1106 / 8 / 10
        assert queue_pair.delivered_bytes == pytest.approx(expected, rel=1e-3)


def test_pacing_runs_on_the_oscillator_of_the_nic() -> None:
    simulation, queue_pair = one_sender(replace(CX3PRO, actuation_lag_bytes_max=0))
    start_ns = queue_pair.nic_clock_ns()
    queue_pair.set_rate(GBPS)
    queue_pair.post_write(1, MTU, True)
    queue_pair.post_write(2, 10_000 * MTU, True)
    simulation.run_until(SECOND_NS)
    drift = (queue_pair.nic_clock_ns() - start_ns) / SECOND_NS - 1
    assert 1e-6 < abs(drift) <= 50e-6
    first_ps, last_ps = left_ps(simulation).tolist()
    paced_ps = (last_ps - 884_800) - (first_ps - 897_600)
    counted_ps = (2 * ONLY_WIRE + 9_999 * 1106) * 8_000 - 1106 * 8_000
    assert paced_ps * (1 + drift) == pytest.approx(counted_ps, abs=10_001 + counted_ps * 2e-9)


def test_bursts_leave_at_the_line_rate_and_their_gaps_come_after_them() -> None:
    """Three packets of 1122 wire bytes are a burst: 897.6 ns each, and 26 928 ns from start to start."""
    simulation = two_hosts()
    # A control that bursts, and whose rate does not move.
    still = {"initial_rate_bps": GBPS, "additive_increase_bps": 0, "beta": 1e-9}
    control = NicControl("timely", {"segment_bytes": 3 * ONLY_WIRE, **still})
    queue_pair = connect(simulation, "h0", "h1", control=control)
    for number in range(8):
        queue_pair.post_write(number, MTU, True)
    simulation.run_until(MILLISECOND_NS)
    burst = [897_600, 2 * 897_600, 3 * 897_600]
    starts = [0, 26_928_000, 2 * 26_928_000]
    assert left_ps(simulation).tolist() == [start + end for start in starts for end in burst][:8]
