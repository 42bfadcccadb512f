"""From transfers to verbs and batches, and the window that admits them."""

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.agent.core.actions import PostSend, Verb
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.segmentation import AcknowledgedSegmenter, Segmenter, Transfer
from rogue.agent.core.window import Batch, Window

SEGMENT = 65_536
LINK = LinkFacts(10**10, 1024)


def segmenter(*transfers: Transfer, verbs_max: int = 256) -> Segmenter:
    queue = Segmenter(LINK, SEGMENT, verbs_max)
    for transfer in transfers:
        queue.push(transfer)
    return queue


def all_batches(queue: Segmenter) -> list[Batch]:
    batches = []
    while queue.peek() is not None:
        batches.append(queue.take())
    return batches


def lengths(batches: list[Batch]) -> list[list[int]]:
    return [[send.length_bytes for send in batch.sends] for batch in batches]


def sizes(*sizes_bytes: int) -> list[Transfer]:
    return [Transfer(number, size) for number, size in enumerate(sizes_bytes)]


@pytest.mark.parametrize(
    ("sizes_bytes", "expected"),
    [
        # a large transfer is cut, each piece signalled, the last one shorter
        ([128 * 1024], [[SEGMENT], [SEGMENT]]),
        ([SEGMENT], [[SEGMENT]]),
        ([SEGMENT + 1], [[SEGMENT], [1]]),
        # small ones stay whole and share a signal per segment
        ([16_384] * 8, [[16_384] * 4, [16_384] * 4]),
        ([40_000] * 4, [[40_000, 40_000], [40_000, 40_000]]),
        # the tail of an idle application is signalled
        ([16_384] * 5, [[16_384] * 4, [16_384]]),
        ([0], [[0]]),
        # a small one in front of a large one rides along with its first piece
        ([1000, SEGMENT], [[1000, SEGMENT]]),
        ([SEGMENT + 10, 1000], [[SEGMENT], [10], [1000]]),
    ],
)
def test_batches_worked_examples(sizes_bytes: list[int], expected: list[list[int]]) -> None:
    assert lengths(all_batches(segmenter(*sizes(*sizes_bytes)))) == expected


def test_the_immediate_is_on_the_last_verb() -> None:
    (first, second) = all_batches(segmenter(Transfer(1, SEGMENT + 10, verb="send", imm=7)))
    assert [(send.verb, send.imm) for send in first.sends + second.sends] == [("send", None), ("send", 7)]
    assert (first.wire_bytes, second.wire_bytes) == (70_784, 10 + 82 + 4)


@pytest.mark.parametrize(
    ("transfers", "expected"),
    [
        # small verbs are kept, with a signal per segment; larger ones are cut
        ([Transfer(1, 2 * SEGMENT + 1500, verb_bytes=1024)], [[1024] * 64, [1024] * 64, [1024, 476]]),
        ([Transfer(1, 2 * SEGMENT, verb_bytes=1 << 20)], [[SEGMENT], [SEGMENT]]),
        # a requested signal is on the last verb
        ([Transfer(1, 3000, True, verb_bytes=1024), Transfer(2, 10)], [[1024, 1024, 952], [10]]),
        ([Transfer(1, 1000), Transfer(2, 1000, True), Transfer(3, 1000)], [[1000, 1000], [1000]]),
    ],
)
def test_verbs_and_signals_of_the_application(transfers: list[Transfer], expected: list[list[int]]) -> None:
    batches = all_batches(segmenter(*transfers))
    assert lengths(batches) == expected
    for batch in batches:
        assert [send.signaled for send in batch.sends] == [False] * (len(batch.sends) - 1) + [True]


def test_renumbered_verbs_continue_the_numbers() -> None:
    """Batches 1 and 2 are posted again: as 4 and 5, and the piece already cut becomes 6, the next one 7."""
    queue = segmenter(Transfer(1, 4 * SEGMENT))
    posted = []
    for _ in range(2):
        queue.peek()
        posted.append(queue.take())
    queue.peek()
    assert queue.renumber(posted) == 3
    assert [batch.wr_id for batch in posted] == [4, 5]
    assert [send.offset_bytes for batch in posted for send in batch.sends] == [0, SEGMENT]
    assert [batch.wr_id for batch in all_batches(queue)] == [6, 7]


