"""Metrics of transfers that wait for others, worked by hand in `waiting_rows`."""

import math
from pathlib import Path

import pytest
from helpers.sample_kinds import waiting_rows
from helpers.tiny_run import SECOND, tiny_view, transfer

from rogue.reports.cells.view import CellView
from rogue.reports.metrics import METRICS


@pytest.fixture
def view(tmp_path: Path) -> CellView:
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
def test_worked_example(view: CellView, metric: str, value: float) -> None:
    assert METRICS[metric].of(view, SECOND) == pytest.approx(value)


def test_a_whole_of_which_something_never_arrived_is_infinite(tmp_path: Path) -> None:
    view = tiny_view(tmp_path, {"flows": waiting_rows(None)}, bus_bytes=3_000, rank_goodput_bps=10e9)
    assert METRICS["whole_ns"].of(view, SECOND) == math.inf
    assert METRICS["bus_bandwidth_bps"].of(view, SECOND) == 0
    assert METRICS["straggler_ns"].of(view, SECOND) is None


def test_transfers_of_the_path_that_overlap_count_once(tmp_path: Path) -> None:
    """h1 begins .5 us after h0 has begun: from 1 to 5 us one of them is under way."""
    rows = waiting_rows()
    rows[1]["start_ns"] = 1_500
    view = tiny_view(tmp_path, {"flows": rows})
    assert METRICS["critical_transfers"].of(view, SECOND) == 2
    assert METRICS["critical_moving_share"].of(view, SECOND) == 1


def test_what_another_group_leaves_unfinished_is_not_its_matter(tmp_path: Path) -> None:
    other = transfer("background/h0->h1", group="background", status="unfinished", end_ns=None)
    view = tiny_view(tmp_path, {"flows": [*waiting_rows(), other]}, bus_bytes=3_000)
    assert METRICS["whole_ns"].of(view, SECOND) == 4_000
    assert METRICS["bus_bandwidth_bps"].of(view, SECOND) == pytest.approx(6e9)
    assert METRICS["straggler_ns"].of(view, SECOND) == 2_500


def test_one_of_its_own_that_ended_in_an_error_makes_it_infinite(tmp_path: Path) -> None:
    rows = waiting_rows()
    rows[2]["status"] = "error"
    assert METRICS["whole_ns"].of(tiny_view(tmp_path, {"flows": rows}), SECOND) == math.inf


def test_transfers_that_wait_for_none_have_no_whole(tmp_path: Path) -> None:
    view = tiny_view(tmp_path, {"flows": [transfer("main/h0->h1")]}, bus_bytes=3_000)
    assert METRICS["whole_ns"].of(view, SECOND) is None
    assert METRICS["bus_bandwidth_bps"].of(view, SECOND) is None


@pytest.mark.parametrize(("program_ns", "whole_ns"), [(9_000, 9_000), (None, math.inf)])
def test_a_program_is_over_when_its_last_computing_is(
    tmp_path: Path, program_ns: int | None, whole_ns: float
) -> None:
    flows = [transfer("main/h0->h1")]
    assert METRICS["whole_ns"].of(tiny_view(tmp_path, {"flows": flows}, program_ns=program_ns), 0) == whole_ns
