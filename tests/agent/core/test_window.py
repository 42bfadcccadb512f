"""Tests: batches in flight, and whether one more may be posted."""

import pytest

from rogue.agent.core.actions import PostSend
from rogue.agent.core.window import NO_EPOCH, Batch, Window

SEGMENT = 65_536


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


@pytest.mark.parametrize(("cwnd_packets", "is_overruled"), [(2, True), (127.9, True), (128, False)])
def test_the_floor_of_two_segments_overrules_smaller_windows(cwnd_packets: float, is_overruled: bool) -> None:
    """128 packets of 1024 bytes are two segments."""
    assert window().overrules(cwnd_packets) is is_overruled


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
def test_the_least_window_may_be_another_number_of_batches(
    batches_min: int, posted_bytes: list[int], may_post: bool
) -> None:
    posted = Window(mtu_bytes=1024, segment_bytes=SEGMENT, verbs_max=512, batches_min=batches_min)
    for payload_bytes in posted_bytes:
        posted.push(batch_of(payload_bytes))
    assert posted.has_room(batch_of(SEGMENT), cwnd_packets=2) is may_post
    assert posted.overrules(cwnd_packets=64 * batches_min - 1)
    assert not posted.overrules(cwnd_packets=64 * batches_min)


def test_batches_leave_in_order_and_give_their_bytes_back() -> None:
    posted = window(10, 20, 30)
    assert posted.inflight_bytes == 60
    assert posted.pop().payload_bytes == 10
    assert posted.inflight_bytes == 50


def test_the_send_queue_is_never_overfilled() -> None:
    posted = Window(mtu_bytes=1024, segment_bytes=SEGMENT, verbs_max=8)
    posted.push(batch_of(0, verbs=4))
    assert posted.has_room(batch_of(0, verbs=4), cwnd_packets=100)
    posted.push(batch_of(0, verbs=4))
    assert not posted.has_room(batch_of(0, verbs=1), cwnd_packets=100)
    posted.pop()
    assert posted.has_room(batch_of(0, verbs=1), cwnd_packets=100)


def test_take_all_releases_everything_oldest_first() -> None:
    posted = window()
    batches = [batch_of(30), batch_of(20)]
    for batch in batches:
        posted.push(batch)
    assert posted.take_all() == batches
    assert (posted.inflight_bytes, posted.inflight_verbs, list(posted.batches)) == (0, 0, [])


def test_a_batch_counts_for_nothing_until_it_is_posted() -> None:
    batch = Batch()
    assert (batch.epoch, batch.is_anchored, batch.sends, batch.payload_bytes) == (NO_EPOCH, False, [], 0)
