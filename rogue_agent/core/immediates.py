"""Encodings of the 32-bit immediate values between RoGUE libraries.

The two highest ranges of values are the library's, the rest is the application's. Our application numbers
its transfers with them if the receiver's software must know when one has arrived (`transfer_immediate`):

    0xE, 1 bit, 27 bits      the peer's rate for READ responses, in kbit/s as in `ibv_modify_qp_rate_limit`;
                             in Mbit/s if the bit is set; 0 lifts it
    0xF, 18 bits, 10 bits    over UC: processing time and number of a batch. The sender's time is 0. In an
                             acknowledgement it is the library's processing time in units of 4 ns; the
                             largest value stands for anything longer

Deviation: RoGUE does not give an encoding, and its acknowledgement does not say which batch it is for.
"""

from typing import NamedTuple

from rogue.agent.core.errors import PeerError

IMMEDIATE_MAX = 0xFFFF_FFFF
APPLICATION_MAX = 0xDFFF_FFFF
"""Largest immediate value that an application may use."""

RATE_TAG, BATCH_TAG = 0xE, 0xF
BATCH_NUMBERS = 1 << 10
"""Batch numbers repeat after this many; fewer can be in flight."""

_TAG_SHIFT = 28
_VALUE_MASK = (1 << _TAG_SHIFT) - 1
_RATE_MAX = (1 << 27) - 1
_IS_MBPS = 1 << 27
_KBPS, _MBPS = 1_000, 1_000_000
_TIME_UNIT_NS = 4
_TIME_MAX = (1 << 18) - 1


def tag_of(imm: int) -> int:
    """Return the highest four bits of an immediate value; raises PeerError if it has more than 32."""
    if not 0 <= imm <= IMMEDIATE_MAX:
        raise PeerError(f"got an immediate value of {imm}, expected 32 bits")
    return imm >> _TAG_SHIFT


def transfer_immediate(transfer_id: int) -> int:
    """Return the immediate of a transfer's last verb, which tells the receiver that all of it has arrived."""
    return transfer_id & _VALUE_MASK


def rate_immediate(rate_bps: int) -> int:
    """Encode a READ rate, rounded up to kbit/s, and beyond 134 Gb/s to Mbit/s.

    Test: test_framing.py::test_rate_worked_example.
    """
    value = -(-rate_bps // _KBPS)
    if value > _RATE_MAX:
        value = -(-rate_bps // _MBPS) | _IS_MBPS
    assert 0 <= value <= _VALUE_MASK, f"a rate of {rate_bps} bit/s does not fit an immediate value"
    return RATE_TAG << _TAG_SHIFT | value


def rate_of(imm: int) -> int:
    """Decode a READ rate, in bit/s."""
    if tag_of(imm) != RATE_TAG:
        raise PeerError(f"got an immediate value of {imm:#x}, expected a rate")
    return (imm & _RATE_MAX) * (_MBPS if imm & _IS_MBPS else _KBPS)


class BatchAcknowledgement(NamedTuple):
    """Acknowledgement of a batch; `processing_ns` is None if the time is too long to encode."""

    number: int
    processing_ns: int | None


def batch_immediate(number: int, processing_ns: int = 0) -> int:
    """Encode a batch's number; in an acknowledgement also the time from its arrival until we posted this.

    Test: test_framing.py::test_batch_worked_example.
    """
    time = min(max(0, processing_ns) // _TIME_UNIT_NS, _TIME_MAX)
    return BATCH_TAG << _TAG_SHIFT | time << 10 | number % BATCH_NUMBERS


def batch_of(imm: int) -> BatchAcknowledgement:
    """Decode what `batch_immediate` encoded."""
    if tag_of(imm) != BATCH_TAG:
        raise PeerError(f"got an immediate value of {imm:#x}, expected a batch")
    time = (imm & _VALUE_MASK) >> 10
    return BatchAcknowledgement(imm % BATCH_NUMBERS, None if time == _TIME_MAX else time * _TIME_UNIT_NS)
