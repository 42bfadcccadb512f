"""The receiving half of a TCP: when it acknowledges, what its blocks say, how it hands marks on."""

from typing import Any, TypeAlias

from hypothesis import given
from hypothesis import strategies as st
from rogue.simulator._reference import Responder

SEGMENT_BYTES = 1460
MILLISECOND_PS = 10**9

Ack: TypeAlias = tuple[int, bool, list[tuple[int, int]]]
"""What is acknowledged by the number, echo of a mark, blocks."""


class Arrivals:
    """Hands segments to a receiving half, a microsecond apart."""

    def __init__(self, name: str = "reno", **parameters: float) -> None:
        self.responder = Responder(name, mtu_bytes=SEGMENT_BYTES, parameters=parameters)
        self._now_ps = 0

    def __call__(self, number: int, **flags: bool) -> list[Ack]:
        self._now_ps += 1_000_000
        return _acks(
            self.responder.on_packet(number, payload_bytes=SEGMENT_BYTES, now_ps=self._now_ps, **flags)
        )

    def wait(self) -> list[Ack]:
        """Let the deadline come."""
        assert self.responder.deadline_ps is not None
        return _acks(self.responder.on_deadline(self.responder.deadline_ps))


def _acks(acks: list[dict[str, Any]]) -> list[Ack]:
    return [(ack["expected"], ack["echoes_mark"], ack["selective"]) for ack in acks]


def test_every_second_segment_is_acknowledged() -> None:
    arrive = Arrivals()
    assert arrive(0) == []
    assert arrive(1) == [(2, False, [])]
    assert arrive(2) == []
    assert arrive.responder.delivered_bytes == 3 * SEGMENT_BYTES


def test_an_acknowledgement_waits_no_longer_than_its_delay() -> None:
    """40 ms after the first segment that waits, which came at 1 us."""
    arrive = Arrivals(ack_every_segments=3)
    arrive(0)
    arrive(1)
    assert arrive.responder.deadline_ps == 40 * MILLISECOND_PS + 1_000_000
    assert arrive.wait() == [(2, False, [])]
    assert arrive.responder.deadline_ps is None


def test_the_end_of_a_transfer_is_acknowledged_at_once() -> None:
    assert Arrivals()(0, is_last=True) == [(1, False, [])]


def test_what_comes_early_is_acknowledged_at_once_with_blocks_the_newest_first() -> None:
    arrive = Arrivals()
    assert arrive(1) == [(0, False, [(1, 2)])]
    assert arrive(5) == [(0, False, [(5, 6), (1, 2)])]
    assert arrive(3) == [(0, False, [(3, 4), (5, 6), (1, 2)])]
    assert arrive(2) == [(0, False, [(1, 4), (5, 6)])]
    assert arrive(8) == [(0, False, [(8, 9), (1, 4), (5, 6)])]
    assert arrive.responder.delivered_bytes == 0


def test_three_blocks_at_most() -> None:
    arrive = Arrivals()
    for number in (2, 4, 6):
        arrive(number)
    assert arrive(8) == [(0, False, [(8, 9), (6, 7), (4, 5)])]


def test_filling_a_gap_is_acknowledged_at_once() -> None:
    arrive = Arrivals()
    arrive(1)
    arrive(3)
    assert arrive(0) == [(2, False, [(3, 4)])]
    assert arrive(2) == [(4, False, [])]
    assert arrive.responder.delivered_bytes == 4 * SEGMENT_BYTES


def test_what_came_before_is_acknowledged_again_and_not_counted() -> None:
    arrive = Arrivals()
    arrive(0)
    assert arrive(0) == [(1, False, [])]
    arrive(2)
    arrive(2)
    assert arrive.responder.delivered_bytes == SEGMENT_BYTES


def test_without_selective_acknowledgements_there_are_no_blocks() -> None:
    assert Arrivals(sack=0)(1) == [(0, False, [])]


def test_dctcp_acknowledges_what_waits_when_the_marks_change() -> None:
    """Source: RFC 8257, section 3.2: at each change at once, with the state before it."""
    arrive = Arrivals("dctcp")
    assert arrive(0) == []
    assert arrive(1, is_marked=True) == [(1, False, [])]
    assert arrive(2, is_marked=True) == [(3, True, [])]
    assert arrive(3, is_marked=True) == []
    assert arrive(4) == [(4, True, [])]
    assert arrive(5) == [(6, False, [])]


def test_dctcp_acknowledges_a_change_at_the_end_of_a_transfer_twice() -> None:
    arrive = Arrivals("dctcp")
    arrive(0)
    assert arrive(1, is_marked=True, is_last=True) == [(1, False, []), (2, True, [])]


def test_reno_echoes_until_the_sender_has_reduced() -> None:
    """Source: RFC 3168, section 6.1.3."""
    arrive = Arrivals(ecn=1, ack_every_segments=1)
    assert arrive(0, is_marked=True) == [(1, True, [])]
    assert arrive(1) == [(2, True, [])]
    assert arrive(2, has_reduced=True) == [(3, False, [])]
    assert arrive(3, is_marked=True, has_reduced=True) == [(4, True, [])]


def test_without_ecn_marks_are_ignored() -> None:
    arrive = Arrivals(ack_every_segments=1)
    assert arrive(0, is_marked=True) == [(1, False, [])]


@given(st.lists(st.integers(0, 30), max_size=120))
def test_any_order_is_delivered_once(numbers: list[int]) -> None:
    """The number, the bytes and the blocks are those of the set of what came."""
    arrive = Arrivals()
    came: set[int] = set()
    for number in numbers:
        acks = arrive(number)
        came.add(number)
        expected = next(n for n in range(32) if n not in came)
        assert arrive.responder.delivered_bytes == expected * SEGMENT_BYTES
        for _, _, blocks in acks:
            covered = {n for first, end in blocks for n in range(first, end)}
            assert covered <= {n for n in came if n > expected}
            assert number < expected or number in covered