def test_a_batch_holds_no_more_verbs_than_the_send_queue_allows() -> None:
    queue = segmenter(*sizes(*[0] * 10), verbs_max=4)
    assert lengths(all_batches(queue)) == [[0] * 4, [0] * 4, [0] * 2]


def test_an_open_batch_grows_until_it_is_taken() -> None:
    queue = segmenter(Transfer(1, 1000))
    assert queue.peek() is not None
    queue.push(Transfer(2, 500))
    batch = queue.peek()
    assert batch is not None
    assert batch.payload_bytes == 1500
    taken = queue.take()
    assert [send.signaled for send in taken.sends] == [False, True]
    assert taken.ended_transfers == [(1, 1000), (2, 500)]
    assert queue.peek() is None


def test_wire_bytes_of_a_batch_are_those_of_its_verbs() -> None:
    (batch,) = all_batches(segmenter(Transfer(1, 1025), Transfer(2, 100)))
    assert batch.wire_bytes == (1024 + 82 + 16 + 1 + 82) + (100 + 82 + 16)
    assert batch.last_packet_wire_bytes == 100 + 82 + 16


@pytest.mark.parametrize(
    ("verb", "imm", "receipts"), [("write", None, 0), ("write", 5, 1), ("send", None, 1)]
)
def test_sends_and_immediates_consume_a_receive(verb: Verb, imm: int | None, receipts: int) -> None:
    """Of the last verb of a transfer alone: the immediate is on no other."""
    (batch,) = all_batches(segmenter(Transfer(1, 1000, verb=verb, imm=imm), Transfer(2, 1000)))
    assert batch.receipts == receipts


def test_over_uc_the_library_immediate_is_counted() -> None:
    """On a WRITE it adds 4 bytes; behind a SEND it is a separate WRITE, of 82 + 16 + 4 bytes."""
    for verb, verbs, wire_bytes, last_bytes in (
        ("write", 3, 3 * (100 + 82 + 16) + 4, 100 + 82 + 16 + 4),
        ("send", 4, 3 * (100 + 82) + 102, 102),
    ):
        queue = AcknowledgedSegmenter(LINK, SEGMENT, 4)
        for number in range(9):
            queue.push(Transfer(number, 100, verb=cast("Verb", verb)))
        batch = all_batches(queue)[0]
        assert (len(batch.sends), batch.wire_bytes, batch.last_packet_wire_bytes) == (
            verbs,
            wire_bytes,
            last_bytes,
        )


def test_clear_returns_untaken_transfers_with_their_progress() -> None:
    queue = segmenter(Transfer(1, 3 * SEGMENT), Transfer(2, 10), Transfer(3, 20))
    queue.peek()
    queue.take()
    queue.peek()  # the second piece is assembled, not taken
    queue.push(Transfer(4, 30))
    assert queue.clear() == [(1, SEGMENT), (1, 2 * SEGMENT), (2, 0), (3, 0), (4, 0)]
    assert queue.peek() is None
    assert queue.clear() == []


