"""Tests: completion times, transfers that wait, and estimates of agents."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from helpers.sample_kinds import waiting_rows
from helpers.small_runs import SECOND, delivery, measure, tiny_view, transfer

from rogue.reports.metrics import METRICS
from rogue.reports.metrics.completion import sizes_and_slowdowns, times_by_group
from rogue.reports.quantities import NARROW_SPACE
from rogue.reports.results import Results, spoken_text

Rows = Sequence[Mapping[str, object]]
PAIR = "main/h0->h1"
LOST = {"fct_ns": None, "end_ns": None, "slowdown": None, "status": "unfinished"}
MIXED = [
    *(
        transfer(PAIR, size_bytes=65_536, fct_ns=1_000 * n, transfer_id=n, slowdown={1: 2.0, 2: 3.0}.get(n))
        for n in range(1, 10)
    ),
    transfer(PAIR, size_bytes=10**6, fct_ns=None, end_ns=None, status="error"),
    transfer(PAIR, size_bytes=65_535, fct_ns=700),
    transfer("probe/h2->h1", size_bytes=0, fct_ns=1),
]
"""Nine long transfers of 1 to 9 µs and one that failed; one short one just below 64 KiB; a probe."""
THREE_AND_A_FAILURE = [
    transfer(PAIR, size_bytes=10**6, fct_ns=fct, status=status, slowdown=fct and fct / 5, transfer_id=n)
    for n, (fct, status) in enumerate(((5, "ok"), (7, "ok"), (None, "error"), (6, "ok")))
]
ALL_COMPLETE = [
    transfer(PAIR, fct_ns=fct, slowdown=slowdown, transfer_id=fct)
    for fct, slowdown in ((10, 2.0), (20, None), (60, 3.0))
]
RATES = [
    transfer(PAIR, size_bytes=3_000, fct_ns=fct, status=status, transfer_id=n)
    for n, (fct, status) in enumerate(((3_000, "ok"), (1_000, "ok"), (None, "error"), (0, "ok")))
]
"""1, 3 and 0 GB/s, because one failed: mean 4/3, variance 14/9; a transfer of 0 ns has no rate."""


@pytest.mark.parametrize(
    ("rows", "metric", "value"),
    [
        (MIXED, "fct_p99_ns", math.inf),  # rank 11 of 11 is the one that failed
        (MIXED, "slowdown_mean", math.inf),
        (MIXED, "fct_mean_ns", math.inf),
        (MIXED, "long_fct_p50_ns", 5_000),  # rank 5 of 10
        (MIXED, "long_fct_p90_ns", 9_000),  # rank 9 of 10
        (MIXED, "short_fct_p50_ns", 700),
        (MIXED, "short_fct_p90_ns", 700),
        (MIXED, "unfinished_share", 1 / 11),
        # 65 536 bytes in 1 to 9 µs, 65 535 in .7, and one that never came
        (
            MIXED,
            "transfer_rate_mean_bps",
            (65_536 * 8e6 * sum(1 / n for n in range(1, 10)) + 65_535 * 8e6 / 0.7) / 11,
        ),
        (THREE_AND_A_FAILURE, "long_fct_p50_ns", 6),
        (THREE_AND_A_FAILURE, "long_fct_p90_ns", math.inf),
        (THREE_AND_A_FAILURE, "short_fct_p50_ns", None),
        *(
            ([transfer(PAIR, size_bytes=10**6, fct_ns=7, status=status)], "fct_mean_ns", math.inf)
            for status in ("error", "dropped", "unfinished")
        ),
        (ALL_COMPLETE, "fct_mean_ns", 30),
        (ALL_COMPLETE, "fct_max_ns", 60),
        (ALL_COMPLETE, "slowdown_mean", 2.5),  # of the two whose ideal is known
        (RATES, "transfer_rate_mean_bps", 8e9 * 4 / 3),
        (RATES, "transfer_rate_deviation_share", math.sqrt(14 / 9) / (4 / 3)),
        (waiting_rows(None), "whole_ns", math.inf),  # one never arrived
        (waiting_rows(None), "straggler_ns", None),
        ([transfer(PAIR)], "whole_ns", None),  # waits for none
        ([transfer(PAIR)], "bus_bandwidth_bps", None),
    ],
)
def test_worked_examples(tmp_path: Path, rows: Rows, metric: str, value: float | None) -> None:
    found = measure(tmp_path, metric, {"flows": rows})
    assert found == (None if value is None else pytest.approx(value))


@pytest.mark.parametrize(("unfinished", "mean_ns"), [(0, 1_000), (1, 1_000), (2, math.inf)])
def test_mean_is_of_completed_transfers_unless_over_one_percent_is_missing(
    tmp_path: Path, unfinished: int, mean_ns: float
) -> None:
    rows = [transfer(PAIR, fct_ns=1_000, slowdown=2.0, transfer_id=n) for n in range(100 - unfinished)]
    rows += [transfer(PAIR, transfer_id=200 + n, **LOST) for n in range(unfinished)]
    assert measure(tmp_path / "mean", "fct_mean_ns", {"flows": rows}) == mean_ns
    assert measure(tmp_path / "slow", "slowdown_mean", {"flows": rows}) == mean_ns / 500


def test_unfinished_transfers_are_counted_beside_their_numbers(tmp_path: Path) -> None:
    """A percentile among the unfinished is at least what it is if they are shorter than all others."""
    rows = [transfer(PAIR, fct_ns=1_000 * n, transfer_id=n) for n in range(1, 200)]
    results = Results(tiny_view(tmp_path, {"flows": [*rows, transfer(PAIR, transfer_id=200, **LOST)]}).run)
    (setting,) = results.measured_settings
    texts = {
        name: spoken_text(results, setting, name).replace(NARROW_SPACE, " ")
        for name in ("fct_mean_ns", "fct_p99_ns", "fct_max_ns", "short_fct_p90_ns")
    }
    assert texts == {
        "fct_mean_ns": "100 µs (1 of 200 unfinished)",
        "fct_p99_ns": "198 µs (1 of 200 unfinished)",
        "fct_max_ns": "≥ 199 µs (1 of 200 unfinished)",
        "short_fct_p90_ns": "180 µs (1 of 200 unfinished)",
    }


@pytest.mark.parametrize(("metric", "value"), [("fct_mean_ns", 30), ("fct_p99_ns", 40), ("slowdown_mean", 3)])
def test_transfers_of_the_warm_up_do_not_count(tmp_path: Path, metric: str, value: float) -> None:
    rows = [
        transfer(PAIR, start_ns=start, fct_ns=fct, slowdown=fct / 10, transfer_id=fct)
        for start, fct in ((99, 1_000), (100, 20), (150, 40))
    ]
    assert measure(tmp_path, metric, {"flows": rows}, warm_up_ns=100) == value


def test_end_of_repeating_traffic_cuts_no_completion_time(tmp_path: Path) -> None:
    """Of 5 and 7 us, and one that was under way at the end, two count. Who completed none is infinite."""
    open_ended = LOST | {"size_bytes": 10**6}
    ended = [transfer(PAIR, size_bytes=10**6, fct_ns=fct, start_ns=fct) for fct in (5_000, 7_000)]
    cut = transfer(PAIR, start_ns=12_000, transfer_id=3, **open_ended)
    view = tiny_view(tmp_path / "one", {"flows": [*ended, cut]}, repeats=True)
    assert METRICS["fct_mean_ns"].of(view, SECOND) == 6_000
    assert METRICS["unfinished_share"].of(view, SECOND) == 0
    stuck = transfer("main/h2->h1", transfer_id=4, **open_ended)
    view = tiny_view(tmp_path / "two", {"flows": [*ended, cut, stuck]}, repeats=True)
    assert METRICS["fct_mean_ns"].of(view, SECOND) == math.inf
    assert METRICS["unfinished_share"].of(view, SECOND) == 1 / 3
    assert measure(tmp_path / "three", "fct_mean_ns", {"flows": [*ended, cut]}) == math.inf


def waiting_with(**changes: object) -> Rows:
    """Return three waiting transfers, with changes of the last one."""
    *rows, last = waiting_rows()
    return [*rows, last | changes]


OTHER_GROUP = transfer("background/h0->h1", group="background", status="unfinished", end_ns=None)
OVERLAPPING = [row | ({"start_ns": 1_500} if n == 1 else {}) for n, row in enumerate(waiting_rows())]
"""h1 begins .5 us after h0 has begun: from 1 to 5 us one of them is under way."""


@pytest.mark.parametrize(
    ("rows", "metric", "value"),
    [
        (waiting_rows(), "whole_ns", 4_000),  # from 1 to 5 us
        (waiting_rows(), "bus_bandwidth_bps", 6e9),  # 3000 bytes in 4 us
        (waiting_rows(), "bus_share", 0.6),
        (waiting_rows(), "straggler_ns", 2_500),  # h1, h3 and h2 have all after 2, 2.5 and 5 us
        (waiting_rows(), "critical_transfers", 2),
        (waiting_rows(), "critical_moving_share", 3_500 / 4_000),  # all but .5 us of computing
        (waiting_rows(None), "bus_bandwidth_bps", 0),
        (OVERLAPPING, "critical_transfers", 2),
        (OVERLAPPING, "critical_moving_share", 1),
        ([*waiting_rows(), OTHER_GROUP], "whole_ns", 4_000),
        ([*waiting_rows(), OTHER_GROUP], "bus_bandwidth_bps", 6e9),
        ([*waiting_rows(), OTHER_GROUP], "straggler_ns", 2_500),
        (waiting_with(status="error"), "whole_ns", math.inf),
    ],
)
def test_transfers_that_wait(tmp_path: Path, rows: Rows, metric: str, value: float) -> None:
    found = measure(tmp_path, metric, {"flows": rows}, bus_bytes=3_000, rank_goodput_bps=10e9)
    assert found == pytest.approx(value)


@pytest.mark.parametrize(("program_ns", "whole_ns"), [(9_000, 9_000), (None, math.inf)])
def test_program_ends_with_its_last_computing(
    tmp_path: Path, program_ns: int | None, whole_ns: float
) -> None:
    assert measure(tmp_path, "whole_ns", {"flows": [transfer(PAIR)]}, program_ns=program_ns) == whole_ns


def test_sizes_slowdowns_and_groups_are_of_counted_transfers(tmp_path: Path) -> None:
    """None before the warm-up, and no probe; one that did not complete is infinite."""
    rows = [
        transfer("main.web/h0->h1", group="main.web", start_ns=0, slowdown=9.0),
        transfer("main.web/h0->h1", group="main.web", start_ns=50, slowdown=2.0, fct_ns=700, size_bytes=10),
        transfer("main.web/h2->h1", group="main.web", start_ns=60, size_bytes=20, **LOST),
        transfer("storage/h3->h1", group="storage", start_ns=70, slowdown=4.0, fct_ns=900, size_bytes=30),
        transfer("probe/h4->h1", group="a.probe", start_ns=80, size_bytes=0),
    ]
    view = tiny_view(tmp_path, {"flows": rows}, warm_up_ns=50)
    sizes, ratios = sizes_and_slowdowns(view)
    assert (sizes.tolist(), ratios.tolist()) == ([10, 20, 30], [2.0, math.inf, 4.0])
    groups = {name: [each.tolist() for each in found] for name, found in times_by_group(view).items()}
    assert groups == {"web": [[2.0, math.inf], [700, math.inf]]}


ESTIMATES = {
    "rtt": [
        {
            "flow_id": PAIR,
            "t_ns": SECOND,
            "rtt_ns": rtt,
            "true_rtt_ns": truth,
            "accepted": accepted,
            "overruled": floor,
            "cwnd_packets": 4.0,
            "base_rtt_ns": 50_000,
        }
        for rtt, truth, accepted, floor in (
            (90_000, 88_000, True, True),
            (70_000, 71_000, True, False),
            (50_000, None, True, True),
            (10, 99_000, False, False),
        )
    ],
    "flows": [transfer(PAIR)],
    "throughput": [
        {**delivery(PAIR, SECOND, 100), "cwnd_over_rtt_bps": 520.0},
        delivery(PAIR, 2 * SECOND, 900),
    ],
}


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
def test_estimates_of_agents(tmp_path: Path, metric: str, value: float) -> None:
    assert measure(tmp_path, metric, ESTIMATES) == pytest.approx(value)
    plain = {"flows": [transfer(PAIR)], "throughput": [delivery(PAIR, SECOND, 100)]}
    assert measure(tmp_path / "without an agent", metric, plain) is None


def test_window_over_the_base_rtt_is_compared_with_goodput(tmp_path: Path) -> None:
    """4 packets of 1000 bytes per 50 us are 640 Mb/s; 100 bytes per second are 800 b/s."""
    value = measure(tmp_path, "window_over_base_rate_over_goodput", ESTIMATES, mtu_bytes=1000)
    assert value == pytest.approx(640e6 / 800)


def test_older_run_has_no_overruled_share(tmp_path: Path) -> None:
    samples = [{"flow_id": PAIR, "rtt_ns": 1, "accepted": True}]
    assert measure(tmp_path, "overruled_share", {"rtt": samples}) is None


@pytest.mark.parametrize(
    ("metric", "unfinished", "at_least"),
    [("long_fct_p90_ns", 11, 79), ("fct_p99_ns", 11, 88), ("long_fct_p50_ns", 60, None)],
)
def test_unfinished_transfers_may_be_shorter_than_all_others(
    tmp_path: Path, metric: str, unfinished: int, at_least: float | None
) -> None:
    """The p90 of 11 zeros and of 1 to 89 ns is 79 ns. A median among 60 zeros is unknown."""
    large = {"size_bytes": 10**6}
    rows = [transfer(PAIR, fct_ns=n, transfer_id=n, **large) for n in range(1, 101 - unfinished)]
    rows += [transfer(PAIR, transfer_id=200 + n, **LOST, **large) for n in range(unfinished)]
    view = tiny_view(tmp_path, {"flows": rows})
    bound = METRICS[metric].bound
    assert bound is not None
    assert METRICS[metric].of(view, SECOND) == math.inf
    assert bound(view, SECOND) == at_least
