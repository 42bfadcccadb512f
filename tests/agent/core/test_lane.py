"""Tests: a lane: one direction of a connection, with its transfers, window and control."""

import pytest
from helpers.networks import rtt_sample

from rogue.agent.core.actions import SUCCESS, Action, PostSend, SetRate, TransferDone
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.errors import NicError
from rogue.agent.core.feedback_loop import FeedbackLoop
from rogue.agent.core.immediates import rate_of
from rogue.agent.core.lane import LANE_SHIFT, Lane, Reports
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.recovery import Peer
from rogue.agent.core.segmentation import Transfer
from rogue.agent.core.transports import settings_for

NOW = HostNs(1000)
LINK = LinkFacts(10**10, 1024, rate_step_bps=100_000_000)
SEGMENT = 65_536
FIRST_READ = (1 << LANE_SHIFT) + 1
SETTINGS = settings_for("rogue", LINK.line_rate_bps, {"hold_off_bytes": 0})


def lane_with(*transfers: Transfer) -> Lane:
    lane = Lane(0, 1, SETTINGS, FeedbackLoop(SETTINGS, LINK), tracing=False)
    for transfer in transfers:
        lane.push(transfer)
    return lane


def posted(lane: Lane, actions: list[Action]) -> list[PostSend]:
    """Post what the lane hands out; return it."""
    before = len(actions)
    lane.post_batches(actions)
    sends = [action for action in actions[before:] if isinstance(action, PostSend)]
    for send in sends:
        lane.on_posted(send.wr_id, NicNs(0))
    return sends


def pieces(sends: list[PostSend]) -> list[tuple[int, int, int]]:
    return [(send.wr_id, send.transfer_id, send.offset_bytes) for send in sends]


def test_incomplete_verbs_are_posted_again_in_order() -> None:
    """Verbs 1, 2 are out and 1 is back; 2 goes out again as 4, and 3, already cut, follows as 5."""
    lane, actions = lane_with(Transfer(1, 4 * SEGMENT)), list[Action]()
    posted(lane, actions)
    lane.release(1, actions)
    posted(lane, actions)
    lane.rewind()
    assert lane.is_retired(3)
    assert not lane.is_outstanding
    assert pieces(posted(lane, actions)) == [(5, 1, SEGMENT), (6, 1, 2 * SEGMENT)]
    assert not lane.is_retired(5)


def test_a_batch_knows_whether_another_was_posted_behind_it() -> None:
    lane, actions = lane_with(Transfer(1, 2 * SEGMENT)), list[Action]()
    posted(lane, actions)
    lane.rewind()
    posted(lane, actions)
    batches = [lane.release(wr_id, actions) for wr_id in (3, 4)]
    assert [batch and batch.is_followed for batch in batches] == [True, False], "of the second attempt"


def test_a_second_loss_keeps_the_order() -> None:
    lane, actions = lane_with(Transfer(1, 4 * SEGMENT)), list[Action]()
    posted(lane, actions)
    for _ in range(2):
        lane.rewind()
        sends = posted(lane, actions)
    assert [send.offset_bytes for send in sends] == [0, SEGMENT]
    lane.release(sends[0].wr_id, actions)
    assert [send.offset_bytes for send in posted(lane, actions)] == [2 * SEGMENT]


def test_a_loss_restores_the_initial_window_and_keeps_the_base_rtt() -> None:
    lane = lane_with(Transfer(1, SEGMENT))
    cc = lane.feedback.cc
    for _ in range(3):
        cc.on_sample(rtt_sample(60_000))
    before = cc.metrics()["base_rtt_ns"]
    lane.rewind()
    assert (cc.cwnd_packets, cc.metrics()["base_rtt_ns"]) == (10, before)
    assert lane.feedback.next_rate() is not None, "and the limiter gets a rate"


def test_clear_reports_posted_repeated_and_waiting_transfers() -> None:
    lane, actions = lane_with(Transfer(1, 2 * SEGMENT), Transfer(2, 10)), list[Action]()
    posted(lane, actions)
    lane.release(1, actions)
    lane.rewind()
    before = len(actions)
    lane.clear(actions)
    assert actions[before:] == [TransferDone(1, False, SEGMENT), TransferDone(2, False, 0, is_sent=False)]
    assert posted(lane, actions) == []


def test_late_completions_of_retired_verbs() -> None:
    lane, actions = lane_with(Transfer(1, SEGMENT)), list[Action]()
    posted(lane, actions)
    lane.rewind()
    assert lane.release(1, actions) is None
    with pytest.raises(NicError, match="not outstanding"):
        lane.on_failed(1, "IBV_WC_WR_FLUSH_ERR")


def test_withdrawn_verbs_cannot_be_posted() -> None:
    lane, actions = lane_with(Transfer(1, SEGMENT)), list[Action]()
    lane.post_batches(actions)
    lane.withdraw()
    with pytest.raises(NicError, match="verb 1 posted after verb 0"):
        lane.on_posted(1, NicNs(0))


