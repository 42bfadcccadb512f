"""One table, by hand."""

import pytest

from workloads.flow_sizes.web_search import WEB_SEARCH


def test_mean() -> None:
    """By piece, in KB: .75 + .75 + 2.5 + 4 + 8.45 + 9.8 + 60 + 150 + 350 + 525 + 600."""
    assert WEB_SEARCH.mean_bytes == pytest.approx(1_711_250)
