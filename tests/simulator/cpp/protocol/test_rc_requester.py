"""Go-back-N by hand: a sends at 10 Gb/s, b hangs on a 1 Gb/s link behind a switch that holds two packets.

A packet of 1024 bytes takes 1106 wire bytes, 16 more if it is the first of its verb: 0.8848 us (0.8976) on
the fast link, 8.848 us (8.976) on the slow one. Each link delays by 1 us. Packet 0 reaches the switch at
1.8976 us and is sent on at once; packets 1 and 2 wait; 3 to 10 are refused; from 10.8736 us on there is
room for one more, and that is packet 11, which arrives at 11.6304 us.
"""

from dataclasses import replace

import numpy as np
import pytest
from helpers.networks import GBPS, MILLISECOND_NS, Host, connect, counter, direct, network

from rogue.simulator import IDEAL, BurstLoss, NicProfile, QueuePair, Simulation, SimulationError

MTU = 1024
TIMEOUT_8_PS = 4_096_000 << 8
NEVER_ARRIVES = 1 - 1e-12


def slow_receiver() -> Simulation:
    links = [("a", "s"), ("s", "b", {"rate_bps": GBPS})]
    return network(links, switch={"buffer_bytes": 3000, "alpha": 1000.0})


def sender(simulation: Simulation, packets: int, **overrides: int) -> QueuePair:
    queue_pair = connect(simulation, "a", "b", timeout_exponent=8, **overrides)
    queue_pair.post_write(1, packets * MTU, True)
    return queue_pair


def test_a_gap_has_one_nak() -> None:
    simulation = slow_receiver()
    sender(simulation, packets=24)
    # 0, 1, 2, 11 and 21 get through; 11 opens the gap (38.4176 us at b).
    simulation.run_until(41_000)
    assert counter(simulation, "drops", "s->b") == 24 - 5
    assert counter(simulation, "tx_bytes", "b->s") == 66
    # 21 finds it open at 47.2656 us, and what was sent again has not come yet (not before 52.9 us).
    simulation.run_until(50_000)
    assert counter(simulation, "tx_bytes", "b->s") == 66


def test_the_nak_rewinds_to_the_gap() -> None:
    simulation = slow_receiver()
    queue_pair = sender(simulation, packets=24)
    # The NAK leaves b at 38.4176, s at 40.1056 and reaches a at 41.1744 us.
    simulation.run_until(41_174)
    assert (counter(simulation, "naks"), queue_pair.retransmitted_bytes) == (0, 0)
    simulation.run_until(41_175)
    assert (counter(simulation, "naks"), queue_pair.retransmitted_bytes) == (1, MTU)
    simulation.run_until(41_175 + 885)
    assert queue_pair.retransmitted_bytes == 2 * MTU


def test_what_was_lost_comes_again_in_order() -> None:
    simulation = slow_receiver()
    queue_pair = sender(simulation, packets=24, ack_every_packets=1)
    host = Host(queue_pair)
    simulation.run_until(20 * MILLISECOND_NS)
    assert host.statuses == [(1, 0)]
    assert queue_pair.delivered_bytes == 24 * MTU
    assert simulation.statistics()["packets_live"] == 0
    simulation.check_invariants()


def test_a_nak_consumes_a_retry() -> None:
    simulation = slow_receiver()
    host = Host(sender(simulation, packets=24, retry_count=0))
    simulation.run_until(50_000)
    assert host.statuses == [(1, 12)]
    assert [now for now, _ in host.polls] == [41_174]


def test_progress_reloads_the_retries() -> None:
    simulation = slow_receiver()
    host = Host(sender(simulation, packets=24, retry_count=1, ack_every_packets=1))
    simulation.run_until(20 * MILLISECOND_NS)
    assert counter(simulation, "naks") >= 2
    assert host.statuses == [(1, 0)]


def test_only_the_timer_notices_a_lost_last_packet() -> None:
    simulation = slow_receiver()
    queue_pair = sender(simulation, packets=4)  # 3 is refused, and nothing follows it
    # Packet 0 left at 0.8976 us, and nothing was acknowledged: 1048.576 us later all four are sent again.
    simulation.run_until(1049_473)
    assert counter(simulation, "timeouts") == 0
    simulation.run_until(1049_474)
    assert counter(simulation, "timeouts") == 1
    assert queue_pair.retransmitted_bytes == MTU
    # b has three of them and acknowledges each duplicate; the fourth is refused again.
    simulation.run_until(1100_000)
    assert counter(simulation, "tx_bytes", "b->s") == 3 * 66
    simulation.run_until(3 * MILLISECOND_NS)
    assert queue_pair.delivered_bytes == 4 * MTU
    assert queue_pair.retransmitted_bytes == 5 * MTU  # after that progress only the fourth is missing
    simulation.check_invariants()


