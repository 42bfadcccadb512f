"""Metrics of pauses on cells whose numbers are worked by hand."""

from pathlib import Path

import pytest
from helpers.tiny_run import SECOND, tiny_view, transfer

from rogue.reports.metrics import METRICS
from rogue.reports.metrics.pauses import union_ns

PAUSES = [
    {"port": "h0->s0", "start_ns": 100, "duration_ns": 50},
    {"port": "h1->s0", "start_ns": 120, "duration_ns": 80},
    {"port": "h0->s0", "start_ns": 300, "duration_ns": 10},
]


@pytest.mark.parametrize(
    ("metric", "value"),
    [("paused_sum_ns", 140), ("paused_union_ns", 110), ("paused_ports", 2), ("pauses", 3)],
)
def test_worked_example(tmp_path: Path, metric: str, value: float) -> None:
    assert (
        METRICS[metric].of(tiny_view(tmp_path, {"flows": [transfer("a")], "pauses": PAUSES}), SECOND) == value
    )


@pytest.mark.parametrize("metric", ["paused_sum_ns", "paused_union_ns", "paused_ports", "pauses"])
def test_no_pause_is_zero_and_no_table_is_nothing(tmp_path: Path, metric: str) -> None:
    assert (
        METRICS[metric].of(tiny_view(tmp_path / "a", {"flows": [transfer("a")], "pauses": []}), SECOND) == 0
    )
    assert METRICS[metric].of(tiny_view(tmp_path / "b", {"flows": [transfer("a")]}), SECOND) is None


@pytest.mark.parametrize(
    ("pauses", "worked_ns"),
    [
        ([], 0),
        ([(5, 0)], 0),
        ([(0, 10), (10, 10)], 20),
        ([(0, 10), (2, 3)], 10),
        ([(2, 3), (0, 4)], 5),
        ([(0, 1), (5, 1), (5, 1)], 2),
    ],
)
def test_union(pauses: list[tuple[int, int]], worked_ns: int) -> None:
    assert union_ns([start for start, _ in pauses], [duration for _, duration in pauses]) == worked_ns