@pytest.mark.parametrize(
    ("overrides", "size_bytes", "verbs"),
    [({"send_queue_verbs": 4}, 10, 4), ({"batches_min": 3}, SEGMENT, 3)],  # the queue's depth, the minimum
)
def test_a_lane_posts_up_to_its_limits(overrides: dict[str, object], size_bytes: int, verbs: int) -> None:
    settings = settings_for("rogue", LINK.line_rate_bps, {"hold_off_bytes": 0, **overrides})
    lane = Lane(0, 1, settings, FeedbackLoop(settings, LINK), tracing=False)
    for number in range(9):
        lane.push(Transfer(number, size_bytes))
    assert len(posted(lane, [])) == verbs


def reading(size_bytes: int) -> tuple[Connection, list[Action]]:
    connection = Connection(SETTINGS, LINK, 1, peer=Peer(LINK, qp_num=2))
    connection.actions()
    connection.on_rate_set(1_800_000_000)
    connection.submit(Transfer(1, size_bytes, verb="read"))
    actions = connection.actions()
    for action in actions:
        if isinstance(action, PostSend):
            connection.on_posted(action.wr_id, NicNs(0))
    return connection, actions


def test_the_first_read_sends_its_rate_to_the_peer() -> None:
    """10 packets of 1106 bytes per 50 us: 1.7696 Gb/s, which the peer's limiter makes 1.8."""
    _, actions = reading(3 * SEGMENT)
    message, *reads = [action for action in actions if isinstance(action, PostSend)]
    assert (message.verb, message.length_bytes, message.signaled) == ("write", 0, False)
    assert message.imm is not None
    assert rate_of(message.imm) == 1_769_600_000
    assert [(read.verb, read.wr_id, read.length_bytes) for read in reads] == [
        ("read", FIRST_READ, SEGMENT),
        ("read", FIRST_READ + 1, SEGMENT),
    ]
    assert not any(isinstance(action, SetRate) for action in actions), "not our own limiter"


def test_a_read_is_measured_against_the_rate_at_the_peer() -> None:
    """70 792 wire bytes of response at 1.8 Gb/s, the last 1110 of them at line rate, and 52 us of RTT.

    The first READ finds an empty queue pair, so only the second one's sample counts.
    """
    connection, _ = reading(8 * SEGMENT)
    left_ns = (70_792 - 1110) * 8 / 1.8 + 1110 * 8 / 10
    completed = (NicNs(round(left_ns + more_ns) + 52_000) for more_ns in (0, 70_792 * 8 / 1.8))
    connection.on_completions(
        NOW, [(FIRST_READ + n, SUCCESS, nic_ns, SEGMENT, None) for n, nic_ns in enumerate(completed)]
    )
    messages = [
        action for action in connection.actions() if isinstance(action, PostSend) and action.imm is not None
    ]
    assert [rate_of(message.imm or 0) for message in messages] == [2_800_000_000], "one step of 1 Gb/s up"


def test_reads_and_writes_have_separate_windows() -> None:
    connection, _ = reading(8 * SEGMENT)
    connection.submit(Transfer(2, 8 * SEGMENT))
    writes = [action.wr_id for action in connection.actions() if isinstance(action, PostSend)]
    assert writes == [1, 2], "two batches of WRITEs beside two of READs"
    assert connection.inflight_bytes == 4 * SEGMENT


def test_a_read_needs_facts_about_the_peer() -> None:
    connection = Connection(SETTINGS, LINK, 1)
    with pytest.raises(AssertionError, match="no facts about the NIC"):
        connection.submit(Transfer(1, 1, verb="read"))


def reports_of(*transfer_ids: int) -> Reports:
    reports = Reports()
    for transfer_id in transfer_ids:
        reports.add(transfer_id)
    return reports


def test_a_suspect_is_held_with_all_that_end_after_it() -> None:
    """Transfer 5 is not running, so it is no suspect once it runs."""
    reports, actions = reports_of(1, 2, 3), list[Action]()
    reports.suspect([2, 5])
    for transfer_id in (1, 2, 3):
        reports.complete(transfer_id, 10, actions)
    assert actions == [TransferDone(1, True, 10)]
    assert 3 in reports, "a held transfer is still running"
    reports.clear_suspicion(actions)
    assert actions[1:] == [TransferDone(2, True, 10), TransferDone(3, True, 10)]
    assert 3 not in reports
    reports.add(5)
    reports.complete(5, 10, actions)
    assert actions[3:] == [TransferDone(5, True, 10)]


def test_failure_reports_everything_once_with_its_progress() -> None:
    reports, actions = reports_of(1, 2, 3, 4), list[Action]()
    reports.suspect([1])
    reports.complete(1, 10, actions)
    reports.fail([(2, 30), (2, 60), (3, 0), (4, 0)], {3}, actions)
    assert actions == [
        TransferDone(1, False, 10),
        TransferDone(2, False, 30),
        TransferDone(3, False, 0),
        TransferDone(4, False, 0, is_sent=False),
    ]
    reports.fail([(2, 30)], set(), actions)
    assert len(actions) == 4


def test_a_transfer_with_one_acknowledged_byte_has_been_sent() -> None:
    reports, actions = reports_of(1, 2), list[Action]()
    reports.fail([(1, 1), (2, 0)], set(), actions)
    assert actions == [TransferDone(1, False, 1, is_sent=True), TransferDone(2, False, 0, is_sent=False)]
