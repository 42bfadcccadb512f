"""Seals: what the peer made is believed, and packet numbers are known to both ends and nobody else."""

import hashlib
import hmac
import itertools

import pytest
from helpers.seals import SEAL, STRANGERS_SEAL
from hypothesis import given
from hypothesis import strategies as st

from rogue.agent.core.errors import PeerError
from rogue.agent.core.resync import TAG_BYTES, Seal


def test_the_tag_is_twelve_bytes_of_an_hmac_of_both_nonces() -> None:
    """RFC 2104 spelled out: H(K xor opad, H(K xor ipad, text)) with blocks of 64 bytes."""
    key = b"".join(SEAL.nonces).ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in key) + b"text").digest()
    outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in key) + inner).digest()
    assert SEAL.sealed(b"text") == b"text" + outer[:12]
    assert hmac.compare_digest(outer[:12], SEAL.sealed(b"text")[-TAG_BYTES:])


@given(content=st.binary(max_size=40))
def test_only_who_knows_both_nonces_is_believed(content: bytes) -> None:
    assert SEAL.opened(SEAL.sealed(content)) == content
    one_known = Seal(SEAL.nonces[0], STRANGERS_SEAL.nonces[1])
    for seal in (STRANGERS_SEAL, one_known, Seal(*reversed(SEAL.nonces))):
        with pytest.raises(PeerError, match="tag is wrong"):
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


def test_both_ends_of_a_connection_have_one_seal() -> None:
    again = Seal(*SEAL.nonces)
    assert (again == SEAL, hash(again) == hash(SEAL), SEAL == STRANGERS_SEAL) == (True, True, False)
