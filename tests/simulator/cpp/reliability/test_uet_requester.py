"""The sending half of Ultra Ethernet: what goes next. Traces are worked by hand from the rules."""

import random

import pytest
from helpers import networks
from helpers.networks import Window

from rogue.simulator._core import Requester, Responder

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
    """When one packet or none fits into the window behind it, the last one, and one that is sent again."""
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
    assert Window(base_rtt_ns=100, window_packets=0, **window).bytes == networks.FRAME


def test_a_path_that_turns_out_to_be_short_leaves_room_for_a_packet() -> None:
    window = Window(mprdma=1)
    assert window.acknowledged(20, -11.99) == networks.FRAME
    assert window.acknowledged(21, -11.99) == networks.FRAME
