"""IRN and the kinds of go-back-N: traces worked by hand."""

import random
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rogue.simulator._reference import Requester, Responder

from rogue.simulator import SimulationError

US = 1_000_000
LOW_PS, HIGH_PS = 100 * US, 320 * US


class Trace:
    """A sender whose packets and acknowledgements are written down by hand."""

    def __init__(self, packets: int, **parameters: float) -> None:
        self.requester = Requester("irn", mtu_bytes=1024, parameters=parameters)
        self.requester.post(packets * 1024)

    def sends(self, *numbers: int | None, at_ps: int = 0) -> "Trace":
        assert tuple(self.requester.send(at_ps) for _ in numbers) == numbers
        return self

    def ack(self, expected: int, at_ps: int = 0) -> "Trace":
        assert self.requester.on_acknowledgement(now_ps=at_ps, expected=expected)
        return self

    def nack(self, expected: int, selective: int, at_ps: int = 0) -> "Trace":
        ranges = [(selective, selective + 1)]
        assert self.requester.on_acknowledgement(
            now_ps=at_ps, expected=expected, selective=ranges, is_negative=True
        )
        return self


def test_no_more_in_flight_than_the_cap() -> None:
    trace = Trace(packets=10, cap_packets=4).sends(0, 1, 2, 3, None)
    trace.ack(1).sends(4, None).ack(4).sends(5, 6, 7, None)


def test_the_default_cap_is_111_packets() -> None:
    Trace(packets=200).sends(*range(111), None)


def test_no_cap() -> None:
    Trace(packets=500, cap_packets=0).sends(*range(500), None)


def test_a_negative_acknowledgement_starts_the_recovery_and_new_packets_follow() -> None:
    trace = Trace(packets=10).sends(0, 1, 2, 3, 4, 5).ack(1)
    trace.nack(1, 2).sends(1, 6, 7)  # no other packet is known to be missing


def test_repeated_negative_acknowledgements_count_as_one_recovery_and_a_timeout_as_none() -> None:
    trace = Trace(packets=10).sends(0, 1, 2, 3, 4, 5).ack(1)
    trace.nack(1, 2).nack(1, 3).sends(1, 6).nack(1, 4)
    assert trace.requester.recoveries == 1
    trace.ack(7).sends(7, 8).requester.on_deadline(HIGH_PS)
    assert trace.sends(7).requester.recoveries == 1


def test_below_the_threshold_packets_have_only_overtaken_one_another() -> None:
    trace = Trace(packets=10, threshold_nacks=3).sends(0, 1, 2, 3, 4, 5)
    assert trace.nack(0, 1).nack(0, 2).ack(3).nack(3, 4).requester.recoveries == 0
    assert trace.nack(3, 5).requester.recoveries == 0
    assert trace.nack(3, 4).requester.recoveries == 1


def test_packets_overtaken_by_later_ones_are_repeated_in_order() -> None:
    """1, 3 and 5 are lost."""
    trace = Trace(packets=10).sends(0, 1, 2, 3, 4, 5, 6, 7).ack(1)
    trace.nack(1, 2).nack(1, 4).nack(1, 6).sends(1)
    trace.sends(3, 5, 8)  # 7 may still come
    trace.nack(1, 7).ack(3).ack(5).ack(8).sends(9, None)


def test_the_search_comes_after_the_next_new_packet() -> None:
    trace = Trace(packets=12).sends(0, 1, 2, 3, 4, 5).ack(1).nack(1, 2).sends(1, 6)
    trace.nack(1, 3).nack(1, 4).nack(1, 6).sends(7, 5)  # 6 has overtaken 5
    trace.sends(8, 9)


def test_with_the_cap_reached_the_search_comes_at_once() -> None:
    trace = Trace(packets=12, cap_packets=6).sends(0, 1, 2, 3, 4, 5, None)
    trace.nack(0, 1).sends(0, None).nack(0, 3).sends(2, None).nack(0, 5).sends(4, None)


def test_a_negative_acknowledgement_with_progress_does_not_start_a_recovery() -> None:
    trace = Trace(packets=6).sends(0, 1, 2, 3)
    trace.nack(1, 2).sends(4).nack(1, 3).sends(1, 5)


def test_the_recovery_ends_beyond_the_last_packet_sent_before_a_repetition() -> None:
    trace = Trace(packets=9).sends(0, 1, 2, 3, 4, 5).nack(0, 1).sends(0, 6)
    trace.ack(6).sends(7)  # 6 is expected, but the recovery ended with 5
    trace.nack(6, 7).sends(6, 8, None)


