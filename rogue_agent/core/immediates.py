"""What a RoGUE library says to the other in the 32 bits of an immediate value.

The two highest ranges of values are the library's, the rest is the application's:

    0xE, 28 bits    the peer's rate for READ responses, in kbit/s as in `ibv_modify_qp_rate_limit`; 0 lifts it
    0xF, 28 bits    reserved for batches over UC

Deviation: RoGUE does not give an encoding.
"""

from rogue_agent.core.errors import PeerError

IMMEDIATE_MAX = 0xFFFF_FFFF
APPLICATION_MAX = 0xDFFF_FFFF
"""Largest immediate value that an application may use."""

RATE_TAG = 0xE
_TAG_SHIFT = 28
_VALUE_MASK = (1 << _TAG_SHIFT) - 1
_KBPS = 1000


def tag_of(imm: int) -> int:
    """Return the highest four bits of an immediate value; raises PeerError if it has more than 32."""
    if not 0 <= imm <= IMMEDIATE_MAX:
        raise PeerError(f"an immediate value of {imm}, which is not 32 bits")
    return imm >> _TAG_SHIFT


def rate_immediate(rate_bps: int) -> int:
    """Encode a READ rate, rounded up to kbit/s.

    Test: test_immediates.py::test_rate_worked_example.
    """
    kbps = -(-rate_bps // _KBPS)
    assert 0 <= kbps <= _VALUE_MASK, f"a rate of {rate_bps} bit/s does not fit an immediate value"
    return RATE_TAG << _TAG_SHIFT | kbps


def rate_of(imm: int) -> int:
    """Decode a READ rate, in bit/s."""
    if tag_of(imm) != RATE_TAG:
        raise PeerError(f"an immediate value of {imm:#x}, which is no rate")
    return (imm & _VALUE_MASK) * _KBPS
