"""Credits of receivers in Ultra Ethernet: at the sender, at the receiver, and in a network."""

import random

import numpy as np
import pytest
from helpers.networks import GBPS, connect, counter, network
from rogue.simulator._reference import Requester, Responder

from rogue.simulator import Reliability, Simulation, Trimming
from rogue.simulator.framing import UEC

PAYLOAD, FRAME, QUANTUM = 1024, 1088, 256
US = 1_000_000
PARAMETERS = {"line_rate_bps": 10e9, "base_rtt_ns": 4_000, "rto_ns": 50_000}
MOST = 7_500
"""1.5 times the 5000 bytes that 10 Gb/s set_bitmap in 4 us."""
TOLD = ("expected", "bitmap", "is_negative", "is_trimmed_last", "is_of_request", "echoed_ps")


def requester(packets: int, **parameters: float) -> Requester:
    sender = Requester("uet-rccc", mtu_bytes=PAYLOAD, parameters={**PARAMETERS, "nscc": 0, **parameters})
    sender.post(packets * PAYLOAD)
    return sender


def hears(sender: Requester, expected: int, at_ps: int = 0) -> None:
    bitmap = (expected, 0, expected - 1, expected * FRAME)
    assert sender.on_acknowledgement(now_ps=at_ps, expected=expected, bitmap=bitmap)


def credit(sender: Requester) -> float:
    return sender.metrics()["credit_bytes"]


def sends_all(sender: Requester, at_ps: int = 0) -> list[int]:
    return list(iter(lambda: sender.send(at_ps), None))


def test_it_begins_with_the_credit_of_one_and_a_half_round_trips() -> None:
    """7 packets of 1088 bytes, the last one overdraws: 7500 - 7 * 1088 = -116."""
    sender = requester(packets=20)
    assert sends_all(sender) == list(range(7))
    assert credit(sender) == MOST - 7 * FRAME == -116


def test_what_is_left_of_that_is_void_when_the_receiver_is_heard_of() -> None:
    sender = requester(packets=20)
    assert [sender.send(0), sender.send(0)] == [0, 1]
    hears(sender, 1)
    assert (sender.send(0), credit(sender)) == (None, 0)
    assert sender.metrics()["credit_forgone_bytes"] == MOST - 2 * FRAME
    sender.on_credit(now_ps=0, granted=4)
    assert (sender.send(0), credit(sender)) == (2, 1024 - FRAME)
    hears(sender, 2)
    sender.on_credit(now_ps=0, granted=8)
    assert credit(sender) == 2 * 1024 - FRAME


def test_the_first_credit_may_be_kept() -> None:
    sender = requester(packets=20, keeps_first_credit=1)
    sender.send(0)
    hears(sender, 1)
    assert credit(sender) == MOST - FRAME
    assert sends_all(sender) == list(range(1, 7))


@pytest.mark.parametrize(("most", "packets"), [(1, 1), (FRAME, 1), (FRAME + 1, 2), (10 * FRAME, 10)])
def test_the_first_credit_may_be_given(most: int, packets: int) -> None:
    """It overdraws by less than a packet."""
    sender = requester(packets=20, credit_max_bytes=most)
    assert sends_all(sender) == list(range(packets))
    sender.on_credit(now_ps=0, granted=1000)
    assert credit(sender) == most


def test_grants_are_running_numbers_so_that_one_may_be_lost_or_late() -> None:
    sender = requester(packets=20)
    sends_all(sender)
    for granted, expected in ((4, -116 + 1024), (12, -116 + 3072), (8, -116 + 3072), (12, -116 + 3072)):
        sender.on_credit(now_ps=0, granted=granted)
        assert credit(sender) == expected


@pytest.mark.parametrize(
    ("packets", "rivals", "quanta"),
    [
        pytest.param(1, 1, -25, id="nothing left to send: it has 6412 bytes too many"),
        pytest.param(4, 1, 5, id="a frame at least, before any reply: 1088 bytes"),
        pytest.param(20, 1, 5, id="no more than it may ever have, less what it has"),
        pytest.param(20, 5, 1, id="a share of the NIC: a fifth of 1088 bytes"),
    ],
)
def test_the_first_packet_requests_credit(packets: int, rivals: int, quanta: int) -> None:
    sender = requester(packets)
    sender.send(0)
    assert sender.credit_target(rivals) == quanta % 2**23


