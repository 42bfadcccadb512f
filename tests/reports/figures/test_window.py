"""Windows, drawn, and what the floor of two batches makes of them."""

from pathlib import Path

import pytest
from helpers.sample_kinds import write_cells
from helpers.tiny_run import cell, transfer

from rogue.reports.drawing.marks import figure_look
from rogue.reports.figures.control import WindowOverTime
from rogue.reports.reading.load import Run
from rogue.reports.results import Results

Overruled = list[bool | None]


def results_of(directory: Path, overruled: Overruled) -> Results:
    rows = [
        {
            "flow_id": "a",
            "t_ns": t,
            "cwnd_packets": 4.0,
            "limiter_bps": 10**9,
            "accepted": True,
            "overruled": each,
        }
        for t, each in enumerate(overruled)
    ]
    tables = {"flows": [transfer("main/h0->h1")], "rtt": rows}
    return Results(Run(write_cells(directory, [(cell("rogue-r1"), tables)], {"kind": "incast"})))


def test_window_and_limit_have_a_panel_each(tmp_path: Path) -> None:
    with figure_look():
        window, limit = WindowOverTime().draw(results_of(tmp_path, [True, False])).axes
    assert [line.get_ydata().tolist() for line in (*window.lines, *limit.lines)] == [[4, 4], [1, 1]]


def test_the_caption_says_how_often_the_floor_overruled_the_window(tmp_path: Path) -> None:
    caption = WindowOverTime().omission(results_of(tmp_path, [True, False, False, False]))
    assert "It was smaller after so many samples: RoGUE 25.0\u202f%; there the limiter" in caption


@pytest.mark.parametrize("overruled", [[False, False], [None, None]])
def test_it_says_nothing_where_it_never_did_or_nobody_knows(tmp_path: Path, overruled: Overruled) -> None:
    assert WindowOverTime().omission(results_of(tmp_path, overruled)) == ""
