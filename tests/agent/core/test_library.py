"""The passive end: one reply per loss, rates applied, messages delivered exactly once."""

import pytest
from helpers.hostile_network import SEAL, STRANGERS_SEAL

from rogue.agent.core.actions import (
    SUCCESS,
    WR_FLUSH_ERR,
    Completion,
    ReadyQueuePair,
    ResetQueuePair,
    SendPeer,
)
from rogue.agent.core.clocks import NicNs
from rogue.agent.core.errors import PeerError
from rogue.agent.core.immediates import batch_immediate, rate_immediate
from rogue.agent.core.library import (
    AcknowledgeBatch,
    Deliver,
    Library,
    LibraryAction,
    SetResponseRate,
)
from rogue.agent.core.resync import Resync, Resynced, decode, encode

MAIN, SHADOW = 11, 12
NOW = NicNs(5000)
SEGMENT = 65_536


def request(epoch: int, qp_num: int = MAIN, receipts: int = 0) -> bytes:
    return encode(Resync(epoch, qp_num, receipts), SEAL)


def received(*sizes: int, imm: int | None = None, status: int = SUCCESS) -> list[Completion]:
    return [(0, status, NicNs(0), size, imm) for size in sizes]


def test_a_rate_is_applied_to_the_queue_pair_it_came_on() -> None:
    library = Library(MAIN, SHADOW, seal=SEAL)
    library.on_receives(SHADOW, received(0, imm=rate_immediate(1_800_000_000)), NOW)
    assert library.actions() == [SetResponseRate(SHADOW, 1_800_000_000)]


def test_a_batch_is_acknowledged_with_its_number_and_processing_time() -> None:
    """It arrived at 0 and the clock is at 5000 ns."""
    library = Library(MAIN)
    library.on_receives(MAIN, received(SEGMENT, imm=batch_immediate(7)), NOW)
    assert library.actions() == [AcknowledgeBatch(MAIN, batch_immediate(7, 5000))], (
        "and nothing for the application"
    )


def test_messages_are_delivered_in_order_and_flushed_receives_are_none() -> None:
    library = Library(MAIN, SHADOW, seal=SEAL)
    library.on_receives(MAIN, received(10, 20) + received(5, status=WR_FLUSH_ERR) + received(0, imm=9), NOW)
    assert library.actions() == [Deliver(10, None), Deliver(20, None), Deliver(0, 9)]


def test_repeated_messages_are_delivered_once() -> None:
    """Of three delivered messages one was acknowledged: the shadow brings 2 and 3 again, and 4."""
    library = Library(MAIN, SHADOW, seal=SEAL)
    library.on_receives(MAIN, received(1, 2, 3), NOW)
    library.on_peer_message(request(1, receipts=1))
    library.actions()
    library.on_receives(SHADOW, received(2, 3, 4), NOW)
    assert library.actions() == [Deliver(4, None)]


def test_messages_on_the_shadow_before_the_request_are_held() -> None:
    library = Library(MAIN, SHADOW, seal=SEAL)
    library.on_receives(MAIN, received(1, 2), NOW)
    library.on_receives(SHADOW, received(2, 3), NOW)
    assert library.actions() == [Deliver(1, None), Deliver(2, None)]
    library.on_peer_message(request(1, receipts=1))
    assert [action for action in library.actions() if isinstance(action, Deliver)] == [Deliver(3, None)]


@pytest.mark.parametrize("receipts", [1, 3])
def test_an_impossible_number_of_acknowledged_messages_is_an_error(receipts: int) -> None:
    """Two messages have arrived and were acknowledged: 3 says too much, and 1 takes something back."""
    library = Library(MAIN, SHADOW, seal=SEAL)
    library.on_receives(MAIN, received(1, 2), NOW)
    library.on_peer_message(request(1, receipts=2))
    library.actions()
    with pytest.raises(PeerError, match=f"got {receipts} .* from 2, acknowledged before, to 2, which"):
        library.on_peer_message(request(2, SHADOW, receipts=receipts))
    assert library.actions() == []
    library.on_peer_message(request(2, SHADOW, receipts=2))
    assert len(library.actions()) == 3, "the true one is taken as if nothing had been said"


@pytest.mark.parametrize("imm", [1 << 32, 1 << 33])
def test_an_unknown_immediate_is_an_error(imm: int) -> None:
    with pytest.raises(PeerError, match="immediate"):
        Library(MAIN, SHADOW, seal=SEAL).on_receives(MAIN, received(0, imm=imm), NOW)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"noise" * 9,
        request(1, 99),
        encode(Resynced(1), SEAL),
        encode(Resync(1, MAIN, 0), STRANGERS_SEAL),
    ],
)
def test_an_invalid_datagram_changes_nothing(payload: bytes) -> None:
    library = Library(MAIN, SHADOW, seal=SEAL)
    with pytest.raises(PeerError):
        library.on_peer_message(payload)
    assert library.actions() == []
    library.on_peer_message(request(1))
    assert len(library.actions()) == 3, "the first loss is still the next one"


def test_without_a_shadow_a_loss_is_final() -> None:
    with pytest.raises(PeerError, match="no shadow"):
        Library(MAIN).on_peer_message(request(1))


def test_receives_of_an_unknown_queue_pair_are_refused() -> None:
    with pytest.raises(PeerError, match="queue pair 5"):
        Library(MAIN).on_receives(5, [], NOW)


LOST_THRICE = [request(1), request(2, SHADOW), request(3)]
RESYNCED: list[type[LibraryAction]] = [ResetQueuePair, ReadyQueuePair, SendPeer]


@pytest.mark.parametrize(
    ("before", "payload", "kinds"),
    [
        ([], request(1), RESYNCED),
        ([], request(2), []),
        ([request(2, SHADOW), request(1)], request(2, SHADOW), RESYNCED),
        (LOST_THRICE, request(4, SHADOW), RESYNCED),
        (LOST_THRICE, request(3), [SendPeer]),
        (LOST_THRICE, request(1), []),
        (LOST_THRICE, request(5), []),
    ],
    ids=["first", "too early", "repeated after the first", "next", "repeated", "stale", "later, too early"],
)
def test_the_next_loss_resets_and_only_it_and_the_last_one_have_a_reply(
    before: list[bytes], payload: bytes, kinds: list[type[LibraryAction]]
) -> None:
    library = Library(MAIN, SHADOW, seal=SEAL)
    for each in before:
        library.on_peer_message(each)
    library.actions()
    library.on_peer_message(payload)
    actions = library.actions()
    assert [type(action) for action in actions] == kinds
    if kinds == RESYNCED:
        message = decode(payload, SEAL)
        assert isinstance(message, Resync)
        requester_psn, responder_psn = SEAL.psns(message.epoch)
        assert actions[1] == ReadyQueuePair(message.responder_qp_num, responder_psn, requester_psn)
    if kinds:
        reply = actions[-1]
        assert isinstance(reply, SendPeer)
        assert decode(reply.payload, SEAL) == Resynced(decode(payload, SEAL).epoch)