def test_overdrawn_credit_is_requested_too() -> None:
    """20 packets, 7 sent: 7500 bytes at most, and the 116 that are owed; from the 3 quanta that came."""
    sender = requester(packets=20)
    sends_all(sender)
    assert sender.credit_target() == -(-(MOST + 116) // QUANTUM)
    sender.on_credit(now_ps=0, granted=3)
    assert sender.credit_target() == -(-(MOST + 116) // QUANTUM)


def test_the_last_credit_wants_an_acknowledgement() -> None:
    sender = requester(packets=20)
    wants = []
    while (packet := sender.next_packet) is not None:
        wants.append(packet["wants_acknowledgement"])
        sender.send(0)
    assert wants == [False] * 6 + [True]


def test_a_timeout_without_credit_sends_a_request_without_payload() -> None:
    sender = requester(packets=20)
    sends_all(sender)
    assert sender.on_deadline(50 * US)
    packet = sender.next_packet
    assert packet is not None
    assert (packet["is_request"], packet["payload_bytes"], packet["number"]) == (True, 0, 0)
    assert sender.send(51 * US) == 0
    assert sender.next_packet is None
    assert credit(sender) == -116


def test_requests_for_credit_are_repeated_with_growing_gaps() -> None:
    """32 timeouts of 50 us after the last that was heard, then 64."""
    sender = requester(packets=20)
    sends_all(sender)
    hears(sender, 7, at_ps=10 * US)
    assert sender.deadline_ps == 10 * US + 32 * 50 * US
    for after in (64, 128):
        at_ps = sender.deadline_ps
        assert at_ps is not None and sender.on_deadline(at_ps)
        packet = sender.next_packet
        assert packet is not None and packet["is_request"]
        sender.send(at_ps)
        assert sender.deadline_ps == at_ps + after * 50 * US
    sender.on_credit(now_ps=at_ps, granted=100)
    packet = sender.next_packet
    assert packet is not None and not packet["is_request"]


def test_more_to_send_without_credit_requests_at_once() -> None:
    sender = requester(packets=7)
    sends_all(sender)
    hears(sender, 7)
    assert sender.next_packet is None
    sender.post(PAYLOAD)
    packet = sender.next_packet
    assert packet is not None and packet["is_request"]


@pytest.mark.parametrize(
    ("packets", "asks"),
    [
        pytest.param(7, True, id="the last one told that nothing more was wanted"),
        pytest.param(8, False, id="the last one asked for credit, which will take more along"),
    ],
)
def test_more_to_send_while_the_last_credit_is_under_way(packets: int, asks: bool) -> None:
    sender = requester(packets)
    sends_all(sender)
    for _ in range(2):
        sender.post(PAYLOAD)
        packet = sender.next_packet
        assert (packet is not None and packet["is_request"]) == asks
    if asks:
        sender.send(0)
        sender.post(PAYLOAD)
        assert sender.next_packet is None, "the request has asked"


@pytest.mark.parametrize("nscc", [0, 1])
@pytest.mark.parametrize("seed", range(5))
def test_credit_is_conserved_and_needed_to_send(seed: int, nscc: int) -> None:
    """A sender and a receiver over a line that trims packets and loses what the receiver says."""
    chance = random.Random(seed)
    parameters = {**PARAMETERS, "nscc": nscc}
    sender = Requester("uet-rccc", mtu_bytes=PAYLOAD, parameters=parameters)
    receiver = Responder("uet-rccc", mtu_bytes=PAYLOAD, parameters=parameters)
    sender.post(150 * PAYLOAD)
    granted = 0
    for step in range(20_000):
        now_ps = step * US
        told = []
        packet = sender.next_packet
        if packet is not None and chance.random() < 0.7:
            assert packet["is_request"] or credit(sender) > 0
            number = sender.send(now_ps)
            assert number is not None
            told += receiver.on_packet(
                number,
                payload_bytes=packet["payload_bytes"],
                is_trimmed=chance.random() < 0.2 and not packet["is_request"],
                is_request=packet["is_request"],
                wants_acknowledgement=packet["wants_acknowledgement"],
                credit_target=sender.credit_target(),
                sent_ps=now_ps,
            )
        if receiver.wants_turn() or chance.random() < 0.05:
            told += receiver.grant(is_idle=chance.random() < 0.3)
        for each in told:
            granted = max(granted, each.get("granted", 0))
            if chance.random() < 0.2:
                continue
            if "granted" in each:
                sender.on_credit(now_ps=now_ps, granted=each["granted"])
            else:
                assert sender.on_acknowledgement(now_ps=now_ps, **{key: each[key] for key in TOLD})
        if sender.deadline_ps is not None and sender.deadline_ps <= now_ps:
            assert sender.on_deadline(now_ps)
        has = sender.metrics()
        spent, kept = has["credit_spent_bytes"], has["credit_bytes"] + has["credit_forgone_bytes"]
        assert MOST + has["credit_granted_bytes"] == spent + kept
        assert has["credit_granted_bytes"] <= granted * QUANTUM
        if sender.acknowledged == 150:
            break
    assert sender.acknowledged == 150
    assert receiver.delivered_bytes == 150 * PAYLOAD


NSCC = {"nscc": 1, "window_packets": 4}
BASE_PS = 4 * US


def windowed() -> Requester:
    """A sender with a window of NSCC and credit, of which two packets are under way."""
    sender = requester(packets=20, **NSCC)
    assert [sender.send(0), sender.send(0)] == [0, 1]
    return sender


@pytest.mark.parametrize("is_trimmed_last", [False, True])
def test_credit_sees_to_the_queue_in_front_of_its_receiver_and_the_window_to_all_others(
    is_trimmed_last: bool,
) -> None:
    """uec.cpp, updateCwndOnNack_NSCC: adjust_cwnd && (!_receiver_based_cc || !last_hop)."""
    sender = windowed()
    before = sender.metrics()["window_bytes"]
    sender.on_acknowledgement(
        now_ps=BASE_PS,
        expected=0,
        bitmap=(0, 0, 0, 0),
        is_negative=True,
        is_trimmed_last=is_trimmed_last,
    )
    assert sender.metrics()["window_bytes"] == before - (0 if is_trimmed_last else FRAME)


@pytest.mark.parametrize(("is_of_request", "base_rtt_ns"), [(False, 3_000), (True, 4_000)])
def test_the_round_trip_of_a_request_does_not_update_the_base(
    is_of_request: bool, base_rtt_ns: float
) -> None:
    """uec.cpp, processAck: if (!pkt.is_rts()) update_base_rtt(raw_rtt)."""
    sender = windowed()
    sender.on_acknowledgement(now_ps=3 * US, expected=1, bitmap=(1, 0, 0, FRAME), is_of_request=is_of_request)
    assert sender.metrics()["base_rtt_ns"] == base_rtt_ns


EACH = 4 * PAYLOAD // 256


def receiver(**parameters: float) -> Responder:
    return Responder("uet-rccc", mtu_bytes=PAYLOAD, parameters={**PARAMETERS, **parameters})


def turn(grants: Responder, *, is_idle: bool = False) -> int:
    [number_from] = grants.grant(is_idle=is_idle)
    return number_from["granted"]


def test_a_grant_is_four_packets_and_no_more_than_is_asked_for() -> None:
    grants = receiver()
    grants.on_packet(0, credit_target=20)
    assert grants.wants_turn() and not grants.wants_turn()
    assert [turn(grants) for _ in range(3)] == [EACH, 20, 20]


def test_late_packets_and_smaller_requests_change_nothing() -> None:
    grants = receiver()
    grants.on_packet(1, credit_target=10)
    assert grants.wants_turn()
    grants.on_packet(0, credit_target=4)
    assert not grants.wants_turn()
    assert turn(grants) == 10


def test_numbers_run_on_beyond_their_bits() -> None:
    """23 bits are carried; half of them tell what is later."""
    grants = receiver()
    step = 2**22 - 1
    for number in range(5):
        grants.on_packet(number, credit_target=(number + 1) * step % 2**23)
        assert grants.wants_turn()
    turns = [turn(grants) for _ in range(5 * step // EACH + 2)]
    assert turns[-1] == 5 * step > 2**23


@pytest.mark.parametrize("packet", [{"is_trimmed": True}, {"is_request": True, "payload_bytes": 0}])
def test_a_trimmed_packet_and_a_request_repeat_the_grant(packet: dict[str, bool | int]) -> None:
    grants = receiver()
    grants.on_packet(0, credit_target=4)
    assert grants.wants_turn() and turn(grants) == 4
    [reply] = grants.on_packet(1, credit_target=4, **packet)
    assert reply["is_negative"] == ("is_trimmed" in packet)
    assert reply["is_of_request"] == ("is_request" in packet)
    assert grants.wants_turn() and turn(grants) == 4
    assert grants.delivered_bytes == PAYLOAD


MTU, FULL_FRAME = 4096, 4160
RATE_BPS = 100 * GBPS
TRIM_ABOVE = 100_000
NUMBERS = {"line_rate_bps": 100e9, "base_rtt_ns": 4_700, "target_delay_ns": 3_500, "rto_ns": 60_000}
SIZE = 1_024_000
"""250 full packets."""


def fan_in(senders: int = 8, **parameters: float) -> Simulation:
    """Each sender has 1 MB for the first host."""
    switch = {"buffer_bytes": 10**7, "alpha": 8.0, "trimming": Trimming(TRIM_ABOVE)}
    links = [(f"h{host}", "s0") for host in range(1 + senders)]
    simulation = network(links, switch=switch, settings={"framing": UEC}, rate_bps=RATE_BPS)
    reliability = Reliability("uet-rccc", {**NUMBERS, **parameters}, 7)
    for sender in range(1, 1 + senders):
        pair = connect(simulation, f"h{sender}", "h0", mtu_bytes=MTU, reliability=reliability)
        pair.post_write(1, SIZE, True)
    simulation.sample_queues(10_000)
    return simulation


def queue_bytes(simulation: Simulation) -> np.ndarray:
    """Return the queue in front of the receiver, every 10 us."""
    table = simulation.queue_table()
    return np.asarray(table["bytes"][(table["port"] == "s0->h0") & (table["priority"] == 0)])


@pytest.mark.parametrize("nscc", [0, 1], ids=["receivers alone", "beside NSCC"])
def test_the_queue_of_the_first_round_trip_drains_and_does_not_come_again(nscc: int) -> None:
    """Nine tenths of the line are granted, so 1.25 bytes drain per nanosecond: 100 KB in 80 us."""
    simulation = fan_in(credit_rate=0.9, nscc=nscc)
    simulation.run_until(600_000)
    simulation.check_invariants()
    waiting = queue_bytes(simulation)
    assert waiting[0] > 80_000
    assert waiting[12:].max() <= 8 * 2 * FULL_FRAME
    assert np.mean(waiting[12:] <= 2 * FULL_FRAME) > 0.8
    trimmed = counter(simulation, "trimmed_packets")
    simulation.run_until(2_000_000)
    assert counter(simulation, "trimmed_packets") == trimmed
    assert simulation.statistics()["verbs_done"] == 8


def test_credit_that_is_lost_is_asked_for_again() -> None:
    """The receiver's link is cut for 40 us: nothing that it grants meanwhile is heard of."""
    simulation = fan_in(senders=2, nscc=0)
    simulation.cut_link("h0", "s0", start_ns=20_000, duration_ns=40_000)
    simulation.run_until(20_000_000)
    simulation.check_invariants()
    assert counter(simulation, "lost_packets") > 10
    assert simulation.statistics()["verbs_done"] == 2
