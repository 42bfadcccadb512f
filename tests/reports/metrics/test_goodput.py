"""Tests: metrics of goodput and rates."""

from pathlib import Path

import pytest
from helpers.sample_kinds import STAGGERED_IDEAL_BPS, staggered_tables
from helpers.small_runs import SECOND, delivery, measure, tiny_view, transfer

from rogue.reports.cells.view import CellView, Window
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.levels import settled_rates

A, B = "main/h0->h2", "main/h1->h2"


@pytest.fixture
def view(tmp_path: Path) -> CellView:
    """Two flows, ideal 1600 bit/s: A delivers 100 B in each of 2 s, B 100 B and then nothing (it failed)."""
    return tiny_view(
        tmp_path,
        {
            "flows": [
                transfer(A, goodput_bps=720.0),
                transfer(B, status="error", end_ns=SECOND, goodput_bps=None),
            ],
            "throughput": [delivery(A, SECOND, 100), delivery(A, 2 * SECOND, 100), delivery(B, SECOND, 100)],
        },
        ideal_goodput_bps=1600,
    )


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("aggregate_bps", 1200.0),  # 300 B in 2 s
        ("aggregate_share", 0.75),
        ("interval_goodput_p50_share", 1.0),  # 0, 800, 800, 800 over a share of 800: rank 2
        ("interval_goodput_p10_share", 0.0),  # rank 1
        ("jain", 0.9),  # 800 and 400: 1200^2 / (2 * 800000)
        ("worst_flow_share", 0.5),  # 400 of 800
        ("flow_median_share", 0.75),  # 400 and 800 of 800
        ("flow_p50_share", 0.5),  # rank 1 of 400 and 800
        ("flow_mean_bps", 600.0),
        ("first_completion_p10_share", 0.0),  # 720 and a failure
    ],
)
def test_worked_example(view: CellView, metric: str, value: float) -> None:
    assert METRICS[metric].of(view, SECOND) == pytest.approx(value)


FIRST = [
    transfer(A, goodput_bps=720.0),
    transfer(A, start_ns=SECOND, transfer_id=1, goodput_bps=80.0),
    transfer(B, goodput_bps=760.0),
]
APART = [
    transfer(A, goodput_bps=720.0, fct_ns=SECOND),
    transfer(B, start_ns=SECOND // 5, goodput_bps=760.0, fct_ns=SECOND),
]


@pytest.mark.parametrize(
    ("rows", "value"),
    [
        (FIRST, 0.9),  # later transfers of a flow do not count
        (APART, None),  # transfers that start apart are not comparable
        ([transfer(A, goodput_bps=None, fct_ns=SECOND)], None),
    ],
)
def test_first_completions(tmp_path: Path, rows: list[dict[str, object]], value: float | None) -> None:
    found = measure(tmp_path, "first_completion_p10_share", {"flows": rows}, ideal_goodput_bps=1600)
    assert found == (None if value is None else pytest.approx(value))


@pytest.mark.parametrize(
    ("status_of_b", "end_s", "value"),
    [
        ("unfinished", 9, None),
        ("unfinished", 10, 0.0),
        ("unfinished", None, 0.0),
        ("error", 9, 0.0),
        ("ok", 9, 0.0),
    ],
)
def test_first_transfers_that_the_end_cut_short(
    tmp_path: Path, status_of_b: str, end_s: int | None, value: float | None
) -> None:
    """1000 bytes at a share of 800 bit/s would have taken 10 s; those with 10 s left never end."""
    rows = [
        transfer(A, status="unfinished", fct_ns=None, goodput_bps=None),
        transfer(B, status=status_of_b, goodput_bps=760.0 if status_of_b == "ok" else None),
    ]
    facts = {"ideal_goodput_bps": 1600, "simulated_ns": None if end_s is None else end_s * SECOND}
    assert measure(tmp_path, "first_completion_p10_share", {"flows": rows}, **facts) == value


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("aggregate_share", None),
        ("interval_goodput_p50_share", None),
        ("aggregate_bps", 800.0),
        ("frames_bps", None),
        ("most_flow_wire_bps", None),
    ],
)
def test_cell_without_ideal_rate_and_packet_size(tmp_path: Path, metric: str, value: float | None) -> None:
    tables = {"flows": [transfer(A)], "throughput": [delivery(A, t * SECOND, 100) for t in (1, 2)]}
    assert measure(tmp_path, metric, tables) == value


