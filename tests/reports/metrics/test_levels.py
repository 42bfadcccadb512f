"""Metrics of flows that come and go, on a cell whose numbers are worked by hand."""

from pathlib import Path

import pytest
from helpers.sample_kinds import STAGGERED_IDEAL_BPS, staggered_tables
from helpers.tiny_run import SECOND, delivery, tiny_view, transfer

from reports.metrics import METRICS
from reports.metrics.levels import settled_rates
from reports.view import CellView, Window


@pytest.fixture
def view(tmp_path: Path) -> CellView:
    return tiny_view(tmp_path, staggered_tables(), ideal_goodput_bps=STAGGERED_IDEAL_BPS)


def test_levels_are_read_one_second_after_each_change(view: CellView) -> None:
    rates = [level.tolist() for level in settled_rates(view, SECOND)]
    assert rates == [[[16_000]] * 3, [[10_000, 6_000]] * 3, [[16_000]] * 3]


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("level_aggregate_share", 1.0),
        ("level_jain", 8**2 / (2 * (5**2 + 3**2))),  # .9412
        ("level_most_over_least", 5 / 3),
        ("level_deviation_share", 0.25),  # 10 and 6 around a share of 8
    ],
)
def test_worked_example(view: CellView, metric: str, value: float) -> None:
    assert METRICS[metric].of(view, SECOND) == pytest.approx(value)


def test_numbers_that_ask_for_equal_competition_are_not_given(view: CellView) -> None:
    names = ("jain", "interval_goodput_p10_share", "first_completion_p10_share", "worst_flow_share")
    assert [METRICS[name].of(view, SECOND) for name in (*names, "flow_mean_bps")] == [None] * 5
    assert METRICS["aggregate_share"].of(view, SECOND) == 1.0
    assert view.window == Window(0, 12 * SECOND)


def test_flow_that_got_nothing_has_no_ratio_but_lowers_jain(tmp_path: Path) -> None:
    tables = staggered_tables()
    kept = [row for row in tables["throughput"] if row["flow_id"] != "main/h1->h2"]
    silent = [{**row, "delivered_bytes": 0} for row in tables["throughput"] if row not in kept]
    view = tiny_view(
        tmp_path, {**tables, "throughput": [*kept, *silent]}, ideal_goodput_bps=STAGGERED_IDEAL_BPS
    )
    assert METRICS["level_most_over_least"].of(view, SECOND) is None
    assert METRICS["level_jain"].of(view, SECOND) == 0.5


def test_flows_that_start_together_have_no_levels(tmp_path: Path) -> None:
    flows = [transfer("main/h0->h2"), transfer("main/h1->h2", start_ns=10_000)]
    samples = [delivery(row["flow_id"], SECOND * t, 100) for row in flows for t in (1, 2)]  # type: ignore[arg-type]
    view = tiny_view(tmp_path, {"flows": flows, "throughput": samples}, ideal_goodput_bps=1600)
    assert METRICS["level_jain"].of(view, SECOND) is None
    assert METRICS["jain"].of(view, SECOND) == 1.0
