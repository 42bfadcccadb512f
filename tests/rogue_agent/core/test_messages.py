"""Datagrams of the side channel: what is said arrives, and nothing else is believed."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue_agent.core.errors import PeerError
from rogue_agent.core.messages import MAGIC, NUMBER_MAX, Message, Resync, Resynced, decode, encode

NUMBERS = st.integers(0, NUMBER_MAX)
EPOCHS = st.integers(1, (1 << 32) - 1)
MESSAGES = st.one_of(
    st.builds(Resync, EPOCHS, NUMBERS, NUMBERS, NUMBERS, st.integers(0, (1 << 64) - 1)),
    st.builds(Resynced, EPOCHS, NUMBERS, NUMBERS),
)
RESYNC = Resync(1, 5, 15, 0x9E3779, 3)


def test_resync_worked_example() -> None:
    """Magic, version 1, kind 1, reserved; epoch, both numbers, packet number; receipts in eight bytes."""
    assert encode(RESYNC).hex() == ("526f47550101000000000001000000050000000f009e37790000000000000003")


@given(message=MESSAGES)
def test_what_is_said_arrives(message: Message) -> None:
    assert decode(encode(message)) == message


@given(payload=st.binary(max_size=64))
def test_garbage_is_the_peers_fault(payload: bytes) -> None:
    with pytest.raises(PeerError):
        decode(payload)


@given(message=MESSAGES, cut=st.integers(0, 35), extra=st.binary(max_size=3))
def test_a_message_has_its_exact_length(message: Message, cut: int, extra: bytes) -> None:
    payload = encode(message)
    for wrong in (payload[:cut] if cut < len(payload) else b"", payload + extra + b"x"):
        with pytest.raises(PeerError):
            decode(wrong)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (MAGIC + bytes([2, 1, 0, 0]) + bytes(24), "version 1"),
        (MAGIC + bytes([1, 1, 0, 1]) + bytes(24), "version 1"),
        (MAGIC + bytes([1, 3, 0, 0]) + bytes(24), "unknown kind 3"),
        (MAGIC + bytes([1, 2, 0, 0]) + struct.pack("!III", 0, 5, 5), "out of range"),
        (MAGIC + bytes([1, 2, 0, 0]) + struct.pack("!III", 1, 5, 1 << 24), "out of range"),
        (MAGIC + bytes([1, 1, 0, 0]) + struct.pack("!IIIIQ", 1, 5, 1 << 24, 5, 0), "out of range"),
    ],
)
def test_each_field_is_checked(wrong: bytes, words: str) -> None:
    with pytest.raises(PeerError, match=words):
        decode(wrong)
