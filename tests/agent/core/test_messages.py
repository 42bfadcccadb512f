"""Datagrams of the side channel: what is said arrives, and nothing else is believed."""

import struct

import pytest
from helpers.seals import SEAL, STRANGERS_SEAL
from hypothesis import given
from hypothesis import strategies as st

from rogue.agent.core.errors import PeerError
from rogue.agent.core.resync import MAGIC, NUMBER_MAX, Message, Resync, Resynced, decode, encode

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
def test_what_is_said_arrives(message: Message) -> None:
    assert decode(encode(message, SEAL), SEAL) == message


@given(message=MESSAGES)
def test_what_another_connection_says_does_not(message: Message) -> None:
    with pytest.raises(PeerError, match="tag"):
        decode(encode(message, STRANGERS_SEAL), SEAL)


@given(payload=st.binary(max_size=64))
def test_garbage_is_the_peers_fault(payload: bytes) -> None:
    with pytest.raises(PeerError):
        decode(payload, SEAL)


@given(message=MESSAGES, place=st.integers(0, 19), bit=st.integers(0, 7))
def test_a_flipped_bit_is_noticed(message: Message, place: int, bit: int) -> None:
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
