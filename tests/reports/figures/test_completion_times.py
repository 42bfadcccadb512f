"""Distributions of completion times."""

from pathlib import Path

import numpy as np
import pytest
from helpers.tiny_run import tiny_view, transfer

from rogue.reports.drawing.marks import figure_look
from rogue.reports.figures.completion_times import CompletionTimes
from rogue.reports.results import Results


def test_long_and_short_transfers_have_panels_of_their_own(pairs: Results) -> None:
    with figure_look():
        titles = [axis.get_title(loc="left") for axis in CompletionTimes().draw(pairs).axes]
    assert titles == [
        "load 0.1: long transfers",
        "load 0.1: short transfers",
        "load 0.75: long transfers",
        "load 0.75: short transfers",
    ]


def test_line_ends_where_transfers_did_not_complete(pairs: Results) -> None:
    """8 of 400 transfers per repetition never end, all of them long ones: 728 and 72 in both repetitions."""
    flows = [
        view.table("flows") for view in pairs.views.values() if view.entry.id.startswith("rogue-load0.1-")
    ]
    long = [table[table["size_bytes"] > 10_000] for table in flows if table is not None]
    done = sum(int((table["status"] == "ok").sum()) for table in long) / sum(map(len, long))
    line = CompletionTimes().draw(pairs).axes[0].get_lines()[0]
    across, up = (np.asarray(data, dtype=float) for data in (line.get_xdata(), line.get_ydata()))
    assert up[np.isfinite(across)].max() == pytest.approx(done, abs=1 / 240)
    assert done < 1


def test_transfers_back_to_back_are_told_by_goodput_instead(results: Results, staggered: Results) -> None:
    for run in (results, staggered):
        assert CompletionTimes().skipped_because(run) is not None


def test_where_nothing_completes_there_is_no_line(tmp_path: Path) -> None:
    flows = [
        transfer(f"main/h{n}->h1", start_ns=n, size_bytes=10**6, end_ns=None, status="unfinished")
        for n in range(300)
    ]
    results = Results(tiny_view(tmp_path, {"flows": flows}).run)
    assert CompletionTimes().skipped_because(results) == CompletionTimes().missing