@pytest.fixture
def view_of_rates(tmp_path: Path) -> CellView:
    """Two flows for 4 s with packets of 1024 bytes; the first gets 1.024 then 2.048 MB/s, the other 2.048."""
    rows, flows = [], []
    for host, rates in ((0, (1, 1, 2, 2)), (1, (2, 2, 2, 2))):
        flow_id = f"main/h{host}->h2"
        flows.append(transfer(flow_id, src=f"h{host}", end_ns=None, status="unfinished"))
        rows += [
            delivery(flow_id, (second + 1) * SECOND, rate * 1_024_000) | {"src": f"h{host}"}
            for second, rate in enumerate(rates)
        ]
    return tiny_view(
        tmp_path, {"flows": flows, "throughput": rows}, mtu_bytes=1024, payload_fraction=1024 / 1106
    )


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("frames_per_second", 3_500),
        ("frames_bps", 3_500 * 1086 * 8),
        ("sender_frames_bps", 1_750 * 1086 * 8),
        ("least_flow_wire_bps", 2_000 * 1106 * 8),  # the second half only
        ("median_flow_wire_bps", 2_000 * 1106 * 8),
        ("most_flow_wire_bps", 2_000 * 1106 * 8),
    ],
)
def test_rates_worked_example(view_of_rates: CellView, metric: str, value: float) -> None:
    assert METRICS[metric].of(view_of_rates, SECOND) == pytest.approx(value)


@pytest.fixture
def view_of_levels(tmp_path: Path) -> CellView:
    return tiny_view(tmp_path, staggered_tables(), ideal_goodput_bps=STAGGERED_IDEAL_BPS)


def test_levels_are_read_one_second_after_each_change(view_of_levels: CellView) -> None:
    rates = [level.tolist() for level in settled_rates(view_of_levels, SECOND)]
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
def test_levels_worked_example(view_of_levels: CellView, metric: str, value: float) -> None:
    assert METRICS[metric].of(view_of_levels, SECOND) == pytest.approx(value)


def test_metrics_of_equal_competition_are_missing(view_of_levels: CellView) -> None:
    names = ("jain", "interval_goodput_p10_share", "first_completion_p10_share", "worst_flow_share")
    assert [METRICS[name].of(view_of_levels, SECOND) for name in (*names, "flow_mean_bps")] == [None] * 5
    assert METRICS["aggregate_share"].of(view_of_levels, SECOND) == 1.0
    assert view_of_levels.window == Window(0, 12 * SECOND)


def test_flow_that_got_nothing_has_no_ratio_but_lowers_jain(tmp_path: Path) -> None:
    tables = staggered_tables()
    kept = [row for row in tables["throughput"] if row["flow_id"] != "main/h1->h2"]
    silent = [{**row, "delivered_bytes": 0} for row in tables["throughput"] if row not in kept]
    view_of_levels = tiny_view(
        tmp_path, {**tables, "throughput": [*kept, *silent]}, ideal_goodput_bps=STAGGERED_IDEAL_BPS
    )
    assert METRICS["level_most_over_least"].of(view_of_levels, SECOND) is None
    assert METRICS["level_jain"].of(view_of_levels, SECOND) == 0.5


def test_flows_that_start_together_have_no_levels(tmp_path: Path) -> None:
    flows = [transfer("main/h0->h2"), transfer("main/h1->h2", start_ns=10_000)]
    samples = [delivery(row["flow_id"], SECOND * t, 100) for row in flows for t in (1, 2)]  # type: ignore[arg-type]
    view_of_levels = tiny_view(tmp_path, {"flows": flows, "throughput": samples}, ideal_goodput_bps=1600)
    assert METRICS["level_jain"].of(view_of_levels, SECOND) is None
    assert METRICS["jain"].of(view_of_levels, SECOND) == 1.0


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


def test_changes_within_an_interval_are_one_change(short: CellView) -> None:
    assert len(short.levels) == 5
    assert [rates.shape[1] for rates in settled_rates(short, SECOND)] == [1, 3, 1]
