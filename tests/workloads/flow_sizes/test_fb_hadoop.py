"""One table, by hand."""

import pytest

from workloads.flow_sizes.fb_hadoop import FB_HADOOP


def test_mean() -> None:
    """The pieces up to 7 KB give 550.75 bytes, those up to 120 KB 10 620, the largest four 109 250."""
    assert FB_HADOOP.mean_bytes == pytest.approx(550.75 + 370 + 4_000 + 3_250 + 3_000 + 109_250)
