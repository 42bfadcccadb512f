"""Crests and troughs of a queue, by hand."""

from pathlib import Path

import pytest
from helpers.tiny_run import SECOND, queue_view

from rogue.reports.cells.view import CellView
from rogue.reports.metrics import METRICS

STEP_NS = 1_000_000


def sawtooth(directory: Path) -> CellView:
    """A thousand samples: a climb from 1000, then 100 to 199 over and over, an outlier on either side."""
    queue = [*range(1000, 1500), *[100 + n % 100 for n in range(500)]]
    queue[700], queue[800] = 0, 5000
    return queue_view(directory, queue, STEP_NS)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [("queue_crest_bytes", 199), ("queue_trough_bytes", 100), ("queue_swing_bytes", 99)],
)
def test_of_the_second_half_without_outliers(tmp_path: Path, metric: str, expected: float) -> None:
    assert METRICS[metric].of(sawtooth(tmp_path), SECOND) == pytest.approx(expected, abs=1)
