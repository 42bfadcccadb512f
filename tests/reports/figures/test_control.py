"""Tests: figures: congestion windows, rate limits and control state over time."""

from pathlib import Path

import pytest
from helpers.sample_kinds import write_cells
from helpers.tiny_run import cell, transfer

from rogue.reports.drawing.marks import figure_look
from rogue.reports.figures.control import NAMES_MAX, ControlOverTime, WindowOverTime
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


def told(flow: str, t_ns: int, name: str, value: float) -> dict[str, object]:
    return {"flow_id": flow, "t_ns": t_ns, "name": name, "value": value}


def results_of(directory: Path, rows: list[dict[str, object]]) -> Results:
    tables = {"flows": [transfer("main/h0->h1")], "control": rows}
    return Results(Run(write_cells(directory, [(cell("rogue-r1"), tables)], {"kind": "incast"})))


def test_each_quantity_has_a_panel_in_its_unit(tmp_path: Path) -> None:
    rows = [told(flow, t, "rate_bps", 5e9) for flow in ("a", "b") for t in (0, 10**9)]
    rows += [told("a", 0, "alpha", 0.25), told("a", 10**9, "alpha", 0.75)]
    figure_of = ControlOverTime()
    results = results_of(tmp_path, rows)
    with figure_look():
        rates, alphas = figure_of.draw(results).axes
    assert (rates.get_ylabel(), alphas.get_ylabel()) == ("Gb/s", "alpha")
    thin = [line for line in rates.lines if line.get_linewidth() < 1]
    assert [line.get_ydata().tolist() for line in thin] == [[5, 5], [5, 5]]
    assert [line.get_ydata().tolist() for line in alphas.lines] == [[0.25, 0.75]]
    assert "medians: rate_bps 5 Gb/s, alpha 0.5." in figure_of.describe(results)


def test_quantities_beyond_the_bound_are_named(tmp_path: Path) -> None:
    rows = [told("a", t, f"q{n}", t) for n in range(NAMES_MAX + 2) for t in (0, 10**9)]
    results = results_of(tmp_path, rows)
    with figure_look():
        assert len(ControlOverTime().draw(results).axes) == NAMES_MAX
    assert f" Without a panel: q{NAMES_MAX}, q{NAMES_MAX + 1}." in ControlOverTime().omission(results)


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_what_is_no_finite_number_is_not_drawn(tmp_path: Path, value: float) -> None:
    assert ControlOverTime().skipped_because(results_of(tmp_path, [told("a", 0, "x", value)])) is not None


Overruled = list[bool | None]


def results_of_of_window(directory: Path, overruled: Overruled) -> Results:
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
        window, limit = WindowOverTime().draw(results_of_of_window(tmp_path, [True, False])).axes
    assert [line.get_ydata().tolist() for line in (*window.lines, *limit.lines)] == [[4, 4], [1, 1]]


def test_the_caption_says_how_often_the_floor_overruled_the_window(tmp_path: Path) -> None:
    caption = WindowOverTime().omission(results_of_of_window(tmp_path, [True, False, False, False]))
    assert "It was smaller after so many samples: RoGUE 25.0\u202f%; there the limiter" in caption


@pytest.mark.parametrize("overruled", [[False, False], [None, None]])
def test_it_says_nothing_where_it_never_did_or_nobody_knows(tmp_path: Path, overruled: Overruled) -> None:
    assert WindowOverTime().omission(results_of_of_window(tmp_path, overruled)) == ""
