"""Tests: figures of controls, processors and recovery."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pandas as pd
import pytest
from helpers.sample_kinds import write_cells
from helpers.small_runs import cell, transfer
from matplotlib.patches import Rectangle

from rogue.reports.cells.view import CellView
from rogue.reports.drawing.marks import figure_look
from rogue.reports.figures.control import NAMES_MAX, ControlOverTime, WindowOverTime
from rogue.reports.figures.cpu_load import CpuLoad
from rogue.reports.figures.critical_path import CriticalPath
from rogue.reports.figures.recovery import RecoveryTimeline, _events
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


def heights(results: Results, panel: int) -> list[float]:
    axis = CpuLoad().draw(results).axes[panel]
    bars = [patch for patch in axis.patches if isinstance(patch, Rectangle)]
    return [bar.get_height() for bar in bars]


def test_clients_and_servers_by_transport(loaded: Results) -> None:
    """WRITE: the senders' mean is 30 %, the receiver's 10 and 20 %; the prober is neither."""
    assert heights(loaded, 0) == pytest.approx([30, 15, 15, 7.5])


def test_the_client_of_a_read_is_the_receiver(loaded: Results) -> None:
    assert heights(loaded, 1) == pytest.approx([15, 30, 7.5, 15])


def test_the_line_spans_the_repetitions(loaded: Results) -> None:
    client, server = CpuLoad().draw(loaded).axes[0].collections[0].get_paths()
    assert client.vertices[:, 1].tolist() == pytest.approx([30, 30])
    assert server.vertices[:, 1].tolist() == pytest.approx([10, 20])


def test_panels_are_named_after_their_point(loaded: Results) -> None:
    with figure_look():
        titles = [axis.get_title(loc="left") for axis in CpuLoad().draw(loaded).axes]
    assert titles == ["verb write", "verb read"]


def test_words(loaded: Results) -> None:
    text = CpuLoad().describe(loaded).replace("\u202f", " ")
    assert "RoGUE, verb write: client 30.0 %, server 15.0 % of one core." in text


def test_each_receiver_has_a_row_and_the_path_goes_from_row_to_row(waiting: Results) -> None:
    """h0 to h1 from 0 to 1 us, h1 to h2 from 1.5 to 4 us; h3 has all after 1.5 us."""
    (axis,) = CriticalPath().draw(waiting).axes
    assert [text.get_text() for text in axis.get_yticklabels()] == ["h1", "h2", "h3"]
    every, path, done = axis.get_lines()
    assert len(np.asarray(every.get_xdata())) == 3 * 3
    assert np.asarray(path.get_xdata(), float) * 1e3 == pytest.approx([0, 1, 1.5, 4])
    assert np.asarray(path.get_ydata()).tolist() == [0, 0, 1, 1]
    assert np.asarray(done.get_xdata(), float) * 1e3 == pytest.approx([1, 4, 1.5])


def test_words_name_the_chain_and_the_last(waiting: Results) -> None:
    text = CriticalPath().describe(waiting).replace("\u202f", " ")
    assert "The whole took 4 µs; the critical path has 2 transfers, to h1, h2;" in text
    assert "h2 was last, 2.5 µs after the median host." in text


def test_where_nothing_waits_it_is_not_drawn(results: Results) -> None:
    assert "flows.parquet" in str(CriticalPath().skipped_because(results))


def test_each_kind_of_event_has_a_row_and_each_event_a_mark(recovering: Results) -> None:
    axis = RecoveryTimeline().draw(recovering).axes[2]
    rows = [text.get_text() for text in axis.get_yticklabels()]
    assert rows == [
        "link cut",
        "qp failed",
        "shadow switch",
        "resync request",
        "link restored",
        "resync done",
    ]
    marks = [np.asarray(line.get_xdata(), dtype=float).tolist() for line in axis.get_lines()]
    assert marks == [[0.5], [0.63], [0.63], [0.7, 0.9], [2.5], [2.6]]
    assert [line.get_marker() for line in axis.get_lines()] == ["x", "x", "o", "o", "o", "o"]


def test_panels_share_their_time(recovering: Results) -> None:
    assert [axis.get_xlim() for axis in RecoveryTimeline().draw(recovering).axes] == [(0, 4)] * 5


def test_what_was_sent_again_rises_when_it_was(recovering: Results) -> None:
    (line,) = RecoveryTimeline().draw(recovering).axes[1].get_lines()
    times_s, total_bytes = (np.asarray(data, dtype=float) for data in line.get_data())
    assert set(total_bytes[times_s < 0.7]) == {0}
    assert set(total_bytes[times_s >= 0.7]) == {65_536}


def test_where_it_was_not_sampled_there_is_no_panel_for_it(recovering: Results) -> None:
    labels = [axis.get_ylabel() for axis in RecoveryTimeline().draw(recovering).axes]
    assert labels == ["goodput (Gb/s)", "sent again", "event", "goodput (Gb/s)", "event"]


def test_what_was_sent_again_stands_in_the_title(recovering: Results) -> None:
    with figure_look():
        titles = [axis.get_title(loc="left") for axis in RecoveryTimeline().draw(recovering).axes]
    assert titles[0].replace("\u202f", " ") == "RoGUE, verb write: 65.5 KB sent again"
    assert titles[1] == ""


def test_words_say_how_often_and_when_first(recovering: Results) -> None:
    text = RecoveryTimeline().describe(recovering).replace("\u202f", " ")
    assert "resync_request 2 times, first at 700 ms" in text
    assert "65.5 KB were sent again." in text


def test_run_without_events_is_not_drawn(results: Results) -> None:
    reason = RecoveryTimeline().skipped_because(results)
    assert reason is not None
    assert "events.parquet" in reason


def test_turns_at_limiters_are_no_steps_of_a_recovery() -> None:
    rows = [("a", 3, "turn", ""), ("a", 1, "qp_failed", ""), ("a", 2, "turn_over", "")]
    events = pd.DataFrame(rows, columns=["flow_id", "t_ns", "event", "detail"])
    view = cast(CellView, SimpleNamespace(table={"events": events}.get))
    assert _events(view)["event"].tolist() == ["qp_failed"]
