"""Both halves of Ultra Ethernet: which packet goes next, and what is acknowledged when."""

import random

import pytest
from helpers import uet_window
from helpers.uet_window import Window
from hypothesis import given
from hypothesis import strategies as st
from rogue.simulator._reference import Requester, Responder

PAYLOAD, FRAME = 1000, 1064
US = 1_000_000
RTO_PS = 100 * US


class Trace:
    """A sender with a fixed window, whose packets and acknowledgements are written down by hand."""

    def __init__(self, packets: int, **parameters: float) -> None:
        values = {"nscc": 0, "window_packets": 4, **parameters}
        self.requester = Requester("uet", mtu_bytes=PAYLOAD, parameters=values)
        self.requester.post(packets * PAYLOAD)

    def sends(self, *numbers: int | None, at_ps: int = 0) -> "Trace":
        assert tuple(self.requester.send(at_ps) for _ in numbers) == numbers
        return self

    def ack(self, expected: int, come: int, also: tuple[int, ...] = (), at_ps: int = 0) -> "Trace":
        bits = sum(1 << number - expected for number in also)
        bitmap = (expected, bits, max((expected - 1, *also)), come * FRAME)
        assert self.requester.on_acknowledgement(now_ps=at_ps, expected=expected, bitmap=bitmap)
        return self

    def nack(self, number: int, at_ps: int = 0) -> "Trace":
        bitmap = (0, 0, number, 0)
        assert self.requester.on_acknowledgement(now_ps=at_ps, expected=0, bitmap=bitmap, is_negative=True)
        return self

    @property
    def in_flight(self) -> int:
        return round(self.requester.metrics()["in_flight_bytes"])


def test_no_more_in_flight_than_the_window() -> None:
    trace = Trace(packets=9).sends(0, 1, 2, 3, None)
    trace.ack(1, 1).sends(4, None).ack(5, 5).sends(5, 6, 7, 8, None).ack(9, 9)
    assert trace.in_flight == 0


def test_what_has_come_out_of_order_makes_room() -> None:
    Trace(packets=9).sends(0, 1, 2, 3).ack(0, 2, also=(2, 3)).sends(4, 5, None)


def test_a_trimmed_packet_is_sent_again_before_new_ones() -> None:
    trace = Trace(packets=9).sends(0, 1, 2, 3).nack(2).nack(1).sends(1, 2, None)
    trace.ack(4, 4).sends(4)
    assert trace.requester.retransmitted_packets == 2


def test_a_second_refusal_of_the_same_packet_changes_nothing() -> None:
    trace = Trace(packets=9).sends(0, 1, 2, 3).nack(2).nack(2).sends(2, None)
    assert (trace.in_flight, trace.requester.recoveries) == (4 * FRAME, 1)


def test_a_packet_that_came_after_all_is_not_sent_again() -> None:
    trace = Trace(packets=9).sends(0, 1, 2, 3).nack(2).ack(3, 3).sends(4, 5, 6, None)
    assert trace.in_flight == 4 * FRAME


def test_each_packet_has_a_timeout_of_its_own() -> None:
    trace = Trace(packets=9).sends(0, at_ps=US).sends(1, at_ps=3 * US)
    requester = trace.requester
    assert requester.deadline_ps == RTO_PS + US
    assert requester.on_deadline(RTO_PS + US)
    assert requester.deadline_ps == RTO_PS + 3 * US
    assert requester.timeouts == 1
    trace.sends(0, 2, at_ps=RTO_PS + 2 * US)
    trace.ack(1, 1)
    assert requester.on_deadline(RTO_PS + 3 * US)
    trace.sends(1, at_ps=RTO_PS + 4 * US)
    assert requester.deadline_ps == 2 * RTO_PS + 2 * US


def test_no_timeout_once_everything_has_come_and_none_if_it_is_0() -> None:
    assert Trace(packets=2).sends(0, 1).ack(2, 2).requester.deadline_ps is None
    assert Trace(packets=2, rto_ns=0).sends(0, 1).requester.deadline_ps is None


def test_which_packets_want_an_acknowledgement() -> None:
    """A packet with room for at most one more in the window, the last one, and a retransmitted one."""
    trace = Trace(packets=5)

    def wants() -> bool:
        following = trace.requester.next_packet
        assert following is not None
        wanted = bool(following["wants_acknowledgement"])
        trace.requester.send(0)
        return wanted

    assert [wants() for _ in range(4)] == [False, False, True, True]
    trace.nack(0)
    assert wants()
    trace.ack(4, 4)
    assert wants()


