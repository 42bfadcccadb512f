"""SEND, WRITE with immediate, READ, and unreliable connections by hand.

Wire bytes of a packet: 1122 for the first of a WRITE, 1106 for the others, 98 for a READ request, 1110 for
its first and last response; 0.8 ns each.
"""

import pytest
from helpers.networks import GBPS, MILLISECOND_NS, Host, Star, connect, counter, direct

from rogue.simulator import QueuePair, QueuePairError, Simulation, SimulationError

MTU = 1024
Received = list[tuple[int, int, int, int, int | None]]


def message_ends(simulation: Simulation, timeout_exponent: int = 4) -> tuple[QueuePair, QueuePair]:
    return simulation.connect(
        "a", "b", mtu_bytes=MTU, retry_count=7, timeout_exponent=timeout_exponent, ack_every_packets=1
    )


def listen(queue_pair: QueuePair) -> Received:
    received: Received = []
    queue_pair.attach(
        lambda now, completions: None,
        lambda now, state: None,
        lambda now, receives: received.extend(receives),
    )
    return received


def test_sends_and_immediates_are_received_in_order() -> None:
    simulation = direct()
    sender, receiver = message_ends(simulation)
    received = listen(receiver)
    sender.post_send(1, MTU, True)
    sender.post_write(2, MTU, True)
    sender.post_write(3, 5, True, imm=33)
    sender.post_send(4, 3 * MTU, True, imm=44)
    simulation.run_until(MILLISECOND_NS)
    assert [(wr_id, length, imm) for wr_id, _, _, length, imm in received] == [
        (0, MTU, None),
        (1, 5, 33),
        (2, 3 * MTU, 44),
    ]
    # Only a WRITE has 16 bytes of RETH, on its first packet; an immediate has 4 on the last one.
    payload = 5 * MTU + 5
    assert counter(simulation, "tx_bytes", "a->b") == payload + 6 * 62 + 2 * 16 + 2 * 4


@pytest.mark.parametrize("kind", ["send", "write"])
def test_each_message_is_received_once_in_spite_of_losses(kind: str) -> None:
    simulation = direct(loss_probability=0.2)
    sender, receiver = message_ends(simulation)
    host, received = Host(sender), listen(receiver)
    for wr_id in range(40):
        if kind == "send":
            sender.post_send(wr_id, 2 * MTU, True, imm=wr_id)
        else:
            sender.post_write(wr_id, 2 * MTU, True, imm=wr_id)
    simulation.run_until(100 * MILLISECOND_NS)
    assert host.statuses == [(wr_id, 0) for wr_id in range(40)]
    assert [imm for *_, imm in received] == list(range(40))
    simulation.check_invariants()


REQUEST_PS = 98 * 800
EDGE_PS, MIDDLE_PS = 1110 * 800, 1106 * 800
CABLE_PS = 1_000_000


def ends(simulation: Simulation, **overrides: int) -> tuple[QueuePair, QueuePair]:
    parameters = {"mtu_bytes": MTU, "retry_count": 7, "timeout_exponent": 8} | overrides
    return simulation.connect("a", "b", **parameters)


def completed_ps(simulation: Simulation) -> list[int]:
    ps: list[int] = simulation.oracle_table()["t_comp_ps"].tolist()
    return ps


