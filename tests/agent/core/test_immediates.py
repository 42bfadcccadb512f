"""The 32 bits that two libraries exchange."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.agent.core.errors import PeerError
from rogue.agent.core.immediates import (
    APPLICATION_MAX,
    BATCH_NUMBERS,
    RATE_TAG,
    BatchAcknowledgement,
    batch_immediate,
    batch_of,
    rate_immediate,
    rate_of,
    tag_of,
)


def test_rate_worked_example() -> None:
    """1.7696 Gb/s are 1 769 600 kbit/s, which is 0x1B0080."""
    assert rate_immediate(1_769_600_000) == 0xE01B_0080
    assert rate_of(0xE01B_0080) == 1_769_600_000


def test_a_rate_that_needs_more_than_27_bits_is_told_in_mbps() -> None:
    """134.217727 Gb/s are 0x7FFFFFF kbit/s; 400 Gb/s are 400 000 Mbit/s, which is 0x61A80."""
    assert rate_immediate(134_217_727_000) == 0xE7FF_FFFF
    assert rate_immediate(134_217_727_001) == 0xE800_0000 + 134_218
    assert rate_immediate(400_000_000_000) == 0xE806_1A80
    assert rate_of(0xE806_1A80) == 400_000_000_000


@given(rate_bps=st.integers(0, 2_000_000_000_000))
def test_a_rate_arrives_rounded_up_to_its_unit(rate_bps: int) -> None:
    unit_bps = 1_000 if rate_bps <= 134_217_727_000 else 1_000_000
    assert 0 <= rate_of(rate_immediate(rate_bps)) - rate_bps < unit_bps


def test_an_applications_values_end_where_the_librarys_begin() -> None:
    assert tag_of(APPLICATION_MAX) == RATE_TAG - 1
    assert tag_of(APPLICATION_MAX + 1) == RATE_TAG


@pytest.mark.parametrize("imm", [-1, 1 << 32])
def test_more_than_32_bits_are_the_peers_mistake(imm: int) -> None:
    with pytest.raises(PeerError, match="not 32 bits"):
        tag_of(imm)


def test_batch_worked_example() -> None:
    """Number 1030 is 6 again; 3000 ns are 750 units, which shifted by ten bits are 0xBB800."""
    assert batch_immediate(1030, 3000) == 0xF00B_B806
    assert batch_of(0xF00B_B806) == BatchAcknowledgement(6, 3000)


@given(number=st.integers(0, BATCH_NUMBERS - 1), processing_ns=st.integers(-10, 2_000_000))
def test_an_acknowledgement_tells_its_time_to_4_ns_or_not_at_all(number: int, processing_ns: int) -> None:
    acknowledgement = batch_of(batch_immediate(number, processing_ns))
    assert acknowledgement.number == number
    if processing_ns >= 4 * (2**18 - 1):
        assert acknowledgement.processing_ns is None, "longer than about one millisecond"
    else:
        assert acknowledgement.processing_ns is not None
        assert 0 <= max(0, processing_ns) - acknowledgement.processing_ns < 4


@pytest.mark.parametrize("imm", [0, APPLICATION_MAX, rate_immediate(10**9)])
def test_other_values_are_about_no_batch(imm: int) -> None:
    with pytest.raises(PeerError, match="no batch"):
        batch_of(imm)


@pytest.mark.parametrize("imm", [0, APPLICATION_MAX, 0xF000_0000])
def test_other_values_are_no_rate(imm: int) -> None:
    with pytest.raises(PeerError, match="no rate"):
        rate_of(imm)
