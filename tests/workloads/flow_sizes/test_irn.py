"""One table, by hand."""

import pytest

from workloads.flow_sizes.irn import IRN

SHARES = dict(IRN.points)
LARGE_BYTES = 0.05 * (294_920 + 1_061_420 + 2_404_620)
"""Means of the three pieces above 200 KB."""


def test_classes_are_the_papers() -> None:
    """50 % up to 1 KB, 15 % from 200 KB to 3 MB; Mittal et al., section 4.1."""
    assert SHARES[1_000] == 50
    assert SHARES[200_020] == 85
    assert IRN.points[0][0] == 32
    assert IRN.points[-1][0] == pytest.approx(3e6, rel=0.03)


def test_mean() -> None:
    """Single packets, then up to 10 KB, then up to 200 KB, then the large ones."""
    small_bytes = 0.5 * 516 + 0.1 * (1_960 + 3_650) + 0.05 * (5_840 + 8_760)
    middle_bytes = 0.0125 * (34_310 + 81_760) + 0.025 * 152_570
    assert IRN.mean_bytes == pytest.approx(small_bytes + middle_bytes + LARGE_BYTES)


def test_most_bytes_are_in_the_large_ones() -> None:
    assert LARGE_BYTES / IRN.mean_bytes == pytest.approx(0.965, abs=0.001)
