"""Completion times on a cell whose numbers are worked by hand."""

from pathlib import Path

import pytest
from helpers.tiny_run import SECOND, tiny_view, transfer

from reports.metrics import METRICS
from reports.view import CellView

PAIR = "main/h0->h1"


@pytest.fixture
def view(tmp_path: Path) -> CellView:
    """Nine long transfers of 1 to 9 µs and one that failed; one short one just below 64 KiB; a probe."""
    long = [transfer(PAIR, size_bytes=65_536, fct_ns=1_000 * n, transfer_id=n) for n in range(1, 10)]
    failed = transfer(PAIR, size_bytes=10**6, fct_ns=None, end_ns=None, status="error")
    long[:2] = [row | {"slowdown": slowdown} for row, slowdown in zip(long, (2.0, 3.0), strict=False)]
    short = transfer(PAIR, size_bytes=65_535, fct_ns=700)
    probe = transfer("probe/h2->h1", size_bytes=0, fct_ns=1)
    return tiny_view(tmp_path, {"flows": [*long, failed, short, probe]})


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("fct_p99_ns", None),  # rank 11 of 11 is the one that failed
        ("slowdown_mean", 2.5),  # of the two that have one
        ("fct_mean_ns", 4_570),  # 45 000 + 700 over ten that completed
        ("long_fct_p50_ns", 5_000),  # rank 5 of 10
        ("long_fct_p90_ns", 9_000),  # rank 9 of 10
        ("short_fct_p50_ns", 700),
        ("short_fct_p90_ns", 700),
        ("unfinished_share", 1 / 11),
        # 65 536 bytes in 1 to 9 µs and 65 535 in .7
        (
            "transfer_rate_mean_bps",
            (65_536 * 8e6 * sum(1 / n for n in range(1, 10)) + 65_535 * 8e6 / 0.7) / 10,
        ),
    ],
)
def test_worked_example(view: CellView, metric: str, value: float | None) -> None:
    assert METRICS[metric].of(view, SECOND) == pytest.approx(value)


def test_percentile_that_falls_on_a_failure_is_no_number(tmp_path: Path) -> None:
    rows = [transfer(PAIR, size_bytes=10**6, fct_ns=fct, status=status)
            for fct, status in ((5, "ok"), (None, "error"), (7, "dropped"))]  # fmt: skip
    view = tiny_view(tmp_path, {"flows": rows})
    assert METRICS["long_fct_p50_ns"].of(view, SECOND) is None
    assert METRICS["fct_mean_ns"].of(view, SECOND) == 5
    assert METRICS["short_fct_p50_ns"].of(view, SECOND) is None


def test_what_started_while_the_network_warmed_up_counts_for_nothing(tmp_path: Path) -> None:
    rows = [transfer(PAIR, start_ns=start, fct_ns=fct, slowdown=fct / 10, transfer_id=fct)
            for start, fct in ((99, 1_000), (100, 20), (150, 40))]  # fmt: skip
    view = tiny_view(tmp_path, {"flows": rows}, warm_up_ns=100)
    assert METRICS["fct_mean_ns"].of(view, SECOND) == 30
    assert METRICS["fct_p99_ns"].of(view, SECOND) == 40
    assert METRICS["slowdown_mean"].of(view, SECOND) == 3


def test_how_widely_rates_are_spread(tmp_path: Path) -> None:
    """1 and 3 GB/s: mean 2, deviation 1; what failed or took no time has no rate."""
    rows = [transfer(PAIR, size_bytes=3_000, fct_ns=fct, status=status, transfer_id=n)
            for n, (fct, status) in enumerate(
                ((3_000, "ok"), (1_000, "ok"), (None, "error"), (0, "ok")))]  # fmt: skip
    view = tiny_view(tmp_path, {"flows": rows})
    assert METRICS["transfer_rate_mean_bps"].of(view, SECOND) == 16e9
    assert METRICS["transfer_rate_deviation_share"].of(view, SECOND) == 0.5
