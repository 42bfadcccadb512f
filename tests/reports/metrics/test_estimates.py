"""The agent's beliefs on a cell whose numbers are worked by hand."""

from pathlib import Path

import pytest
from helpers.small_runs import SECOND, delivery, tiny_view, transfer

from rogue.reports.cells.view import CellView
from rogue.reports.metrics import METRICS

A = "main/h0->h1"


@pytest.fixture
def view(tmp_path: Path) -> CellView:
    samples = [
        (90_000, 88_000, True, True),
        (70_000, 71_000, True, False),
        (50_000, None, True, True),
        (10, 99_000, False, False),
    ]
    return tiny_view(
        tmp_path,
        {
            "rtt": [
                {"flow_id": A, "rtt_ns": rtt, "true_rtt_ns": truth, "accepted": accepted, "overruled": floor}
                for rtt, truth, accepted, floor in samples
            ],
            "flows": [transfer(A)],
            "throughput": [
                {**delivery(A, SECOND, 100), "cwnd_over_rtt_bps": 520.0},
                delivery(A, 2 * SECOND, 900),
            ],
        },
    )


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("rtt_p10_ns", 50_000),  # of 50, 70, 90: the rejected sample does not count
        ("rtt_p50_ns", 70_000),
        ("rtt_p90_ns", 90_000),
        ("rtt_error_p10_ns", -1000),
        ("rtt_error_p90_ns", 2000),
        ("rtt_error_p50_ns", -1000),  # of -1000 and 2000, where the truth is known
        ("overruled_share", 2 / 3),  # of the accepted ones
        ("window_rate_over_goodput", 0.65),  # 520 over 800, where there is an estimate
    ],
)
def test_worked_example(view: CellView, metric: str, value: float) -> None:
    assert METRICS[metric].of(view, SECOND) == pytest.approx(value)


def test_transport_without_an_agent_believes_nothing(tmp_path: Path) -> None:
    view = tiny_view(tmp_path, {"flows": [transfer(A)], "throughput": [delivery(A, SECOND, 100)]})
    for name in ("rtt_p50_ns", "rtt_error_p50_ns", "window_rate_over_goodput"):
        assert METRICS[name].of(view, SECOND) is None


def test_an_older_run_does_not_tell_what_was_overruled(tmp_path: Path) -> None:
    view = tiny_view(tmp_path, {"rtt": [{"flow_id": A, "rtt_ns": 1, "accepted": True}]})
    assert METRICS["overruled_share"].of(view, SECOND) is None
