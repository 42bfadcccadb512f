"""Recovery from lost queue pairs, and the messages that resynchronise them."""

import hashlib
import hmac
import itertools
import struct

import pytest
from helpers.hostile_network import SEAL, STRANGERS_SEAL
from hypothesis import given
from hypothesis import strategies as st

from rogue.agent.core.actions import Action, ReadyQueuePair, ResetQueuePair, SendPeer
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import PeerError
from rogue.agent.core.recovery import LocalQueuePair, PairState, QueuePairNumbers, Recovery
from rogue.agent.core.resync import (
    MAGIC,
    NUMBER_MAX,
    TAG_BYTES,
    Message,
    Resync,
    Resynced,
    Seal,
    decode,
    encode,
)
from rogue.agent.core.transports import settings_for

MAIN, SHADOW = QueuePairNumbers(1, 11), QueuePairNumbers(2, 12)
SETTINGS = settings_for("rogue", 10**10, {})
NOW = HostNs(0)
LATE = HostNs(10**12)


def lost(*qp_nums: int) -> tuple[Recovery, list[Action]]:
    pair, actions = Recovery(MAIN, SHADOW, SEAL, SETTINGS), list[Action]()
    for qp_num in qp_nums:
        pair.lose(NOW, qp_num, 0, actions)
    return pair, actions


def resynced(epoch: int) -> bytes:
    return encode(Resynced(epoch), SEAL)


def test_a_loss_resets_our_end_and_activates_the_shadow() -> None:
    pair, (reset, request) = lost(1)
    assert reset == ResetQueuePair(1)
    assert isinstance(request, SendPeer)
    assert decode(request.payload, SEAL) == Resync(1, 11, 0)
    assert (pair.active_qp_num, pair.is_ready, pair.is_settled) == (2, True, False)


def test_the_reply_makes_it_ready_with_the_agreed_packet_numbers() -> None:
    pair, actions = lost(1)
    pair.on_peer_message(resynced(1), actions)
    assert actions[2:] == [ReadyQueuePair(1, *SEAL.psns(1))]
    assert (pair.active_qp_num, pair.is_settled, pair.deadline_ns) == (2, True, None)


def test_queue_pairs_strictly_alternate() -> None:
    pair, actions = lost(1, 2)
    assert (pair.active_qp_num, pair.is_ready) == (1, False)
    pair.on_peer_message(resynced(2), actions)
    assert (pair.active_qp_num, pair.is_ready) == (1, False), "2 is back, but it is 1's turn"
    pair.on_peer_message(resynced(1), actions)
    assert (pair.active_qp_num, pair.is_ready, pair.is_settled) == (1, True, True)


def test_a_reply_repeats_the_other_open_request() -> None:
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


@pytest.mark.parametrize(("qp_nums", "active_qp_num"), [((1, 1), 2), ((2,), 1)], ids=["repeated", "shadow"])
def test_a_repeated_loss_and_one_of_the_shadow_do_not_move_the_active_one(
    qp_nums: tuple[int, ...], active_qp_num: int
) -> None:
    pair, actions = lost(*qp_nums)
    assert len(actions) == 2
    assert (pair.active_qp_num, pair.is_ready, pair.is_settled) == (active_qp_num, True, False)


def test_a_request_without_a_reply_is_repeated_and_given_up() -> None:
    pair, actions = lost(1)
    assert pair.deadline_ns == 10_000_000
    assert pair.on_timer(HostNs(10_000_000), actions) is None
    assert isinstance(actions[-1], SendPeer)
    assert pair.on_timer(LATE, actions) == 1


def test_stop_resets_the_other_queue_pair_and_later_replies_do_nothing() -> None:
    pair, actions = lost(1)
    pair.stop(actions)
    pair.on_peer_message(resynced(1), actions)
    pair.lose(NOW, 2, 0, actions)
    assert actions[2:] == [ResetQueuePair(2)]
    assert pair.deadline_ns is None


@pytest.mark.parametrize(
    "payload",
    [b"", b"noise", resynced(2), encode(Resync(1, 11, 0), SEAL), encode(Resynced(1), STRANGERS_SEAL)],
)
def test_an_invalid_reply_is_an_error(payload: bytes) -> None:
    pair, actions = lost(1)
    with pytest.raises(PeerError):
        pair.on_peer_message(payload, actions)
    assert len(actions) == 2


MS = 1_000_000
START = HostNs(5 * MS)


def lost_pair() -> LocalQueuePair:
    client = LocalQueuePair(QueuePairNumbers(3, 13), SETTINGS)
    assert client.lose(START, epoch=2, receipts=9) == Resync(2, 13, 9)
    return client


def given_up() -> LocalQueuePair:
    client = lost_pair()
    client.on_timer(HostNs(START + 10**12))
    return client


