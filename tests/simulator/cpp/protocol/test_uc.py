"""Unreliable connections by hand: 1122 wire bytes for a first packet, 1106 for the others, .8 ns each."""

from dataclasses import replace

import pytest
from helpers.networks import GBPS, MILLISECOND_NS, Host, Star, counter, direct

from rogue.simulator import CX3PRO, QueuePair, QueuePairError, Simulation

MTU = 1024
Received = list[tuple[int, int, int, int, int | None]]


def ends(simulation: Simulation, a: str = "a", b: str = "b") -> tuple[QueuePair, QueuePair]:
    return simulation.connect(a, b, mtu_bytes=MTU, retry_count=7, timeout_exponent=4, service="uc")


def listen(queue_pair: QueuePair) -> Received:
    received: Received = []
    queue_pair.attach(
        lambda now, completions: None,
        lambda now, state: None,
        lambda now, receives: received.extend(receives),
    )
    return received


def test_a_verb_is_done_when_its_last_packet_has_left() -> None:
    simulation = direct()
    simulation.record_oracle_rtt()
    sender, _ = ends(simulation)
    host = Host(sender)
    sender.post_write(1, 10 * MTU, True)
    sender.post_write(2, 0, True)
    simulation.run_until(MILLISECOND_NS)
    left_ps = [897_600 + 9 * 884_800]
    left_ps.append(left_ps[0] + 98 * 800)
    assert simulation.oracle_table()["t_comp_ps"].tolist() == left_ps
    assert host.completions == [
        (wr_id, 0, at // 1000, length, None)
        for wr_id, at, length in zip((1, 2), left_ps, (10 * MTU, 0), strict=True)
    ]
    assert counter(simulation, "tx_bytes", "b->a") == 0  # nothing is acknowledged
    assert (sender.delivered_messages, sender.delivered_bytes) == (2, 10 * MTU)
    assert counter(simulation, "qp2.delivered_messages") == 2
    simulation.check_invariants()


def test_a_limiter_delays_completion() -> None:
    simulation = direct()
    simulation.record_oracle_rtt()
    sender, _ = ends(simulation)
    sender.set_rate(GBPS)
    sender.post_write(1, 64 * MTU, True)
    simulation.run_until(MILLISECOND_NS)
    assert simulation.oracle_table()["t_comp_ps"].tolist() == [8_976_000 + 62 * 8_848_000 + 884_800]


def test_an_immediate_completes_a_receive_at_the_other_end() -> None:
    simulation = direct()
    sender, receiver = ends(simulation)
    received = listen(receiver)
    sender.post_write(1, 3 * MTU, True)
    sender.post_write(2, 2 * MTU, True, imm=7)
    sender.post_write(3, 0, True, imm=2**32 - 1)
    simulation.run_until(MILLISECOND_NS)
    # Verb 1: .8976 + 2 * .8848; verb 2: .8976 + .8848 and 4 bytes more; 82 + 20 wire bytes; 1 us of cable.
    assert received == [(0, 0, 5_452, 2 * MTU, 7), (1, 0, 5_534, 0, 2**32 - 1)]


@pytest.mark.parametrize("lost_at_ns", [500, 3_000])
def test_a_message_that_lacks_a_packet_is_not_delivered(lost_at_ns: int) -> None:
    """The first packet of the first message is lost, or its fourth: the second message is not harmed."""
    simulation = direct()
    sender, receiver = ends(simulation)
    received = listen(receiver)
    simulation.cut_link("a", "b", start_ns=lost_at_ns, duration_ns=1)
    for wr_id in range(2):
        sender.post_write(wr_id, 10 * MTU, True, imm=wr_id)
    simulation.run_until(MILLISECOND_NS)
    assert [imm for *_, imm in received] == [1]
    assert (sender.delivered_messages, sender.delivered_bytes) == (1, 10 * MTU)
    assert sender.state == 3
    simulation.check_invariants()


def test_native_senders_lose_most_messages_of_an_incast() -> None:
    simulation = Star(
        hosts=9, buffer_bytes=1_000_000, profile=replace(CX3PRO, clock_drift_ppm_max=0.0)
    ).build()
    senders = [ends(simulation, f"h{i}", "h8")[0] for i in range(8)]
    for sender in senders:
        for wr_id in range(20):
            sender.post_write(wr_id, 65_536, True)
    simulation.run_until(20 * MILLISECOND_NS)
    delivered = sum(sender.delivered_messages for sender in senders)
    assert 0 < delivered < 0.5 * 160
    simulation.check_invariants()


def test_there_is_no_read() -> None:
    sender, _ = ends(direct())
    with pytest.raises(QueuePairError, match="queue pair 2 is of type UC, which has no READ"):
        sender.post_read(1, MTU, True)


def test_a_reset_forgets_what_has_not_left() -> None:
    simulation = direct()
    pair = ends(simulation)
    host = Host(pair[0])
    pair[0].post_write(1, 10**9, True)
    simulation.run_until(1_000)
    for end in pair:
        end.reset()
        end.ready(sq_psn=9, rq_psn=9)
    pair[0].post_write(2, 0, True)
    simulation.run_until(MILLISECOND_NS)
    assert host.statuses == [(2, 0)]
    assert pair[0].delivered_messages == 1
