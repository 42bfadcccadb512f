"""Metrics of flows that come and go, on a cell whose numbers are worked by hand."""

from pathlib import Path

import pytest
from helpers.sample_kinds import STAGGERED_IDEAL_BPS, staggered_tables
from helpers.tiny_run import SECOND, delivery, tiny_view, transfer

from rogue.reports.cells.view import CellView, Window
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.levels import settled_rates


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


MS = SECOND // 1000


@pytest.fixture
def short(tmp_path: Path) -> CellView:
    """Levels of 10 ms on the grid of 1 ms: A alone, A with B and C, then A alone again.

    Packets carry 82 bytes and have as many around them.
    B and C come and go some microseconds after one another. A level's second half differs from its first.
    """
    spans = {0: (0, 30 * MS), 1: (10 * MS, 20 * MS), 2: (10 * MS + 5_000, 20 * MS + 7_000)}
    flows = [
        transfer(f"main/h{host}->h3", start_ns=start, end_ns=end, fct_ns=end - start)
        for host, (start, end) in spans.items()
    ]
    late_bytes = {0: (900, 300, 800), 1: (0, 400, 0), 2: (0, 500, 0)}
    rows = []
    for host, levels in late_bytes.items():
        for n in range(30):
            delivered = levels[n // 10] if n % 10 >= 5 else 100 * (host == 0)
            rows.append(delivery(f"main/h{host}->h3", (n + 1) * MS, delivered, MS))
    return tiny_view(
        tmp_path, {"flows": flows, "throughput": rows}, ideal_goodput_bps=1000 * 8e3, mtu_bytes=82
    )


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("first_level_flow_wire_bps", 900 * 8e3 / 0.5),
        ("fullest_level_flow_wire_bps", 400 * 8e3 / 0.5),  # the median of three
        ("last_level_flow_wire_bps", 800 * 8e3 / 0.5),
        ("level_aggregate_share", 0.8),
        ("level_jain", 1200**2 / (3 * (300**2 + 400**2 + 500**2))),
    ],
)
def test_levels_shorter_than_the_interval_are_read_in_their_second_half(
    short: CellView, metric: str, value: float
) -> None:
    for interval_ns in (10 * MS, SECOND):
        assert METRICS[metric].of(short, interval_ns) == pytest.approx(value)


def test_changes_one_after_the_other_are_one_change(short: CellView) -> None:
    assert len(short.levels) == 5
    assert [rates.shape[1] for rates in settled_rates(short, SECOND)] == [1, 3, 1]