def test_back_off_worked_example() -> None:
    """10, 20, 40 ... 640 ms, then every second; asked for the last time before 30 s have passed."""
    client = lost_pair()
    asked_ms = []
    while client.deadline_ns is not None:
        now = client.deadline_ns
        if client.on_timer(now) is not None:
            asked_ms.append((now - START) // MS)
    assert asked_ms[:9] == [10, 30, 70, 150, 310, 630, 1270, 2270, 3270]
    assert asked_ms[-1] == 29_270
    assert client.state is PairState.GIVEN_UP


def test_an_early_timer_does_nothing() -> None:
    client = lost_pair()
    assert client.on_timer(HostNs(START + 10 * MS - 1)) is None
    assert client.state is PairState.LOST


def test_the_reply_of_this_epoch_ends_it_once() -> None:
    client = lost_pair()
    assert client.on_reply(Resynced(1)) is False, "a reply to the loss before"
    assert client.on_reply(Resynced(2)) is True
    assert client.deadline_ns is None
    assert client.on_reply(Resynced(2)) is False, "the same datagram again"


@pytest.mark.parametrize(
    "client", [LocalQueuePair(QueuePairNumbers(3, 13), SETTINGS), given_up()], ids=["idle", "given up"]
)
def test_without_an_open_request_timers_and_replies_do_nothing(client: LocalQueuePair) -> None:
    before = client.state
    assert client.on_timer(HostNs(START + 30_000 * MS)) is None
    assert client.on_reply(Resynced(2)) is False
    assert client.state is before


NUMBERS = st.integers(0, NUMBER_MAX)
EPOCHS = st.integers(1, (1 << 32) - 1)
MESSAGES = st.one_of(
    st.builds(Resync, EPOCHS, NUMBERS, st.integers(0, (1 << 64) - 1)), st.builds(Resynced, EPOCHS)
)


def test_resync_worked_example() -> None:
    """Magic, version 2, kind 1; epoch, number; receipts in eight bytes; the tag."""
    content = encode(Resync(1, 15, 3), SEAL)[:-12]
    assert content.hex() == "526f0201000000010000000f0000000000000003"


@given(message=MESSAGES)
def test_a_message_is_decoded_as_encoded(message: Message) -> None:
    assert decode(encode(message, SEAL), SEAL) == message


@given(payload=st.binary(max_size=64))
def test_random_bytes_are_an_error(payload: bytes) -> None:
    with pytest.raises(PeerError):
        decode(payload, SEAL)


@given(message=MESSAGES, place=st.integers(0, 19), bit=st.integers(0, 7))
def test_a_flipped_bit_is_an_error(message: Message, place: int, bit: int) -> None:
    payload = bytearray(encode(message, SEAL))
    payload[place] ^= 1 << bit
    with pytest.raises(PeerError):
        decode(bytes(payload), SEAL)


@given(message=MESSAGES, cut=st.integers(0, 35), extra=st.binary(max_size=3))
def test_a_message_has_its_exact_length(message: Message, cut: int, extra: bytes) -> None:
    payload = encode(message, SEAL)
    for wrong in (payload[:cut] if cut < len(payload) else b"", payload + extra + b"x"):
        with pytest.raises(PeerError):
            decode(wrong, SEAL)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"xx" + bytes([2, 1]) + bytes(16), "version 2"),
        (MAGIC + bytes([1, 1]) + bytes(16), "version 2"),
        (MAGIC + bytes([2, 3]) + bytes(16), "unknown kind 3"),
        (MAGIC + bytes([2, 2]) + struct.pack("!I", 0), "out of range"),
        (MAGIC + bytes([2, 1]) + struct.pack("!IIQ", 0, 5, 0), "out of range"),
        (MAGIC + bytes([2, 1]) + struct.pack("!IIQ", 1, 1 << 24, 0), "out of range"),
    ],
)
def test_each_field_is_checked(content: bytes, words: str) -> None:
    with pytest.raises(PeerError, match=words):
        decode(SEAL.sealed(content), SEAL)


def test_the_tag_is_twelve_bytes_of_an_hmac_of_both_nonces() -> None:
    """RFC 2104 spelled out: H(K xor opad, H(K xor ipad, text)) with blocks of 64 bytes."""
    key = b"".join(SEAL.nonces).ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in key) + b"text").digest()
    outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in key) + inner).digest()
    assert SEAL.sealed(b"text") == b"text" + outer[:12]
    assert hmac.compare_digest(outer[:12], SEAL.sealed(b"text")[-TAG_BYTES:])


@given(content=st.binary(max_size=40))
def test_a_tag_needs_both_nonces(content: bytes) -> None:
    assert SEAL.opened(SEAL.sealed(content)) == content
    one_known = Seal(SEAL.nonces[0], STRANGERS_SEAL.nonces[1])
    for seal in (STRANGERS_SEAL, one_known, Seal(*reversed(SEAL.nonces))):
        with pytest.raises(PeerError, match="wrong tag"):
            SEAL.opened(seal.sealed(content))


def test_packet_numbers_of_successive_lives_are_far_apart() -> None:
    """At least a quarter of a million packets, 256 MB of 1 KB packets, in either direction, for 20 losses."""
    for numbers in zip(*(SEAL.psns(epoch) for epoch in range(20)), strict=True):
        for one, other in itertools.combinations(numbers, 2):
            assert min((one - other) % 2**24, (other - one) % 2**24) > 250_000


def test_packet_numbers_differ_between_connections_and_ends() -> None:
    numbers = {number for seal in (SEAL, STRANGERS_SEAL) for number in seal.psns(1)}
    assert len(numbers) == 4
    assert all(0 <= number < 2**24 for number in numbers)


def test_the_earlier_of_two_open_requests_sets_the_deadline() -> None:
    pair, actions = lost(1)
    pair.lose(HostNs(NOW + 4_000_000), 2, 0, actions)
    assert pair.deadline_ns == NOW + 10_000_000
    pair.on_timer(HostNs(NOW + 10_000_000), actions)
    assert pair.deadline_ns == NOW + 14_000_000, "the second one, while the first waits for 20 ms"
