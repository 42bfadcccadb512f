"""Main and shadow: who is active, what is reset, and what a loss asks of the peer."""

import itertools

import pytest
from helpers.hostile_network import SEAL, STRANGERS_SEAL

from rogue.agent.core.actions import Action, ReadyQueuePair, ResetQueuePair, SendPeer
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import PeerError
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.recovery import (
    QUEUE_PAIR_TRANSITIONS,
    LocalQueuePair,
    Peer,
    QueuePairEvent,
    QueuePairNumbers,
    QueuePairState,
    Recovery,
)
from rogue.agent.core.resync import Resync, Resynced, decode, encode
from rogue.agent.core.transports import settings_for

MAIN, SHADOW = QueuePairNumbers(1, 11), QueuePairNumbers(2, 12)
SETTINGS = settings_for("rogue", 10**10, {})
NOW = HostNs(0)
LATE = HostNs(10**12)


def recovery() -> Recovery:
    return Recovery(MAIN, SHADOW, SEAL, SETTINGS)


def lost(*qp_nums: int) -> tuple[Recovery, list[Action]]:
    pair, actions = recovery(), list[Action]()
    for qp_num in qp_nums:
        pair.lose(NOW, qp_num, 0, actions)
    return pair, actions


def resynced(epoch: int) -> bytes:
    return encode(Resynced(epoch), SEAL)


def test_a_loss_resets_our_end_asks_the_peer_and_turns_to_the_shadow() -> None:
    pair, (reset, request) = lost(1)
    assert reset == ResetQueuePair(1)
    assert isinstance(request, SendPeer)
    assert decode(request.payload, SEAL) == Resync(1, 11, 0)
    assert (pair.active_qp_num, pair.is_ready, pair.is_settled) == (2, True, False)


def test_the_reply_makes_it_ready_with_the_agreed_numbers_and_the_shadow_of_the_other() -> None:
    pair, actions = lost(1)
    pair.on_peer_message(resynced(1), actions)
    assert actions[2:] == [ReadyQueuePair(1, *SEAL.psns(1))]
    assert (pair.active_qp_num, pair.is_settled, pair.deadline_ns) == (2, True, None)


def test_they_strictly_take_turns() -> None:
    pair, actions = lost(1, 2)
    assert (pair.active_qp_num, pair.is_ready) == (1, False)
    pair.on_peer_message(resynced(2), actions)
    assert (pair.active_qp_num, pair.is_ready) == (1, False), "2 is back, but it is 1's turn"
    pair.on_peer_message(resynced(1), actions)
    assert (pair.active_qp_num, pair.is_ready, pair.is_settled) == (1, True, True)


def test_a_reply_makes_it_ask_about_the_other_one_at_once() -> None:
    pair, actions = lost(1, 2)
    pair.on_peer_message(resynced(1), actions)
    assert isinstance(actions[-1], SendPeer)
    assert decode(actions[-1].payload, SEAL) == Resync(2, 12, 0)
    assert pair.deadline_ns == 10_000_000, "which does not change the waiting"


def test_a_repeated_or_old_reply_changes_nothing() -> None:
    pair, actions = lost(1)
    pair.on_peer_message(resynced(1), actions)
    pair.lose(NOW, 2, 0, actions)
    before = len(actions)
    pair.on_peer_message(resynced(1), actions)
    assert len(actions) == before


def test_news_of_a_loss_that_is_known_are_no_second_loss() -> None:
    pair, actions = lost(1, 1)
    assert len(actions) == 2
    assert pair.active_qp_num == 2


def test_losing_the_one_that_waits_does_not_move_the_active_one() -> None:
    pair, _ = lost(2)
    assert (pair.active_qp_num, pair.is_ready, pair.is_settled) == (1, True, False)


def test_what_stays_without_a_reply_is_asked_again_and_at_last_given_up() -> None:
    pair, actions = lost(1)
    assert pair.deadline_ns == 10_000_000
    assert pair.on_timer(HostNs(10_000_000), actions) is None
    assert isinstance(actions[-1], SendPeer)
    assert pair.on_timer(LATE, actions) == 1


def test_stopping_resets_what_is_not_reset() -> None:
    pair, actions = lost(1)
    pair.stop(actions)
    assert actions[2:] == [ResetQueuePair(2)]
    assert pair.deadline_ns is None


def test_after_stopping_a_reply_makes_nothing_ready() -> None:
    pair, actions = lost(1)
    pair.stop(actions)
    before = len(actions)
    pair.on_peer_message(resynced(1), actions)
    assert actions[before:] == []


@pytest.mark.parametrize(
    "payload",
    [b"", b"noise", resynced(2), encode(Resync(1, 11, 0), SEAL), encode(Resynced(1), STRANGERS_SEAL)],
)
def test_what_is_not_meant_for_it_is_refused(payload: bytes) -> None:
    pair, actions = lost(1)
    with pytest.raises(PeerError):
        pair.on_peer_message(payload, actions)
    assert len(actions) == 2


@pytest.mark.parametrize(("state", "event"), [*itertools.product(QueuePairState, QueuePairEvent)])
def test_an_end_follows_its_table_or_refuses(state: QueuePairState, event: QueuePairEvent) -> None:
    end = LocalQueuePair(MAIN, SETTINGS)
    for step in {
        QueuePairState.RTS: (),
        QueuePairState.ERR: (QueuePairEvent.ERRED,),
        QueuePairState.RESET: (QueuePairEvent.ERRED, QueuePairEvent.RESET),
    }[state]:
        end.enter(step)
    expected = QUEUE_PAIR_TRANSITIONS.get((state, event))
    if expected is None:
        with pytest.raises(AssertionError, match="queue pair 1"):
            end.enter(event)
    else:
        end.enter(event)
        assert end.state is expected


def test_without_a_shadow_there_is_no_recovery() -> None:
    assert Peer(LinkFacts(10**10, 1024), 11).recovery(1, SETTINGS) is None
