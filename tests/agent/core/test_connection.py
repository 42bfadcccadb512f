"""One connection, input by input: what it posts, what it reports, and how it ends."""

from collections.abc import Iterable
from typing import Any

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
from rogue.agent.core.clocks import HostNs, NicNs, earlier
from rogue.agent.core.connection import Connection
from rogue.agent.core.errors import NicError, PeerError
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


def connection_of(transport: str = "rogue", tracing: bool = False, **overrides: object) -> Connection:
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


def submitted(*sizes_bytes: int, **options: Any) -> Connection:
    """A connection whose transfers 1, 2, ... are posted as far as the window admits."""
    connection = connection_of(**options)
    for transfer_id, size_bytes in enumerate(sizes_bytes, 1):
        connection.submit(Transfer(transfer_id, size_bytes))
    carry_out(connection)
    return connection


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


def test_one_completion_reports_all_small_transfers_of_a_batch() -> None:
    connection = submitted(
        *[1000] * 5
    )  # the first two went out alone, one each: two batches are always allowed
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
    connection = submitted(20 * SEGMENT, tracing=True, estimator="drained")
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


def test_samples_are_traced_on_request_only() -> None:
    connection = submitted(2 * SEGMENT, estimator="literal")
    connection.on_completions(NOW, completed(1))
    assert connection.actions() == []


def test_a_failed_verb_ends_everything_once_the_rest_is_flushed() -> None:
    connection = submitted(SEGMENT, 3 * SEGMENT, 10)
    connection.on_completions(NOW, completed(1))
    carry_out(connection)
    connection.on_completions(NOW, erred([2], RETRY_EXC_ERR))
    assert connection.actions() == [QueuePairFailed(2, RETRY_EXC_ERR)]
    assert connection.state is State.FLUSHING
    connection.on_completions(NOW, erred([3]))
    assert connection.actions() == [TransferDone(2, False, 0), TransferDone(3, False, 0, is_sent=False)]
    assert connection.next_deadline() is None


def test_bytes_known_to_have_arrived_are_reported_with_the_error() -> None:
    connection = submitted(4 * SEGMENT)
    connection.on_completions(NOW, completed(1))
    carry_out(connection)
    connection.on_completions(NOW, erred([2, 3]))
    assert connection.actions()[-1] == TransferDone(1, False, SEGMENT)


def test_completions_from_before_the_failure_still_count() -> None:
    connection = submitted(SEGMENT, SEGMENT)
    connection.on_qp_error(NOW, QP_NUM)
    assert connection.actions() == []
    connection.on_completions(NOW, completed(1) + erred([2], RETRY_EXC_ERR))
    assert connection.actions() == [
        TransferDone(1, True, SEGMENT),
        QueuePairFailed(2, RETRY_EXC_ERR),
        TransferDone(2, False, 0),
    ]


def test_failure_of_an_idle_queue_pair_is_reported() -> None:
    connection = connection_of()
    carry_out(connection)
    connection.on_qp_error(NOW, QP_NUM)
    assert connection.actions() == [QueuePairFailed(None, None)]
    connection.submit(Transfer(1, 10))
    assert connection.actions() == [TransferDone(1, False, 0, is_sent=False)]


def test_the_wait_for_missing_flushes_is_bounded() -> None:
    connection = submitted(SEGMENT, flush_timeout_ns=5000)
    connection.on_qp_error(NOW, QP_NUM)
    assert connection.next_deadline() == 6000
    connection.on_timer(HostNs(5999))
    assert connection.actions() == []
    connection.on_timer(HostNs(6000))
    assert connection.actions() == [QueuePairFailed(None, None), TransferDone(1, False, 0)]
    connection.on_completions(HostNs(7000), completed(1))
    connection.on_completions(HostNs(7000), erred([1]))
    assert connection.actions() == [], "late completions change nothing"


def test_unposted_verbs_are_withdrawn_on_failure() -> None:
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
def test_impossible_completions_are_errors(wr_ids: list[int]) -> None:
    connection = submitted(3 * SEGMENT)
    with pytest.raises(NicError, match="queue pair 3: completion of verb"):
        connection.on_completions(NOW, completed(*wr_ids))