@pytest.mark.parametrize("retry_count", [0, 1, 7])
def test_the_queue_pair_fails_after_its_retries(retry_count: int) -> None:
    simulation = direct(loss_probability=NEVER_ARRIVES)
    queue_pair = connect(simulation, "a", "b", timeout_exponent=8, retry_count=retry_count)
    host = Host(queue_pair)
    queue_pair.post_write(1, MTU, True)
    queue_pair.post_write(2, 5, False)
    queue_pair.post_write(3, 0, True)
    simulation.run_until(20 * MILLISECOND_NS)
    failed_ns = (897_600 + (retry_count + 1) * TIMEOUT_8_PS) // 1000
    assert host.polls == [
        (failed_ns, [(1, 12, failed_ns, MTU, None), (2, 5, failed_ns, 5, None), (3, 5, failed_ns, 0, None)])
    ]
    assert host.events == [(failed_ns, 6)]
    assert counter(simulation, "timeouts") == retry_count + 1
    simulation.check_invariants()


def test_exponent_zero_disables_the_timeout() -> None:
    simulation = direct(loss_probability=NEVER_ARRIVES)
    queue_pair = connect(simulation, "a", "b", timeout_exponent=0, retry_count=0)
    queue_pair.post_write(1, MTU, True)
    simulation.run_until(3600 * 10**9)
    assert queue_pair.state == 3


@pytest.mark.long
def test_sequence_numbers_wrap() -> None:
    simulation = direct(rate_bps=10**13)
    queue_pair = connect(simulation, "a", "b", mtu_bytes=64)
    host = Host(queue_pair)
    queue_pair.post_write(1, 2**38 - 64, True)  # 2^32 - 1 packets of 2 * 10^9 in flight at most
    queue_pair.post_write(2, 1000, True)
    simulation.run_until(600 * 10**9)
    assert host.statuses == [(1, 0), (2, 0)]
    assert queue_pair.delivered_bytes == 2**38 - 64 + 1000


def test_more_packets_under_way_than_their_numbers_can_tell_apart_are_refused() -> None:
    simulation = direct(rate_bps=10**13, loss_probability=NEVER_ARRIVES)
    queue_pair = connect(simulation, "a", "b", mtu_bytes=256, timeout_exponent=0)
    queue_pair.post_write(1, 256 * 2**23, True)
    simulation.run_until(10 * MILLISECOND_NS)
    queue_pair.post_write(2, 0, True)
    with pytest.raises(SimulationError, match=r"more than 8388608 packets .* 24 bits cannot tell apart"):
        simulation.run_until(11 * MILLISECOND_NS)


def test_a_read_has_no_more_responses_than_their_numbers_can_tell_apart() -> None:
    simulation = direct()
    queue_pair = connect(simulation, "a", "b", mtu_bytes=1)
    queue_pair.post_read(1, 2**23 + 1, True)
    with pytest.raises(SimulationError, match="24 bits cannot tell apart"):
        simulation.run_until(MILLISECOND_NS)


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
    simulation = direct(profile, delay_ps=10_000_000, loss_probability=0.001)
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
    loss = BurstLoss(to_bad_probability=0.01, to_good_probability=0.3)
    simulation = network([("a", "b")], profile=WITHHOLDING, settings={"seed": seed}, loss=loss)
    queue_pair = connect(simulation, "a", "b", timeout_exponent=4)
    for wr_id in range(300):
        post = (queue_pair.post_write, queue_pair.post_read, queue_pair.post_send)[wr_id % 3]
        post(wr_id, 3_000, True)
    simulation.run_until(500 * MILLISECOND_NS)
    assert queue_pair.delivered_bytes == 300 * 3_000
    simulation.check_invariants()


CAPPED = replace(IDEAL, unacknowledged_packets_max=129)
FIRST_PS = 897_600
MIDDLE_PS = 884_800
"""The first one of a WRITE says where the bytes go."""
DELAY_PS = 100_000_000
ACKNOWLEDGED_PS = 2 * DELAY_PS + 68_800
"""From a packet's last byte until its ACK is there."""


def completed_ps(profile: NicProfile, packets: int, service: str = "rc") -> int:
    simulation = direct(profile, delay_ps=DELAY_PS)
    simulation.record_oracle_rtt()
    connect(simulation, "a", "b", service=service).post_write(1, packets * MTU, True)
    simulation.run_until(2 * MILLISECOND_NS)
    simulation.check_invariants()
    return int(simulation.oracle_table()["t_comp_ps"][0])


def test_packets_beyond_the_cap_wait_for_acknowledgements() -> None:
    # The 64th packet asks for an ACK, which lets 64 more leave; so does the 63rd of these, the 192nd of all.
    first_ps = FIRST_PS + 63 * MIDDLE_PS + ACKNOWLEDGED_PS
    second_ps = first_ps + 63 * MIDDLE_PS + ACKNOWLEDGED_PS
    assert completed_ps(CAPPED, 258) == second_ps + MIDDLE_PS + ACKNOWLEDGED_PS


def test_what_fits_leaves_at_once() -> None:
    alone_ps = FIRST_PS + 128 * MIDDLE_PS + ACKNOWLEDGED_PS
    assert completed_ps(CAPPED, 129) == completed_ps(IDEAL, 129) == alone_ps


def test_an_unreliable_connection_has_no_such_limit() -> None:
    assert completed_ps(CAPPED, 258, "uc") == completed_ps(IDEAL, 258, "uc")