def test_the_responses_come_as_fast_as_the_line() -> None:
    simulation = direct()
    simulation.record_oracle_rtt()
    reader, _ = ends(simulation)
    host = Host(reader)
    reader.post_read(1, 10 * MTU, True)
    simulation.run_until(MILLISECOND_NS)
    done_ps = REQUEST_PS + CABLE_PS + 2 * EDGE_PS + 8 * MIDDLE_PS + CABLE_PS
    assert completed_ps(simulation) == [done_ps]
    assert host.completions == [(1, 0, done_ps // 1000, 10 * MTU, None)]
    assert reader.delivered_bytes == 10 * MTU
    # The oracle: what lies between is the request's 1 us and the last response's.
    assert simulation.oracle_table()["t_last_ps"].tolist() == [done_ps - 2 * CABLE_PS]
    assert counter(simulation, "tx_bytes", "a->b") == 78
    assert counter(simulation, "tx_bytes", "b->a") == 2 * 1090 + 8 * 1086
    simulation.check_invariants()


def test_the_responder_s_limiter_paces_the_responses() -> None:
    simulation = direct()
    simulation.record_oracle_rtt()
    reader, responder = ends(simulation)
    responder.set_rate(GBPS)
    reader.post_read(1, 10 * MTU, True)
    simulation.run_until(MILLISECOND_NS)
    paced_ps = 1110 * 8_000 + 8 * 1106 * 8_000  # from the first start to the last one
    assert completed_ps(simulation) == [REQUEST_PS + CABLE_PS + paced_ps + EDGE_PS + CABLE_PS]


def test_only_sixteen_reads_are_under_way() -> None:
    simulation = direct()
    simulation.record_oracle_rtt()
    reader, _ = ends(simulation)
    for wr_id in range(18):
        reader.post_read(wr_id, 0, True)
    simulation.run_until(MILLISECOND_NS)
    # The responses take 86 wire bytes, less than the requests, so each comes 2 us after its request.
    responded_ps = CABLE_PS + 86 * 800 + CABLE_PS
    first = [(n + 1) * REQUEST_PS + responded_ps for n in range(16)]
    # The next two requests leave when the first two responses have come.
    assert completed_ps(simulation) == first + [at + REQUEST_PS + responded_ps for at in first[:2]]


def test_a_verb_behind_a_read_that_waits_waits_too() -> None:
    simulation = direct()
    reader, _ = ends(simulation)
    for wr_id in range(17):
        reader.post_read(wr_id, 0, True)
    reader.post_write(17, MTU, True)
    simulation.run_until(2_000)
    assert counter(simulation, "tx_bytes", "a->b") == 16 * 78
    simulation.run_until(MILLISECOND_NS)
    assert counter(simulation, "tx_bytes", "a->b") == 17 * 78 + 1102


def test_a_lost_response_is_asked_for_again_from_there_on() -> None:
    """Responses 0, 1, ... arrive at 2.0784 + 0.888 + 0.8848 n us; the cut at 4.5 us hits number 2."""
    simulation = direct()
    reader, _ = ends(simulation)
    host = Host(reader)
    simulation.cut_link("a", "b", start_ns=4_400, duration_ns=1)
    reader.post_read(1, 20 * MTU, True)
    simulation.run_until(MILLISECOND_NS)
    lost = counter(simulation, "lost_packets", "b->a")
    assert lost in {1, 2}
    assert host.statuses == [(1, 0)]
    assert counter(simulation, "naks") == 1
    assert counter(simulation, "timeouts") == 0
    assert reader.delivered_bytes == 20 * MTU
    assert reader.retransmitted_bytes == (20 - 2) * MTU  # 0 and 1 had come
    simulation.check_invariants()


def test_a_lost_request_is_noticed_by_the_timer() -> None:
    simulation = direct()
    simulation.record_oracle_rtt()
    reader, _ = ends(simulation)
    simulation.cut_link("a", "b", start_ns=10, duration_ns=1)
    reader.post_read(1, 0, True)
    simulation.run_until(10 * MILLISECOND_NS)
    again_ps = REQUEST_PS + (4_096_000 << 8)
    assert completed_ps(simulation) == [again_ps + REQUEST_PS + CABLE_PS + 86 * 800 + CABLE_PS]


def test_an_acknowledgement_waits_for_the_responses_before_it() -> None:
    """Otherwise it would also acknowledge the READ."""
    simulation = direct()
    simulation.record_oracle_rtt()
    reader, responder = ends(simulation)
    responder.set_rate(GBPS)
    reader.post_read(1, 10 * MTU, True)
    reader.post_write(2, MTU, True)
    simulation.run_until(MILLISECOND_NS)
    assert simulation.oracle_table()["wr_id"].tolist() == [1, 2]
    assert counter(simulation, "naks") == 0
    simulation.check_invariants()


@pytest.mark.parametrize("loss_probability", [0.01, 0.1])
def test_every_byte_comes_in_spite_of_losses(loss_probability: float) -> None:
    simulation = direct(loss_probability=loss_probability)
    reader, responder = ends(simulation, timeout_exponent=4)
    host = Host(reader)
    for wr_id in range(0, 60, 3):
        reader.post_read(wr_id, 5 * MTU, True)
        reader.post_write(wr_id + 1, 3 * MTU, True)
        reader.post_send(wr_id + 2, 100, True)
        responder.post_write(wr_id, 2 * MTU, True)
    for until in range(1, 101):
        simulation.run_until(until * MILLISECOND_NS)
        simulation.check_invariants()
    assert host.statuses == [(wr_id, 0) for wr_id in range(60)]
    assert reader.delivered_bytes == reader.posted_bytes == 20 * (8 * MTU + 100)
    assert simulation.statistics()["packets_live"] == 0


def test_the_oracle_reports_when_a_verb_left() -> None:
    simulation = Star(hosts=2).build()
    queue_pair = connect(simulation, "h0", "h1")
    left_ns: list[float] = []
    queue_pair.attach(
        lambda now, completions: left_ns.append(queue_pair.left_ns(completions[0][0])),
        lambda now, state: None,
    )
    queue_pair.post_write(1, 2 * MTU, True)
    with pytest.raises(SimulationError, match="left_ns: verb 1 is unknown or has not left"):
        queue_pair.left_ns(1)
    simulation.run_until(2_000)
    assert queue_pair.left_ns(1) == 1_782.4
    simulation.run_until(MILLISECOND_NS)
    assert left_ns == [1_782.4]


def uc_ends(simulation: Simulation, a: str = "a", b: str = "b") -> tuple[QueuePair, QueuePair]:
    return simulation.connect(a, b, mtu_bytes=MTU, retry_count=7, timeout_exponent=4, service="uc")


def test_a_verb_is_done_when_its_last_packet_has_left() -> None:
    simulation = direct()
    simulation.record_oracle_rtt()
    sender, _ = uc_ends(simulation)
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


def test_an_immediate_completes_a_receive_at_the_other_end() -> None:
    simulation = direct()
    sender, receiver = uc_ends(simulation)
    received = listen(receiver)
    sender.post_write(1, 3 * MTU, True)
    sender.post_write(2, 2 * MTU, True, imm=7)
    sender.post_write(3, 0, True, imm=2**32 - 1)
    simulation.run_until(MILLISECOND_NS)
    # Verb 1: 0.8976 + 2 * 0.8848; verb 2: 0.8976 + 0.8848 and 4 bytes more; 82 + 20 wire bytes; cable 1 us.
    assert received == [(0, 0, 5_452, 2 * MTU, 7), (1, 0, 5_534, 0, 2**32 - 1)]


@pytest.mark.parametrize("lost_at_ns", [500, 3_000])
def test_a_message_that_lacks_a_packet_is_not_delivered(lost_at_ns: int) -> None:
    """The first packet of the first message is lost, or its fourth: the second message is not harmed."""
    simulation = direct()
    sender, receiver = uc_ends(simulation)
    received = listen(receiver)
    simulation.cut_link("a", "b", start_ns=lost_at_ns, duration_ns=1)
    for wr_id in range(2):
        sender.post_write(wr_id, 10 * MTU, True, imm=wr_id)
    simulation.run_until(MILLISECOND_NS)
    assert [imm for *_, imm in received] == [1]
    assert (sender.delivered_messages, sender.delivered_bytes) == (1, 10 * MTU)
    assert sender.state == 3
    simulation.check_invariants()


def test_there_is_no_read() -> None:
    sender, _ = uc_ends(direct())
    with pytest.raises(QueuePairError, match="queue pair 2 is of type UC, which has no READ"):
        sender.post_read(1, MTU, True)