@pytest.mark.parametrize("wr_id", [0, 3, 7])
def test_a_failing_completion_of_a_verb_that_is_not_outstanding_is_an_error(wr_id: int) -> None:
    connection = submitted(2 * SEGMENT)
    with pytest.raises(NicError, match="IBV_WC_RETRY_EXC_ERR of verb"):
        connection.on_completions(NOW, erred([wr_id], RETRY_EXC_ERR))


def test_an_impossible_input_is_an_error() -> None:
    connection = connection_of()
    connection.submit(Transfer(1, 2 * SEGMENT))
    connection.actions()
    with pytest.raises(NicError, match="verb 2 posted after verb 0"):
        connection.on_posted(2, NicNs(0))
    with pytest.raises(NicError, match="completion of verb 1"):
        connection.on_completions(NOW, completed(1))
    with pytest.raises(NicError, match="an error of queue pair 99"):
        connection.on_qp_error(NOW, 99)
    with pytest.raises(PeerError, match="has no shadow"):
        connection.on_peer_message(encode(Resynced(1), SEAL))


@pytest.mark.parametrize("wrong", [Transfer(1, 6), Transfer(2, -1)])
def test_ambiguous_transfers_are_assertion_errors(wrong: Transfer) -> None:
    connection = connection_of()
    connection.submit(Transfer(1, 5))
    with pytest.raises(AssertionError, match="transfer"):
        connection.submit(wrong)


def test_an_id_may_be_reused_after_its_report() -> None:
    connection = connection_of()
    for wr_id in (1, 2):
        connection.submit(Transfer(7, 10))
        carry_out(connection)
        connection.on_completions(NOW, completed(wr_id))
        assert carry_out(connection) == [TransferDone(7, True, 10)]


def shadowed(size_bytes: int) -> Connection:
    """A connection with a shadow, one transfer, and the actions after the failure of its first verb."""
    settings = settings_for("rogue", LINK.line_rate_bps, {})
    connection = Connection(settings, LINK, QP_NUM, peer=Peer(LINK, 13, QueuePairNumbers(4, 14), SEAL))
    connection.submit(Transfer(1, size_bytes))
    carry_out(connection)
    connection.on_completions(NOW, erred([1], RETRY_EXC_ERR))
    return connection


def test_a_failed_verb_moves_everything_to_the_shadow_at_once() -> None:
    """Verbs 1 and 2 are out and fail: 4 and 5 are the same bytes; 3 was only cut."""
    connection = shadowed(4 * SEGMENT)
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
    connection = shadowed(SEGMENT)
    carry_out(connection)
    connection.on_completions(NOW, completed(2))
    assert carry_out(connection) == []
    connection.on_peer_message(encode(Resynced(1), SEAL))
    ready, done = carry_out(connection)
    assert isinstance(ready, ReadyQueuePair)
    assert done == TransferDone(1, True, SEGMENT)


def test_a_peer_that_never_replies_is_given_up_with_a_reason() -> None:
    connection = shadowed(SEGMENT)
    carry_out(connection)
    while (deadline_ns := connection.next_deadline()) is not None:
        connection.on_timer(deadline_ns)
        last = carry_out(connection)
    assert last == [
        ConnectionFailed("queue pair 3: no reply to resynchronisation for 30 s"),
        ResetQueuePair(4),
        TransferDone(1, False, 0),
    ]


def test_requests_are_repeated_while_a_second_loss_waits_for_flushes() -> None:
    """Both queue pairs fail: the request about the first is due after 10 ms, missing flushes after 1 s."""
    connection = shadowed(4 * SEGMENT)
    assert any(isinstance(action, SwitchToShadow) for action in carry_out(connection))
    connection.on_qp_error(HostNs(NOW + 5), connection.active_qp_num)
    carry_out(connection)
    assert connection.next_deadline() == NOW + 10_000_000
    connection.on_timer(HostNs(NOW + 10_000_000))
    assert [type(action) for action in carry_out(connection)] == [SendPeer]
    assert connection.next_deadline() == NOW + 30_000_000, "the wait doubles"


@pytest.mark.parametrize(
    ("one_ns", "other_ns", "first_ns"), [(None, None, None), (3, None, 3), (None, 4, 4), (3, 4, 3), (5, 4, 4)]
)
def test_the_earlier_deadline_counts_and_none_is_never(
    one_ns: HostNs | None, other_ns: HostNs | None, first_ns: HostNs | None
) -> None:
    assert earlier(one_ns, other_ns) == first_ns
