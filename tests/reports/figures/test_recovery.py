"""The timeline of a recovery, on events worked by hand."""

from types import SimpleNamespace
from typing import cast

import numpy as np
import pandas as pd

from rogue.reports.cells.view import CellView
from rogue.reports.drawing.marks import figure_look
from rogue.reports.figures.recovery import RecoveryTimeline, _events
from rogue.reports.results import Results


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
