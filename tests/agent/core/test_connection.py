"""One connection, input by input: what it posts, what it reports, and how it ends."""

from collections.abc import Iterable

import pytest
from helpers.hostile_network import SEAL

from rogue.agent.core.actions import (
    RETRY_EXC_ERR,
    SUCCESS,
    WR_FLUSH_ERR,
    Action,
    Completion,
    ConnectionFailed,
    PostSend,
    QueuePairFailed,
    ReadyQueuePair,
    ResetQueuePair,
    SendPeer,
    SetRate,
    SwitchToShadow,
    Trace,
    TransferDone,
)
from rogue.agent.core.clocks import DeadlineReason, HostNs, NicNs, earlier
from rogue.agent.core.connection import Connection
from rogue.agent.core.errors import NicError, PeerError, SettingsError
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.recovery import Peer, QueuePairNumbers
from rogue.agent.core.resync import Resynced, encode
from rogue.agent.core.segmentation import Transfer
from rogue.agent.core.states import State
from rogue.agent.core.transports import settings_for

NOW = HostNs(1000)
LINK = LinkFacts(10**10, 1024, rate_step_bps=100_000_000)
SEGMENT = 65_536
QP_NUM = 3


def connection_of(transport: str = "rogue", *, tracing: bool = False, **overrides: object) -> Connection:
    return Connection(settings_for(transport, LINK.line_rate_bps, overrides), LINK, QP_NUM, tracing=tracing)