@pytest.mark.parametrize("seed", range(30))
def test_everything_arrives_over_a_network_that_loses_trims_and_reorders(seed: int) -> None:
    stream = random.Random(seed)
    parameters = {"nscc": stream.choice((0, 1)), "window_packets": 16, "sack_every_bytes": 4 * FRAME}
    requester = Requester("uet", mtu_bytes=PAYLOAD, parameters=parameters)
    responder = Responder("uet", mtu_bytes=PAYLOAD, parameters=parameters)
    requester.post(300 * PAYLOAD - 7)
    under_way: list[tuple[int, int, bool]] = []
    now_ps = 0
    for _ in range(100_000):
        now_ps += US
        following = requester.next_packet
        number = requester.send(now_ps)
        if number is not None and following is not None and stream.random() > 0.05:
            under_way.append((number, following["payload_bytes"], bool(following["wants_acknowledgement"])))
        while under_way and (number is None or stream.random() < 0.4):
            come, payload_bytes, wants = under_way.pop(stream.randrange(len(under_way)))
            for reply in responder.on_packet(
                come,
                payload_bytes=payload_bytes,
                wants_acknowledgement=wants,
                is_marked=stream.random() < 0.1,
                is_trimmed=stream.random() < 0.1,
                sent_ps=now_ps - 9 * US,
            ):
                del reply["selective"]
                if stream.random() > 0.05:
                    requester.on_acknowledgement(now_ps=now_ps, **reply)
        deadline_ps = requester.deadline_ps
        if deadline_ps is not None and (deadline_ps <= now_ps or number is None):
            now_ps = max(now_ps, deadline_ps)
            requester.on_deadline(now_ps)
        if requester.acknowledged == 300:
            break
    assert requester.acknowledged == 300
    assert responder.delivered_bytes == 300 * PAYLOAD - 7
    assert requester.metrics()["in_flight_bytes"] == 0
    assert requester.deadline_ps is None


@pytest.mark.parametrize("window", [{"nscc": 0}, {"nscc": 1}, {"mprdma": 1}, {"smartt": 1}])
def test_a_window_has_room_for_a_packet_however_short_the_path(window: dict[str, float]) -> None:
    """100 ns at 100 Gb/s are 1250 bytes, and a packet has 4000."""
    assert Window(base_rtt_ns=100, window_packets=0, **window).bytes == uet_window.FRAME


def test_a_path_that_turns_out_to_be_short_leaves_room_for_a_packet() -> None:
    window = Window(mprdma=1)
    assert window.acknowledged(20, -11.99) == uet_window.FRAME
    assert window.acknowledged(21, -11.99) == uet_window.FRAME


PAYLOAD, FRAME = 1000, 1064


def responder(**parameters: float) -> Responder:
    return Responder("uet", mtu_bytes=PAYLOAD, parameters={"sack_every_bytes": 4 * FRAME, **parameters})


def arrives(receiver: Responder, number: int, **packet: bool) -> list[tuple[int, int, int]]:
    """Expected number, first number of the bitmap and its bits, of each acknowledgement."""
    found = receiver.on_packet(number, payload_bytes=PAYLOAD, **packet)
    return [(each["expected"], each["bitmap"][0], each["bitmap"][1]) for each in found]


def test_the_first_packet_and_then_every_fourth_are_answered() -> None:
    receiver = responder()
    answered = [bool(arrives(receiver, number)) for number in range(9)]
    assert answered == [True, False, False, False, True, False, False, False, True]


def test_a_bitmap_ends_with_the_packet_that_it_answers() -> None:
    """0 to 99 but for 10 and 90: the 64 bits up to 99 begin at 36."""
    receiver = responder(sack_every_bytes=FRAME)
    for number in sorted(set(range(99)) - {10, 90}):
        arrives(receiver, number)
    [(expected, first, bits)] = arrives(receiver, 99)
    assert (expected, first) == (10, 36)
    assert bits == 2**64 - 1 - 2 ** (90 - 36)


def test_a_marked_packet_is_answered_at_once_with_the_bits_from_it_on() -> None:
    receiver = responder()
    for number in (0, 5, 7):
        arrives(receiver, number)
    assert arrives(receiver, 4, is_marked=True) == [(1, 4, 0b1011)]


def test_a_requested_acknowledgement_is_sent_once_more_when_nothing_is_missing() -> None:
    receiver = responder()
    arrives(receiver, 0)
    assert arrives(receiver, 2, wants_acknowledgement=True) == [(1, 2, 1)]
    assert arrives(receiver, 1) == [(3, 4, 0)]


