"""The receiving half of Ultra Ethernet: what it acknowledges, and when."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.simulator._core import Responder

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


def test_who_wants_an_acknowledgement_has_one_more_when_nothing_is_missing() -> None:
    receiver = responder()
    arrives(receiver, 0)
    assert arrives(receiver, 2, wants_acknowledgement=True) == [(1, 2, 1)]
    assert arrives(receiver, 1) == [(3, 4, 0)]


def test_whoever_asks_is_told_from_that_packet_on() -> None:
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
def test_what_is_here_already_is_answered_with_all_bits_up_to_it(
    packet: dict[str, bool], first: int, echoes_mark: bool
) -> None:
    """uec.cpp, processData: ecn ? epsn : sackBitmapBase(epsn), and processTrimmed: the latter."""
    receiver = responder(sack_every_bytes=100 * FRAME)
    for number in (0, 2, 3, 5):
        arrives(receiver, number)
    [reply] = receiver.on_packet(5, payload_bytes=PAYLOAD, **packet)
    assert (reply["expected"], *reply["bitmap"][:2]) == (1, first, 0b1011 >> (first - 2))
    assert reply["echoes_mark"] is echoes_mark


def test_a_trimmed_packet_that_is_here_puts_nothing_off() -> None:
    """uec.cpp, processTrimmed leaves _accepted_bytes alone: the fourth new packet is told."""
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
def test_it_says_what_has_come_and_nothing_else(packets: list[tuple[int, bool, bool]]) -> None:
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