def carry_out(connection: Connection, nic_ns: int = 0) -> list[Action]:
    """Post and program everything the connection asks for; return the actions."""
    actions = connection.actions()
    for action in actions:
        if isinstance(action, PostSend):
            connection.on_posted(action.wr_id, NicNs(nic_ns))
        elif isinstance(action, SetRate):
            connection.on_rate_set(-(-action.rate_bps // 10**8) * 10**8)
    return actions


def posts(actions: list[Action]) -> list[PostSend]:
    return [action for action in actions if isinstance(action, PostSend)]


def completed(*wr_ids: int, nic_ns: int = 400_000) -> list[Completion]:
    return [(wr_id, SUCCESS, NicNs(nic_ns), SEGMENT, None) for wr_id in wr_ids]


def erred(wr_ids: Iterable[int], status: int = WR_FLUSH_ERR) -> list[Completion]:
    return [(wr_id, status, NicNs(0), 0, None) for wr_id in wr_ids]


def test_the_first_rate_is_programmed_before_the_first_post() -> None:
    connection = connection_of()
    connection.submit(Transfer(1, 3 * SEGMENT))
    assert connection.actions() == [
        SetRate(1_769_600_000),
        PostSend(1, 1, 0, SEGMENT, True),
        PostSend(2, 1, SEGMENT, SEGMENT, True),
    ]
    assert connection.inflight_bytes == 2 * SEGMENT


def test_native_roce_posts_two_large_verbs_and_no_rate() -> None:
    connection = connection_of("roce")
    connection.submit(Transfer(1, 3 << 20))
    assert [action.length_bytes for action in posts(carry_out(connection))] == [1 << 20, 1 << 20]


def test_each_completion_lets_one_batch_follow_and_the_last_reports_the_transfer() -> None:
    connection = connection_of()
    connection.submit(Transfer(7, 3 * SEGMENT))
    carry_out(connection)
    connection.on_completions(NOW, completed(1))
    assert carry_out(connection) == [PostSend(3, 7, 2 * SEGMENT, SEGMENT, True)]
    connection.on_completions(NOW, completed(2, 3))
    assert carry_out(connection) == [TransferDone(7, True, 3 * SEGMENT)]
    assert connection.inflight_bytes == 0


def test_small_transfers_are_reported_together_by_the_signal_of_their_batch() -> None:
    connection = connection_of()
    for number in range(1, 6):
        connection.submit(Transfer(number, 1000))
    carry_out(connection)  # the first two went out alone, one each: two batches are always allowed
    connection.on_completions(NOW, completed(1))
    assert posts(carry_out(connection)) == []
    connection.on_completions(NOW, completed(2, 3, 4, 5))
    assert carry_out(connection) == [TransferDone(number, True, 1000) for number in (2, 3, 4, 5)]


def test_a_transfer_of_no_bytes_is_one_verb() -> None:
    connection = connection_of()
    connection.submit(Transfer(1, 0))
    assert carry_out(connection)[1:] == [PostSend(1, 1, 0, 0, True)]
    connection.on_completions(NOW, completed(1))
    assert carry_out(connection) == [TransferDone(1, True, 0)]


def test_after_the_hold_off_the_queue_pair_runs_empty_and_the_sample_is_traced() -> None:
    connection = connection_of(tracing=True)
    connection.submit(Transfer(1, 20 * SEGMENT))
    carry_out(connection)
    connection.on_completions(NOW, completed(1))
    carry_out(connection)
    connection.on_completions(NOW, completed(2))
    assert carry_out(connection) == [], "196 608 bytes are posted: nothing more until verb 3 is back"
    connection.on_completions(NOW, completed(3))
    assert [action.wr_id for action in posts(carry_out(connection, 1_000_000))] == [4, 5]
    left_ns = 1_000_000 + (70_800 - 1106) * 8 / 1.8 + 1106 * 8 / 10
    connection.on_completions(NOW, completed(4, nic_ns=round(left_ns) + 51_000))
    trace, rate, post = carry_out(connection)
    assert isinstance(trace, Trace)
    sample = trace.sample
    assert (sample.wr_id, round(trace.rtt_ns, -1), sample.limiter_bps) == (4, 51_000, 2_800_000_000)
    assert (sample.rtt_ns, sample.base_rtt_ns) == (round(trace.rtt_ns), round(trace.metrics["base_rtt_ns"]))
    assert (sample.reason, sample.accepted, sample.cwnd_packets) == ("accepted", True, 20)
    assert rate == SetRate(2_800_000_000)
    assert isinstance(post, PostSend)


def test_nothing_is_traced_unless_asked() -> None:
    connection = connection_of(estimator="literal")
    connection.submit(Transfer(1, 2 * SEGMENT))
    carry_out(connection)
    connection.on_completions(NOW, completed(1))
    assert connection.actions() == []


def test_a_failed_verb_ends_everything_once_the_rest_is_flushed() -> None:
    connection = connection_of()
    connection.submit(Transfer(1, SEGMENT))
    connection.submit(Transfer(2, 3 * SEGMENT))
    connection.submit(Transfer(3, 10))
    carry_out(connection)
    connection.on_completions(NOW, completed(1))
    carry_out(connection)
    connection.on_completions(NOW, erred([2], RETRY_EXC_ERR))
    assert connection.actions() == [QueuePairFailed(2, RETRY_EXC_ERR)]
    assert connection.state is State.FLUSHING
    connection.on_completions(NOW, erred([3]))
    assert connection.actions() == [TransferDone(2, False, 0), TransferDone(3, False, 0, is_sent=False)]
    assert connection.next_deadline() is None


def test_bytes_known_to_have_arrived_are_reported_with_the_error() -> None:
    connection = connection_of()
    connection.submit(Transfer(1, 4 * SEGMENT))
    carry_out(connection)
    connection.on_completions(NOW, completed(1))
    carry_out(connection)
    connection.on_completions(NOW, erred([2, 3]))
    assert connection.actions()[-1] == TransferDone(1, False, SEGMENT)


def test_completions_from_before_the_failure_still_count() -> None:
    connection = connection_of()
    connection.submit(Transfer(1, SEGMENT))
    connection.submit(Transfer(2, SEGMENT))
    carry_out(connection)
    connection.on_qp_error(NOW, QP_NUM)
    assert connection.actions() == []
    connection.on_completions(NOW, completed(1) + erred([2], RETRY_EXC_ERR))
    assert connection.actions() == [
        TransferDone(1, True, SEGMENT),
        QueuePairFailed(2, RETRY_EXC_ERR),
        TransferDone(2, False, 0),
    ]


def test_an_idle_queue_pair_that_fails_is_reported_as_well() -> None:
    connection = connection_of()
    carry_out(connection)
    connection.on_qp_error(NOW, QP_NUM)
    assert connection.actions() == [QueuePairFailed(None, None)]
    connection.submit(Transfer(1, 10))
    assert connection.actions() == [TransferDone(1, False, 0, is_sent=False)]


def test_missing_flushes_are_waited_for_only_so_long() -> None:
    connection = connection_of(flush_timeout_ns=5000)
    connection.submit(Transfer(1, SEGMENT))
    carry_out(connection)
    connection.on_qp_error(NOW, QP_NUM)
    deadline = connection.next_deadline()
    assert deadline is not None
    assert (deadline.host_ns, deadline.reason) == (6000, DeadlineReason.FLUSH)
    connection.on_timer(HostNs(5999))
    assert connection.actions() == []
    connection.on_timer(HostNs(6000))
    assert connection.actions() == [QueuePairFailed(None, None), TransferDone(1, False, 0)]
    connection.on_completions(HostNs(7000), completed(1))
    connection.on_completions(HostNs(7000), erred([1]))
    assert connection.actions() == [], "late completions change nothing"


def test_verbs_not_yet_handed_to_the_driver_are_withdrawn_on_failure() -> None:
    connection = connection_of()
    connection.submit(Transfer(1, 2 * SEGMENT))
    connection.on_qp_error(NOW, QP_NUM)
    assert not any(isinstance(action, PostSend) for action in connection.actions())
    assert connection.state is State.FAILED, "nothing was posted, so nothing can be flushed"


def test_a_refused_post_breaks_the_connection() -> None:
    connection = connection_of()
    connection.submit(Transfer(1, 3 * SEGMENT))
    connection.actions()
    connection.on_posted(1, NicNs(0))
    connection.on_post_refused(NOW, 2)
    assert connection.actions() == []
    connection.on_completions(NOW, erred([1], RETRY_EXC_ERR))
    assert connection.actions() == [QueuePairFailed(1, RETRY_EXC_ERR), TransferDone(1, False, 0)]


@pytest.mark.parametrize("wr_ids", [[2], [1, 1], [3], [0], [1, 2, 3]])
def test_completions_that_verbs_do_not_allow_are_refused(wr_ids: list[int]) -> None:
    connection = connection_of()
    connection.submit(Transfer(1, 3 * SEGMENT))
    carry_out(connection)
    with pytest.raises(NicError, match="queue pair 3: completion of verb"):
        connection.on_completions(NOW, completed(*wr_ids))


def test_a_completion_before_the_post_is_refused() -> None:
    connection = connection_of()
    connection.submit(Transfer(1, SEGMENT))
    connection.actions()
    with pytest.raises(NicError, match="completion of verb 1"):
        connection.on_completions(NOW, completed(1))


@pytest.mark.parametrize("wr_id", [0, 3, 7])
def test_a_failing_completion_of_a_verb_that_is_not_out_is_refused(wr_id: int) -> None:
    connection = connection_of()
    connection.submit(Transfer(1, 2 * SEGMENT))
    carry_out(connection)
    with pytest.raises(NicError, match="IBV_WC_RETRY_EXC_ERR of verb"):
        connection.on_completions(NOW, erred([wr_id], RETRY_EXC_ERR))


def test_posts_out_of_order_are_refused() -> None:
    connection = connection_of()
    connection.submit(Transfer(1, 2 * SEGMENT))
    connection.actions()
    with pytest.raises(NicError, match="verb 2 posted after verb 0"):
        connection.on_posted(2, NicNs(0))


def test_an_event_of_another_queue_pair_is_refused() -> None:
    with pytest.raises(NicError, match="an error of queue pair 99"):
        connection_of().on_qp_error(NOW, 99)


@pytest.mark.parametrize("wrong", [Transfer(1, 6), Transfer(2, -1)])
def test_transfers_that_cannot_be_told_apart_or_done_are_our_mistake(wrong: Transfer) -> None:
    connection = connection_of()
    connection.submit(Transfer(1, 5))
    with pytest.raises(AssertionError, match="transfer"):
        connection.submit(wrong)


def test_an_id_may_be_used_again_once_it_was_reported() -> None:
    connection = connection_of()
    for wr_id in (1, 2):
        connection.submit(Transfer(7, 10))
        carry_out(connection)
        connection.on_completions(NOW, completed(wr_id))
        assert carry_out(connection) == [TransferDone(7, True, 10)]


def shadowed() -> Connection:
    settings = settings_for("rogue", LINK.line_rate_bps, {})
    return Connection(settings, LINK, QP_NUM, peer=Peer(LINK, 13, QueuePairNumbers(4, 14), SEAL))


def test_a_failed_verb_moves_everything_to_the_shadow_at_once() -> None:
    """Verbs 1 and 2 are out and fail: 4 and 5 are the same bytes; 3 was only cut."""
    connection = shadowed()
    connection.submit(Transfer(1, 4 * SEGMENT))
    carry_out(connection)
    connection.on_completions(NOW, erred([1], RETRY_EXC_ERR))
    failed, reset, request, switch, rate, *again = carry_out(connection)
    assert failed == QueuePairFailed(1, RETRY_EXC_ERR)
    assert reset == ResetQueuePair(QP_NUM)
    assert isinstance(request, SendPeer)
    assert switch == SwitchToShadow(4, 2 * SEGMENT)
    assert rate == SetRate(1_769_600_000)
    assert again == [PostSend(4, 1, 0, SEGMENT, True), PostSend(5, 1, SEGMENT, SEGMENT, True)]
    connection.on_completions(NOW, erred([2]))
    assert carry_out(connection) == [], "the flush of the lost queue pair is no news"


def test_the_transfer_is_reported_once_the_lost_queue_pair_is_reset_on_both_ends() -> None:
    connection = shadowed()
    connection.submit(Transfer(1, SEGMENT))
    carry_out(connection)
    connection.on_completions(NOW, erred([1], RETRY_EXC_ERR))
    carry_out(connection)
    connection.on_completions(NOW, completed(2))
    assert carry_out(connection) == []
    connection.on_peer_message(encode(Resynced(1), SEAL))
    ready, done = carry_out(connection)
    assert isinstance(ready, ReadyQueuePair)
    assert done == TransferDone(1, True, SEGMENT)


def test_a_peer_that_never_replies_is_given_up_with_a_reason() -> None:
    connection = shadowed()
    connection.submit(Transfer(1, SEGMENT))
    carry_out(connection)
    connection.on_completions(NOW, erred([1], RETRY_EXC_ERR))
    carry_out(connection)
    while (deadline := connection.next_deadline()) is not None:
        assert deadline.reason is DeadlineReason.RESYNC
        connection.on_timer(deadline.host_ns)
        last = carry_out(connection)
    assert deadline is None
    assert last == [
        ConnectionFailed("queue pair 3: no reply to resynchronisation for 30 s"),
        ResetQueuePair(4),
        TransferDone(1, False, 0),
    ]


def test_the_peer_is_asked_again_in_time_although_a_second_loss_waits_for_its_flushes() -> None:
    """Both queue pairs fail: the request about the first is due after 10 ms, missing flushes after 1 s."""
    connection = shadowed()
    connection.submit(Transfer(1, 4 * SEGMENT))
    carry_out(connection)
    connection.on_completions(NOW, erred([1], RETRY_EXC_ERR))
    assert any(isinstance(action, SwitchToShadow) for action in carry_out(connection))
    connection.on_qp_error(HostNs(NOW + 5), connection.active_qp_num)
    carry_out(connection)
    deadline = connection.next_deadline()
    assert deadline == (NOW + 10_000_000, DeadlineReason.RESYNC)
    connection.on_timer(deadline.host_ns)
    assert [type(action) for action in carry_out(connection)] == [SendPeer]
    deadline = connection.next_deadline()
    assert deadline == (NOW + 30_000_000, DeadlineReason.RESYNC), "the wait doubles"


def test_without_a_shadow_a_datagram_makes_no_sense() -> None:
    with pytest.raises(PeerError, match="has no shadow"):
        connection_of().on_peer_message(encode(Resynced(1), SEAL))


@pytest.mark.parametrize(
    ("one_ns", "other_ns", "first_ns"), [(None, None, None), (3, None, 3), (None, 4, 4), (3, 4, 3), (5, 4, 4)]
)
def test_the_earlier_deadline_counts_and_none_is_never(
    one_ns: HostNs | None, other_ns: HostNs | None, first_ns: HostNs | None
) -> None:
    assert earlier(one_ns, other_ns) == first_ns


def test_errors_name_the_queue_pair_or_the_parameter() -> None:
    nic, settings = NicError(17, "completion of verb 3"), SettingsError("alpha", -1, "at least 0")
    assert (str(nic), nic.qp_num, nic.problem) == (
        "queue pair 17: completion of verb 3",
        17,
        "completion of verb 3",
    )
    assert (str(settings), settings.got, settings.expected) == (
        "alpha: got -1, expected at least 0",
        -1,
        "at least 0",
    )