@given(
    transfers=st.lists(st.tuples(st.integers(0, 5 * SEGMENT), st.booleans(), st.integers(0, 3)), max_size=40)
)
def test_every_byte_is_in_one_verb_in_order(transfers: list[tuple[int, bool, int]]) -> None:
    queue = segmenter(verbs_max=16)
    batches = []
    for number, (size_bytes, is_signaled, takes) in enumerate(transfers):
        queue.push(Transfer(number, size_bytes, is_signaled))
        for _ in range(takes):
            if queue.peek() is not None:
                batches.append(queue.take())
    batches += all_batches(queue)
    sends = [send for batch in batches for send in batch.sends]
    assert [send.wr_id for send in sends] == list(range(1, len(sends) + 1))
    assert [send.signaled for batch in batches for send in batch.sends[:-1]] == [False] * (
        len(sends) - len(batches)
    )
    assert all(batch.sends[-1].signaled and batch.wr_id == batch.sends[-1].wr_id for batch in batches)
    for number, (size_bytes, _, _) in enumerate(transfers):
        pieces = [send for send in sends if send.transfer_id == number]
        assert [piece.offset_bytes for piece in pieces] == [
            sum(before.length_bytes for before in pieces[:index]) for index in range(len(pieces))
        ]
        assert sum(piece.length_bytes for piece in pieces) == size_bytes
    ended = [entry for batch in batches for entry in batch.ended_transfers]
    assert ended == [(number, size_bytes) for number, (size_bytes, _, _) in enumerate(transfers)]
    assert all(batch.payload_bytes < 2 * SEGMENT and len(batch.sends) <= 16 for batch in batches)


def batch_of(payload_bytes: int, verbs: int = 1) -> Batch:
    batch = Batch()
    batch.payload_bytes = payload_bytes
    batch.sends = [PostSend(number, 1, 0, 0, True) for number in range(verbs)]
    return batch


def window(*posted_bytes: int, verbs_max: int = 512) -> Window:
    result = Window(mtu_bytes=1024, segment_bytes=SEGMENT, verbs_max=verbs_max)
    for payload_bytes in posted_bytes:
        result.push(batch_of(payload_bytes))
    return result


@pytest.mark.parametrize(
    ("posted_bytes", "next_bytes", "cwnd_packets", "may_post"),
    [
        ([], SEGMENT, 2, True),
        ([SEGMENT], SEGMENT, 2, True),  # two segments always
        ([SEGMENT, SEGMENT], SEGMENT, 2, False),
        ([SEGMENT, SEGMENT], SEGMENT, 191, False),  # 195 584 bytes do not hold three segments
        ([SEGMENT, SEGMENT], SEGMENT, 192, True),  # 196 608 do
        ([10_000] * 3, 10_000, 2, True),  # small batches fill the two segments
        ([10_000] * 13, 10_000, 2, False),
        ([SEGMENT], 130_000, 2, True),  # beyond the window, but the second batch
        ([SEGMENT, 10], 130_000, 2, False),
    ],
)
def test_window_rule_worked_examples(
    posted_bytes: list[int], next_bytes: int, cwnd_packets: float, may_post: bool
) -> None:
    assert window(*posted_bytes).has_room(batch_of(next_bytes), cwnd_packets) is may_post


@pytest.mark.parametrize(
    ("batches_min", "posted_bytes", "may_post"),
    [
        (1, [SEGMENT], False),
        (8, [SEGMENT] * 7, True),
        (8, [SEGMENT] * 8, False),
        (8, [10] * 7 + [9 * SEGMENT], False),  # eight batches, and beyond eight segments
    ],
)
def test_the_minimum_number_of_batches_is_a_parameter(
    batches_min: int, posted_bytes: list[int], may_post: bool
) -> None:
    posted = Window(mtu_bytes=1024, segment_bytes=SEGMENT, verbs_max=512, batches_min=batches_min)
    for payload_bytes in posted_bytes:
        posted.push(batch_of(payload_bytes))
    assert posted.has_room(batch_of(SEGMENT), cwnd_packets=2) is may_post
    assert posted.overrules(cwnd_packets=64 * batches_min - 1)
    assert not posted.overrules(cwnd_packets=64 * batches_min)


def test_the_send_queue_is_never_overfilled() -> None:
    posted = window(verbs_max=8)
    posted.push(batch_of(0, verbs=4))
    assert posted.has_room(batch_of(0, verbs=4), cwnd_packets=100)
    posted.push(batch_of(0, verbs=4))
    assert not posted.has_room(batch_of(0, verbs=1), cwnd_packets=100)
    posted.pop()
    assert posted.has_room(batch_of(0, verbs=1), cwnd_packets=100)