def test_progress_within_the_recovery_repeats_the_packet_that_is_expected() -> None:
    """5 is lost as well, and nothing has overtaken it yet."""
    trace = Trace(packets=9).sends(0, 1, 2, 3, 4, 5).nack(0, 1).sends(0, 6)
    trace.ack(5).sends(5, 7, 8, None)


def test_a_repetition_that_is_no_longer_needed_is_given_up() -> None:
    trace = Trace(packets=8).sends(0, 1, 2, 3).nack(0, 1).ack(4).sends(4)
    assert trace.requester.retransmitted_packets == 0


@pytest.mark.parametrize("in_flight", [1, 2, 3])
def test_the_low_timeout_with_few_packets_in_flight(in_flight: int) -> None:
    trace = Trace(packets=in_flight).sends(*range(in_flight), at_ps=5 * US)
    assert trace.requester.deadline_ps == 5 * US + LOW_PS
    trace.requester.on_deadline(5 * US + LOW_PS)
    trace.sends(0, None)
    assert (trace.requester.timeouts, trace.requester.deadline_ps) == (1, 5 * US + 2 * LOW_PS)


def test_the_high_timeout_with_more() -> None:
    trace = Trace(packets=4).sends(0, 1, 2, 3, at_ps=5 * US)
    assert trace.requester.deadline_ps == 5 * US + LOW_PS
    trace.requester.on_deadline(5 * US + LOW_PS)
    trace.sends(None)
    assert (trace.requester.timeouts, trace.requester.deadline_ps) == (0, 5 * US + HIGH_PS)
    trace.requester.on_deadline(5 * US + HIGH_PS)
    trace.sends(0, None)


def test_a_slow_queue_pair_waits_for_the_high_timeout() -> None:
    trace = Trace(packets=1).sends(0)
    trace.requester.on_deadline(LOW_PS, slowness=4.01)
    assert trace.requester.deadline_ps == HIGH_PS
    trace = Trace(packets=1).sends(0)
    trace.requester.on_deadline(LOW_PS, slowness=4.0)
    trace.sends(0)


def test_progress_restarts_the_low_timeout() -> None:
    trace = Trace(packets=8).sends(0, 1, 2, 3, 4)
    trace.requester.on_deadline(LOW_PS)
    trace.ack(1, at_ps=110 * US)
    assert trace.requester.deadline_ps == 210 * US
    trace.nack(1, 3, at_ps=120 * US)
    assert trace.requester.deadline_ps == 210 * US
    trace.ack(5, at_ps=130 * US)
    assert trace.requester.deadline_ps is None


def test_a_repeated_packet_that_is_lost_again_waits_for_the_timeout() -> None:
    trace = Trace(packets=6).sends(0, 1, 2, 3, 4, 5).nack(0, 1).sends(0, None)
    for selective in (2, 3, 4, 5):
        trace.nack(0, selective).sends(None)
    trace.requester.on_deadline(LOW_PS)
    trace.requester.on_deadline(HIGH_PS)
    trace.sends(0, None)


def test_no_timeouts() -> None:
    assert Trace(packets=1, rto_low_ns=0).sends(0).requester.deadline_ps is None


def test_a_low_timeout_above_the_high_one_is_refused() -> None:
    with pytest.raises(
        SimulationError, match="expected rto_low_ns not above rto_high_ns, got 400000 and 320000"
    ):
        Trace(packets=1, rto_low_ns=400_000)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("loss_probability", [0.0, 0.001, 0.01, 0.05])
def test_repeats_exactly_what_is_lost(loss_probability: float, seed: int) -> None:
    """3000 packets over 40 Gb/s and 24 us there and back: as many repetitions as losses, none in vain."""
    packets, slot_ps, one_way_ps = 3_000, 221_200, 12 * US
    stream = random.Random(seed)
    requester, responder = Requester("irn", mtu_bytes=1024), Responder("irn", mtu_bytes=1024)
    requester.post(packets * 1024)
    acks: deque[tuple[int, dict[str, object]]] = deque()
    now_ps = losses = 0
    while requester.acknowledged < packets:
        now_ps += slot_ps
        while acks and acks[0][0] <= now_ps:
            _, ack = acks.popleft()
            requester.on_acknowledgement(now_ps=now_ps, **ack)  # type: ignore[arg-type]
        if requester.deadline_ps is not None and requester.deadline_ps <= now_ps:
            requester.on_deadline(now_ps)
        number = requester.send(now_ps)
        if number is None:
            continue
        if stream.random() < loss_probability:
            losses += 1
        else:
            [ack] = responder.on_packet(number, sent_ps=now_ps)
            acks.append((now_ps + 2 * one_way_ps, ack))
    assert requester.retransmitted_packets == losses
    assert responder.delivered_bytes == packets * 1024
    # Each loss costs a packet's time, at most a way there and back, and a timeout if its repetition is lost.
    time_ps = (packets + losses) * slot_ps + (1 + losses) * 2 * one_way_ps + requester.timeouts * HIGH_PS
    assert packets * slot_ps < now_ps < 1.02 * time_ps


