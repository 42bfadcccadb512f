"""Tests: completion times, and estimates of agents."""

import math
from pathlib import Path

import pytest
from helpers.sample_kinds import waiting_rows
from helpers.small_runs import SECOND, delivery, tiny_view, transfer

from rogue.reports.cells.view import CellView
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.completion import sizes_and_slowdowns, times_by_group

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
    """1, 3 and 0 GB/s, because one failed: mean 4/3, variance 14/9; a transfer of 0 ns has no rate."""
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


@pytest.fixture
def view_of_waiting(tmp_path: Path) -> CellView:
    return tiny_view(tmp_path, {"flows": waiting_rows()}, bus_bytes=3_000, rank_goodput_bps=10e9)


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("whole_ns", 4_000),  # from 1 to 5 us
        ("bus_bandwidth_bps", 6e9),  # 3000 bytes in 4 us
        ("bus_share", 0.6),
        ("straggler_ns", 2_500),  # h1, h3 and h2 have all after 2, 2.5 and 5 us
        ("critical_transfers", 2),
        ("critical_moving_share", 3_500 / 4_000),  # all but .5 us of computing
    ],
)
def test_waiting_worked_example(view_of_waiting: CellView, metric: str, value: float) -> None:
    assert METRICS[metric].of(view_of_waiting, SECOND) == pytest.approx(value)


def test_a_whole_of_which_something_never_arrived_is_infinite(tmp_path: Path) -> None:
    view_of_waiting = tiny_view(
        tmp_path, {"flows": waiting_rows(None)}, bus_bytes=3_000, rank_goodput_bps=10e9
    )
    assert METRICS["whole_ns"].of(view_of_waiting, SECOND) == math.inf
    assert METRICS["bus_bandwidth_bps"].of(view_of_waiting, SECOND) == 0
    assert METRICS["straggler_ns"].of(view_of_waiting, SECOND) is None


def test_transfers_of_the_path_that_overlap_count_once(tmp_path: Path) -> None:
    """h1 begins .5 us after h0 has begun: from 1 to 5 us one of them is under way."""
    rows = waiting_rows()
    rows[1]["start_ns"] = 1_500
    view_of_waiting = tiny_view(tmp_path, {"flows": rows})
    assert METRICS["critical_transfers"].of(view_of_waiting, SECOND) == 2
    assert METRICS["critical_moving_share"].of(view_of_waiting, SECOND) == 1


def test_what_another_group_leaves_unfinished_is_not_its_matter(tmp_path: Path) -> None:
    other = transfer("background/h0->h1", group="background", status="unfinished", end_ns=None)
    view_of_waiting = tiny_view(tmp_path, {"flows": [*waiting_rows(), other]}, bus_bytes=3_000)
    assert METRICS["whole_ns"].of(view_of_waiting, SECOND) == 4_000
    assert METRICS["bus_bandwidth_bps"].of(view_of_waiting, SECOND) == pytest.approx(6e9)
    assert METRICS["straggler_ns"].of(view_of_waiting, SECOND) == 2_500


def test_one_of_its_own_that_ended_in_an_error_makes_it_infinite(tmp_path: Path) -> None:
    rows = waiting_rows()
    rows[2]["status"] = "error"
    assert METRICS["whole_ns"].of(tiny_view(tmp_path, {"flows": rows}), SECOND) == math.inf


def test_transfers_that_wait_for_none_have_no_whole(tmp_path: Path) -> None:
    view_of_waiting = tiny_view(tmp_path, {"flows": [transfer("main/h0->h1")]}, bus_bytes=3_000)
    assert METRICS["whole_ns"].of(view_of_waiting, SECOND) is None
    assert METRICS["bus_bandwidth_bps"].of(view_of_waiting, SECOND) is None


@pytest.mark.parametrize(("program_ns", "whole_ns"), [(9_000, 9_000), (None, math.inf)])
def test_a_program_is_over_when_its_last_computing_is(
    tmp_path: Path, program_ns: int | None, whole_ns: float
) -> None:
    flows = [transfer("main/h0->h1")]
    assert METRICS["whole_ns"].of(tiny_view(tmp_path, {"flows": flows}, program_ns=program_ns), 0) == whole_ns


def test_sizes_slowdowns_and_groups_are_of_counted_transfers(tmp_path: Path) -> None:
    """None before the warm-up, and no probe; one that did not complete is infinite."""
    lost = {"end_ns": None, "fct_ns": None, "slowdown": None, "status": "unfinished"}
    rows = [
        transfer("main.web/h0->h1", group="main.web", start_ns=0, slowdown=9.0),
        transfer("main.web/h0->h1", group="main.web", start_ns=50, slowdown=2.0, fct_ns=700, size_bytes=10),
        transfer("main.web/h2->h1", group="main.web", start_ns=60, size_bytes=20, **lost),
        transfer("storage/h3->h1", group="storage", start_ns=70, slowdown=4.0, fct_ns=900, size_bytes=30),
        transfer("probe/h4->h1", group="a.probe", start_ns=80, size_bytes=0),
    ]
    view = tiny_view(tmp_path, {"flows": rows}, warm_up_ns=50)
    sizes, ratios = sizes_and_slowdowns(view)
    assert (sizes.tolist(), ratios.tolist()) == ([10, 20, 30], [2.0, math.inf, 4.0])
    groups = {name: [each.tolist() for each in found] for name, found in times_by_group(view).items()}
    assert groups == {"web": [[2.0, math.inf], [700, math.inf]]}


A = "main/h0->h1"


@pytest.fixture
def agent_view(tmp_path: Path) -> CellView:
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
def test_worked_example_of_estimates(agent_view: CellView, metric: str, value: float) -> None:
    assert METRICS[metric].of(agent_view, SECOND) == pytest.approx(value)


def test_transport_without_an_agent_believes_nothing(tmp_path: Path) -> None:
    view = tiny_view(tmp_path, {"flows": [transfer(A)], "throughput": [delivery(A, SECOND, 100)]})
    for name in ("rtt_p50_ns", "rtt_error_p50_ns", "window_rate_over_goodput"):
        assert METRICS[name].of(view, SECOND) is None


def test_an_older_run_does_not_tell_what_was_overruled(tmp_path: Path) -> None:
    view = tiny_view(tmp_path, {"rtt": [{"flow_id": A, "rtt_ns": 1, "accepted": True}]})
    assert METRICS["overruled_share"].of(view, SECOND) is None