def test_a_request_is_answered_from_its_packet_on() -> None:
    """And not what came before it, which an answer that is due has: 2 to 6."""
    receiver = responder(sack_every_bytes=100 * FRAME)
    for number in (0, 2, 3, 4, 5):
        arrives(receiver, number)
    assert arrives(receiver, 6, wants_acknowledgement=True) == [(1, 6, 1)]


def test_a_duplicate_is_answered_at_once_and_counted_once() -> None:
    receiver = responder()
    for number in (0, 2, 2, 0):
        [*_, last] = receiver.on_packet(number, payload_bytes=PAYLOAD) or [None]
    assert last is not None
    assert last["bitmap"][3] == 2 * FRAME


@pytest.mark.parametrize(
    ("packet", "first", "echoes_mark"),
    [
        pytest.param({"wants_acknowledgement": True}, 2, False, id="sent again: it always wants one"),
        pytest.param({"wants_acknowledgement": True, "is_marked": True}, 5, True, id="marked: from it on"),
        pytest.param({"wants_acknowledgement": True, "is_trimmed": True}, 2, False, id="trimmed"),
        pytest.param({"is_trimmed": True, "is_marked": True}, 2, False, id="trimmed: its mark is not echoed"),
    ],
)
def test_a_duplicate_is_answered_with_all_bits_up_to_it(
    packet: dict[str, bool], first: int, echoes_mark: bool
) -> None:
    """uec.cpp, processData: ecn ? epsn : sackBitmapBase(epsn), and processTrimmed: the latter."""
    receiver = responder(sack_every_bytes=100 * FRAME)
    for number in (0, 2, 3, 5):
        arrives(receiver, number)
    [reply] = receiver.on_packet(5, payload_bytes=PAYLOAD, **packet)
    assert (reply["expected"], *reply["bitmap"][:2]) == (1, first, 0b1011 >> (first - 2))
    assert reply["echoes_mark"] is echoes_mark


def test_a_trimmed_packet_that_has_arrived_postpones_nothing() -> None:
    """uec.cpp, processTrimmed leaves _accepted_bytes unchanged: the fourth new packet is acknowledged."""
    receiver = responder()
    answered = [bool(arrives(receiver, number)) for number in (0, 1, 2)]
    assert arrives(receiver, 1, is_trimmed=True)
    answered += [bool(arrives(receiver, number)) for number in (3, 4)]
    assert answered == [True, False, False, False, True]


def test_a_trimmed_packet_is_refused_unless_it_is_here() -> None:
    receiver = responder()
    arrives(receiver, 0)
    [refusal] = receiver.on_packet(2, payload_bytes=PAYLOAD, is_trimmed=True, is_trimmed_last=True, entropy=9)
    assert refusal["is_negative"]
    assert (refusal["bitmap"][2], refusal["entropy"], refusal["is_trimmed_last"]) == (2, 9, True)
    arrives(receiver, 2)
    [reply] = receiver.on_packet(2, payload_bytes=PAYLOAD, is_trimmed=True)
    assert not reply["is_negative"]
    assert receiver.delivered_bytes == PAYLOAD


def test_time_stamp_mark_and_entropy_come_back() -> None:
    [reply] = responder().on_packet(0, is_marked=True, sent_ps=77, entropy=513)
    assert (reply["echoed_ps"], reply["echoes_mark"], reply["entropy"]) == (77, True, 513)


@given(st.lists(st.tuples(st.integers(0, 120), st.booleans(), st.booleans()), max_size=150))
def test_acknowledgements_report_exactly_the_received_packets(packets: list[tuple[int, bool, bool]]) -> None:
    receiver = responder()
    come: set[int] = set()
    for number, is_marked, is_trimmed in packets:
        answers = receiver.on_packet(
            number, payload_bytes=PAYLOAD, is_marked=is_marked, is_trimmed=is_trimmed
        )
        if not is_trimmed:
            come.add(number)
        for answer in answers:
            first, bits, answered, received_bytes = answer["bitmap"]
            expected = next(n for n in range(200) if n not in come)
            assert answer["expected"] == expected
            assert answered == number
            assert received_bytes == FRAME * len(come)
            assert answer["is_negative"] == (number not in come)
            for bit in range(64):
                is_set = bool(bits >> bit & 1)
                assert is_set == (first + bit in come and first + bit >= expected)


@pytest.mark.parametrize("header_bytes", [0, 64, 200])
def test_frames_are_counted_with_their_headers(header_bytes: int) -> None:
    [reply] = responder(header_bytes=header_bytes).on_packet(0, payload_bytes=10)
    assert reply["bitmap"][3] == 10 + header_bytes
