"""One table, by hand."""

import pytest

from workloads.flow_sizes.irn import IRN


def test_mean() -> None:
    """.5 * 968 / ln 31.25 + .35 * 199 000 / ln 200 + .15 * 2 800 000 / ln 15."""
    assert IRN.mean_bytes == pytest.approx(140.6 + 13_145.7 + 155_093.1, abs=1)


def test_most_bytes_are_in_the_large_ones() -> None:
    assert 155_093.1 / IRN.mean_bytes == pytest.approx(0.92, abs=0.005)