def test_a_threshold_lets_packets_overtake_each_other() -> None:
    """Mittal et al., section 7: a loss is assumed only after a threshold of NACKs, here three."""
    trace = Trace(packets=10, threshold_nacks=3).sends(0, 1, 2, 3, 4, 5)
    trace.nack(0, 1).nack(0, 2).sends(6).nack(0, 3).sends(0, 7)


def test_progress_restarts_the_count_of_nacks() -> None:
    """The NACK that brings progress is none of those that count, as without a threshold."""
    trace = Trace(packets=10, threshold_nacks=3).sends(0, 1, 2, 3, 4, 5, 6, 7)
    trace.nack(0, 1).nack(0, 2).nack(3, 4).nack(3, 5).nack(3, 6).sends(8).nack(3, 7).sends(3, 9)


Ack = tuple[str, int, int | None]


def acknowledged(responder: Responder, number: int, payload_bytes: int = 1024) -> Ack:
    [ack] = responder.on_packet(number, payload_bytes=payload_bytes)
    if not ack["is_negative"]:
        assert ack["selective"] == []
        return ("ack", ack["expected"], None)
    [(first, end)] = ack["selective"]
    assert end == first + 1
    return ("nack", ack["expected"], first)


@pytest.mark.parametrize(
    "trace",
    [
        pytest.param([(0, "ack", 1, None), (1, "ack", 2, None), (2, "ack", 3, None)], id="in order"),
        pytest.param(
            [(0, "ack", 1, None), (2, "nack", 1, 2), (3, "nack", 1, 3), (1, "ack", 4, None)], id="one gap"
        ),
        pytest.param(
            [
                (1, "nack", 0, 1),
                (3, "nack", 0, 3),
                (6, "nack", 0, 6),
                (0, "ack", 2, None),
                (5, "nack", 2, 5),
                (2, "ack", 4, None),
                (4, "ack", 7, None),
            ],
            id="three gaps",
        ),
        pytest.param(
            [(0, "ack", 1, None), (0, "ack", 1, None), (2, "nack", 1, 2), (2, "nack", 1, 2)], id="duplicates"
        ),
        pytest.param(
            [(110, "nack", 0, 110), (0, "ack", 1, None), (111, "nack", 1, 111)], id="as far as the cap"
        ),
    ],
)
def test_traces_by_hand(trace: list[tuple[int, str, int, int | None]]) -> None:
    responder = Responder("irn", mtu_bytes=1024)
    for number, kind, expected, selective in trace:
        assert acknowledged(responder, number) == (kind, expected, selective)


def test_bytes_count_in_order_and_once() -> None:
    responder = Responder("irn", mtu_bytes=1024)
    delivered = []
    for number, payload_bytes in ((0, 1024), (2, 100), (2, 100), (3, 0), (1, 1024), (0, 1024)):
        responder.on_packet(number, payload_bytes=payload_bytes)
        delivered.append(responder.delivered_bytes)
    assert delivered == [1024, 1024, 1024, 1024, 2148, 2148]


@given(st.permutations(range(12)), st.lists(st.integers(0, 11), max_size=12))
def test_any_order_is_put_right(order: list[int], again: list[int]) -> None:
    """Compared with a set: the expected packet is the first one that has not come."""
    responder = Responder("irn", mtu_bytes=1024)
    come: set[int] = set()
    for number in (*order[:6], *again, *order[6:]):
        is_early = number > min(set(range(13)) - come - {number})
        come.add(number)
        expected = min(set(range(13)) - come)
        assert acknowledged(responder, number, payload_bytes=number + 1) == (
            ("nack", expected, number) if is_early else ("ack", expected, None)
        )
        assert responder.delivered_bytes == sum(range(1, expected + 1))


def test_a_mark_and_the_time_of_sending_come_back() -> None:
    responder = Responder("irn", mtu_bytes=1024)
    [ack] = responder.on_packet(1, is_marked=True, sent_ps=77)
    assert (ack["echoes_mark"], ack["echoed_ps"]) == (True, 77)


