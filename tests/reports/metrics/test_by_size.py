"""Percentiles of completion time and slowdown by size class."""

import math
from pathlib import Path

import pytest
from helpers.small_runs import SECOND, tiny_view, transfer

from rogue.reports.metrics import METRICS
from rogue.reports.metrics.by_size import metrics_of_classes

SIZES = [10_000] * 100 + [10_001, 100_000, 1_000_000, 1_000_001]
ROWS = [
    transfer("main/h0->h1", transfer_id=n, size_bytes=size, fct_ns=1_000 * n, slowdown=float(n))
    for n, size in enumerate(SIZES, start=1)
]
"""A hundred transfers of 10 KB that took 1 to 100 us, and four larger ones that took 101 to 104 us."""
LOST = {"status": "error", "fct_ns": None, "end_ns": None, "slowdown": None}


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("fct_p50_ns", 52_000),  # rank 52 of 104
        ("fct_p95_ns", 99_000),  # rank 99 of 104
        ("fct_p99_ns", 103_000),
        ("slowdown_p99", 103),
        ("fct_10kb_p50_ns", 50_000),  # 10 KB is 10 000 bytes, and belongs to the class
        ("fct_10kb_p99_ns", 99_000),
        ("slowdown_10kb_p95", 95),
        ("fct_100kb_p50_ns", 101_000),  # rank 1 of 2
        ("fct_100kb_p99_ns", 102_000),
        ("slowdown_1mb_p50", 103),
        ("fct_large_p99_ns", 104_000),
    ],
)
def test_worked_example(tmp_path: Path, metric: str, value: float) -> None:
    assert METRICS[metric].of(tiny_view(tmp_path, {"flows": ROWS}), SECOND) == value


def test_a_lost_transfer_is_infinite_in_its_own_class(tmp_path: Path) -> None:
    view = tiny_view(tmp_path, {"flows": [*ROWS[:-1], {**ROWS[-1], **LOST}]})
    assert METRICS["fct_large_p50_ns"].of(view, SECOND) == math.inf
    assert METRICS["slowdown_large_p50"].of(view, SECOND) == math.inf
    assert METRICS["slowdown_1mb_p50"].of(view, SECOND) == 103


def test_a_completed_transfer_without_a_time_is_infinite(tmp_path: Path) -> None:
    view = tiny_view(tmp_path, {"flows": [ROWS[0], {**ROWS[1], "fct_ns": None}]})
    assert METRICS["fct_p99_ns"].of(view, SECOND) == math.inf


def test_an_unknown_ideal_leaves_a_transfer_out_of_slowdowns_alone(tmp_path: Path) -> None:
    rows = [ROWS[0], {**ROWS[1], "slowdown": None}]
    view = tiny_view(tmp_path, {"flows": rows})
    assert METRICS["slowdown_p99"].of(view, SECOND) == 1
    assert METRICS["fct_p99_ns"].of(view, SECOND) == 2_000


def test_transfers_of_one_class_are_in_the_measures_of_all_alone(tmp_path: Path) -> None:
    view = tiny_view(tmp_path, {"flows": ROWS[:100]})
    assert METRICS["fct_10kb_p50_ns"].of(view, SECOND) is None
    assert METRICS["fct_large_p50_ns"].of(view, SECOND) is None
    assert METRICS["fct_p50_ns"].of(view, SECOND) == 50_000


def test_classes_with_other_bounds(tmp_path: Path) -> None:
    metrics = {metric.name: metric for metric in metrics_of_classes([10_000, 1_500_000])}
    view = tiny_view(tmp_path, {"flows": ROWS})
    assert metrics["fct_to_10kb_p50_ns"].of(view, SECOND) == 50_000
    assert metrics["fct_10kb_to_1_5mb_p50_ns"].of(view, SECOND) == 102_000
    assert metrics["slowdown_above_1_5mb_p99"].of(view, SECOND) is None
    assert metrics["slowdown_10kb_to_1_5mb_p99"].title == "Slowdown p99, from 10 KB to 1.5 MB"
    assert not set(metrics) & set(METRICS)


@pytest.mark.parametrize("bounds", [[], [0], [1_000, 1_000], [2_000, 1_000]])
def test_bounds_of_classes_rise(bounds: list[int]) -> None:
    with pytest.raises(ValueError, match="expected rising numbers of bytes"):
        metrics_of_classes(bounds)
