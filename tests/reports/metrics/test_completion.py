"""Completion times on a cell whose numbers are worked by hand."""

import math
from pathlib import Path

import pytest
from helpers.tiny_run import SECOND, tiny_view, transfer

from rogue.reports.cells.view import CellView
from rogue.reports.metrics import METRICS

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
        ("fct_p99_ns", math.inf),  # rank 11 of 11 is the one that failed
        ("slowdown_mean", math.inf),  # one failed
        ("fct_mean_ns", math.inf),
        ("long_fct_p50_ns", 5_000),  # rank 5 of 10
        ("long_fct_p90_ns", 9_000),  # rank 9 of 10
        ("short_fct_p50_ns", 700),
        ("short_fct_p90_ns", 700),
        ("unfinished_share", 1 / 11),
        # 65 536 bytes in 1 to 9 µs, 65 535 in .7, and one that never came
        (
            "transfer_rate_mean_bps",
            (65_536 * 8e6 * sum(1 / n for n in range(1, 10)) + 65_535 * 8e6 / 0.7) / 11,
        ),
    ],
)
def test_worked_example(view: CellView, metric: str, value: float | None) -> None:
    assert METRICS[metric].of(view, SECOND) == pytest.approx(value)


def test_a_transfer_that_never_completed_is_infinite(tmp_path: Path) -> None:
    """Of 5, 6, 7 and one that never came: the median is 6, the 90th percentile and the means are infinite."""
    ended = ((5, "ok"), (7, "ok"), (None, "error"), (6, "ok"))
    rows = [
        transfer(PAIR, size_bytes=10**6, fct_ns=fct, status=status, slowdown=fct and fct / 5, transfer_id=n)
        for n, (fct, status) in enumerate(ended)
    ]
    view = tiny_view(tmp_path, {"flows": rows})
    assert METRICS["long_fct_p50_ns"].of(view, SECOND) == 6
    assert METRICS["long_fct_p90_ns"].of(view, SECOND) == math.inf
    assert METRICS["fct_mean_ns"].of(view, SECOND) == math.inf
    assert METRICS["slowdown_mean"].of(view, SECOND) == math.inf
    assert METRICS["short_fct_p50_ns"].of(view, SECOND) is None


@pytest.mark.parametrize("status", ["error", "dropped", "unfinished"])
def test_a_time_of_what_did_not_complete_is_not_believed(tmp_path: Path, status: str) -> None:
    view = tiny_view(tmp_path, {"flows": [transfer(PAIR, size_bytes=10**6, fct_ns=7, status=status)]})
    assert METRICS["fct_mean_ns"].of(view, SECOND) == math.inf


def test_means_are_over_all_where_all_complete(tmp_path: Path) -> None:
    rows = [transfer(PAIR, fct_ns=fct, slowdown=slowdown, transfer_id=fct)
            for fct, slowdown in ((10, 2.0), (20, None), (60, 3.0))]  # fmt: skip
    view = tiny_view(tmp_path, {"flows": rows})
    assert METRICS["fct_mean_ns"].of(view, SECOND) == 30
    assert METRICS["fct_max_ns"].of(view, SECOND) == 60
    assert METRICS["slowdown_mean"].of(view, SECOND) == 2.5  # of the two whose ideal is known


def test_what_started_while_the_network_warmed_up_counts_for_nothing(tmp_path: Path) -> None:
    rows = [transfer(PAIR, start_ns=start, fct_ns=fct, slowdown=fct / 10, transfer_id=fct)
            for start, fct in ((99, 1_000), (100, 20), (150, 40))]  # fmt: skip
    view = tiny_view(tmp_path, {"flows": rows}, warm_up_ns=100)
    assert METRICS["fct_mean_ns"].of(view, SECOND) == 30
    assert METRICS["fct_p99_ns"].of(view, SECOND) == 40
    assert METRICS["slowdown_mean"].of(view, SECOND) == 3


def test_how_widely_rates_are_spread(tmp_path: Path) -> None:
    """1, 3 and 0 GB/s, for one failed: mean 4/3, variance 14/9; what took no time has no rate."""
    rows = [transfer(PAIR, size_bytes=3_000, fct_ns=fct, status=status, transfer_id=n)
            for n, (fct, status) in enumerate(
                ((3_000, "ok"), (1_000, "ok"), (None, "error"), (0, "ok")))]  # fmt: skip
    view = tiny_view(tmp_path, {"flows": rows})
    assert METRICS["transfer_rate_mean_bps"].of(view, SECOND) == pytest.approx(8e9 * 4 / 3)
    assert METRICS["transfer_rate_deviation_share"].of(view, SECOND) == pytest.approx(
        math.sqrt(14 / 9) / (4 / 3)
    )


def test_the_end_of_repeating_traffic_cuts_no_completion_time(tmp_path: Path) -> None:
    """Of 5 and 7 us, and one that was under way at the end, two count. Who completed none is infinite."""
    ended = [
        transfer(PAIR, size_bytes=10**6, fct_ns=fct, start_ns=fct, transfer_id=fct) for fct in (5_000, 7_000)
    ]
    open_ended = {"fct_ns": None, "end_ns": None, "status": "unfinished", "size_bytes": 10**6}
    cut = transfer(PAIR, start_ns=12_000, transfer_id=3, **open_ended)
    view = tiny_view(tmp_path / "one", {"flows": [*ended, cut]}, repeats=True)
    assert METRICS["fct_mean_ns"].of(view, SECOND) == 6_000
    assert METRICS["unfinished_share"].of(view, SECOND) == 0
    stuck = transfer("main/h2->h1", transfer_id=4, **open_ended)
    view = tiny_view(tmp_path / "two", {"flows": [*ended, cut, stuck]}, repeats=True)
    assert METRICS["fct_mean_ns"].of(view, SECOND) == math.inf
    assert METRICS["unfinished_share"].of(view, SECOND) == 1 / 3
    once = tiny_view(tmp_path / "three", {"flows": [*ended, cut]})
    assert METRICS["fct_mean_ns"].of(once, SECOND) == math.inf
