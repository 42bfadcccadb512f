"""IRN's receiving half: what it acknowledges of each packet.

The traces are worked by hand from three rules: the expected packet is acknowledged with everything that waits
behind it, a later one is named in a negative acknowledgement, an earlier one is acknowledged again.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.simulator._core import Responder

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