def sender(packets: int, **parameters: float) -> Requester:
    requester = Requester("irn-gbn", mtu_bytes=1024, parameters=parameters)
    requester.post(packets * 1024)
    return requester


def test_what_comes_early_is_refused_once_per_gap() -> None:
    responder = Responder("irn-gbn", mtu_bytes=1024)
    kinds = []
    for number in (0, 2, 3, 0, 4, 1, 3, 2):
        acks = responder.on_packet(number)
        kinds.append([(ack["is_negative"], ack["expected"]) for ack in acks])
    assert kinds == [
        [(False, 1)],
        [(True, 1)],
        [],
        [(False, 1)],
        [],
        [(False, 2)],
        [(True, 2)],
        [(False, 3)],
    ]
    assert responder.delivered_bytes == 3 * 1024


def test_everything_from_the_gap_on_is_sent_again() -> None:
    requester = sender(6, cap_packets=5)
    assert [requester.send(0) for _ in range(6)] == [0, 1, 2, 3, 4, None]
    requester.on_acknowledgement(now_ps=0, expected=2)
    requester.on_acknowledgement(now_ps=0, expected=2, selective=[(3, 4)], is_negative=True)
    assert [requester.send(0) for _ in range(5)] == [2, 3, 4, 5, None]
    assert (requester.retransmitted_packets, requester.recoveries) == (3, 1)


def test_the_timeout_goes_back_too() -> None:
    requester = sender(3)
    assert [requester.send(0) for _ in range(3)] == [0, 1, 2]
    assert requester.deadline_ps == 100 * US
    requester.on_deadline(100 * US)
    assert [requester.send(0) for _ in range(4)] == [0, 1, 2, None]


NAK, ACK = True, False


def kinds(name: str, packets: list[tuple[int, int]]) -> list[list[tuple[bool, int]]]:
    """Return the acknowledgements of packets that arrive at the given microseconds."""
    responder = Responder(name, mtu_bytes=1024)
    return [
        [(each["is_negative"], each["expected"]) for each in responder.on_packet(number, now_ps=at_us * US)]
        for number, at_us in packets
    ]


def test_a_gap_is_reported_again_after_500_us() -> None:
    packets = [(0, 0), (2, 1), (3, 500), (4, 501), (5, 502), (1, 600), (3, 601)]
    told = [[(ACK, 1)], [(NAK, 1)], [], [(NAK, 1)], [], [(ACK, 2)], [(NAK, 2)]]
    assert kinds("go-back-n-hpcc", packets) == kinds("go-back-n-conweave", packets) == told


def test_a_gap_is_reported_for_each_packet() -> None:
    assert kinds("go-back-n-htsim", [(1, 0), (2, 0), (1, 0)]) == [[(NAK, 0)]] * 3


def test_duplicates_are_acknowledged_or_not() -> None:
    assert kinds("go-back-n-hpcc", [(0, 0), (0, 0)]) == [[(ACK, 1)], []]
    assert kinds("go-back-n-conweave", [(0, 0), (0, 0)]) == [[(ACK, 1)], [(ACK, 1)]]


def test_go_back_0_forgets_the_message_at_a_gap() -> None:
    responder = Responder("go-back-0", mtu_bytes=1024)
    trace = [
        (0, False, []),
        (1, True, [(ACK, 2)]),  # a message of two
        (2, False, []),
        (3, False, []),
        (5, True, [(NAK, 2)]),  # 4 is lost
        (3, False, []),
        (2, False, []),
        (3, False, []),
        (4, False, []),
        (5, True, [(ACK, 6)]),
        (5, True, [(ACK, 6)]),
    ]
    for number, is_last, expected in trace:
        acks = responder.on_packet(number, is_last=is_last)
        assert [(each["is_negative"], each["expected"]) for each in acks] == expected, number
    assert responder.delivered_bytes == 6 * 1024


def test_go_back_0_sends_the_whole_message_again() -> None:
    requester = Requester("go-back-0", mtu_bytes=1024)
    requester.post(2 * 1024)
    requester.post(4 * 1024)
    assert [requester.send(0) for _ in range(6)] == [0, 1, 2, 3, 4, 5]
    requester.on_acknowledgement(now_ps=0, expected=2)
    requester.on_acknowledgement(now_ps=0, expected=2, selective=[(5, 6)], is_negative=True)
    assert [requester.send(0) for _ in range(5)] == [2, 3, 4, 5, None]
