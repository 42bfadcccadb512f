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


def asked(*payloads: bytes) -> list[LibraryAction]:
    library = Library(MAIN, SHADOW, seal=SEAL)
    for payload in payloads:
        library.on_peer_message(payload)
    return library.actions()


def test_a_loss_has_its_reply_after_our_end_was_reset_and_readied() -> None:
    reset, ready, reply = asked(request(1))
    requester_psn, responder_psn = SEAL.psns(1)
    assert reset == ResetQueuePair(MAIN)
    assert ready == ReadyQueuePair(MAIN, sq_psn=responder_psn, rq_psn=requester_psn)
    assert isinstance(reply, SendPeer)
    assert decode(reply.payload, SEAL) == Resynced(1)


def test_the_same_request_again_has_its_reply_again_without_another_reset() -> None:
    first, again = asked(request(1)), asked(request(1), request(1))
    assert again == [*first, first[-1]]


def test_a_request_overtaken_by_a_later_loss_of_the_same_queue_pair_has_no_reply() -> None:
    before = asked(request(1), request(2, SHADOW), request(3))
    assert asked(request(1), request(2, SHADOW), request(3), request(1)) == before


def test_a_later_loss_waits_for_the_earlier_one() -> None:
    """Both are asked about until there are replies, so that nothing is lost by waiting."""
    assert asked(request(2, SHADOW)) == []
    assert len(asked(request(2, SHADOW), request(1), request(2, SHADOW))) == 6


def test_a_rate_is_applied_to_the_queue_pair_it_came_on() -> None:
    library = Library(MAIN, SHADOW, seal=SEAL)
    library.on_receives(SHADOW, received(0, imm=rate_immediate(1_800_000_000)), NOW)
    assert library.actions() == [SetResponseRate(SHADOW, 1_800_000_000)]


def test_a_batch_is_acknowledged_with_its_number_and_the_time_that_took() -> None:
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


def test_what_was_delivered_is_not_delivered_again() -> None:
    """Of three delivered messages one was acknowledged: the shadow brings 2 and 3 again, and 4."""
    library = Library(MAIN, SHADOW, seal=SEAL)
    library.on_receives(MAIN, received(1, 2, 3), NOW)
    library.on_peer_message(request(1, receipts=1))
    library.actions()
    library.on_receives(SHADOW, received(2, 3, 4), NOW)
    assert library.actions() == [Deliver(4, None)]


def test_what_comes_on_the_shadow_before_the_request_is_held() -> None:
    library = Library(MAIN, SHADOW, seal=SEAL)
    library.on_receives(MAIN, received(1, 2), NOW)
    library.on_receives(SHADOW, received(2, 3), NOW)
    assert library.actions() == [Deliver(1, None), Deliver(2, None)]
    library.on_peer_message(request(1, receipts=1))
    assert [action for action in library.actions() if isinstance(action, Deliver)] == [Deliver(3, None)]


@pytest.mark.parametrize("receipts", [1, 3])
def test_only_what_arrived_was_acknowledged_and_stays_so(receipts: int) -> None:
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
def test_an_immediate_without_meaning_is_the_peers_mistake(imm: int) -> None:
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
def test_garbage_is_refused_and_changes_nothing(payload: bytes) -> None:
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


RESYNCED: list[type[LibraryAction]] = [ResetQueuePair, ReadyQueuePair, SendPeer]


@pytest.mark.parametrize(
    ("before", "asked", "kinds"),
    [
        ([], request(1), RESYNCED),
        ([], request(2), []),
        ([request(1), request(2, SHADOW), request(3)], request(4, SHADOW), RESYNCED),
        ([request(1), request(2, SHADOW), request(3)], request(3), [SendPeer]),
        ([request(1), request(2, SHADOW), request(3)], request(1), []),
        ([request(1), request(2, SHADOW), request(3)], request(5), []),
    ],
    ids=["first", "too early", "next", "repeated", "stale", "later, too early"],
)
def test_only_the_next_loss_resets_and_only_it_and_the_last_one_have_a_reply(
    before: list[bytes], asked: bytes, kinds: list[type[LibraryAction]]
) -> None:
    library = Library(MAIN, SHADOW, seal=SEAL)
    for payload in before:
        library.on_peer_message(payload)
    library.actions()
    library.on_peer_message(asked)
    assert [type(action) for action in library.actions()] == kinds
