"""Goodput of flows over time."""

from pathlib import Path

import numpy as np
import pytest
from helpers.tiny_run import SECOND, delivery, tiny_view, transfer

from rogue.reports.drawing.marks import figure_look
from rogue.reports.figures.estimates import RateEstimate
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.figures.throughput import ThroughputOverTime
from rogue.reports.results import Results


@pytest.mark.parametrize(
    ("ends_s", "share"),
    [
        ((4, 3), [(0.0, 6.0), (4.0, 6.0)]),
        ((4, 2), [(0.0, 6.0), (4.0, 6.0)]),
    ],
    ids=["at the end", "early"],
)
def test_the_ideal_share_ends_with_the_flows(
    tmp_path: Path, ends_s: tuple[int, int], share: list[tuple[float, float]]
) -> None:
    """Samples go on for twice as long as the flows do."""
    flows = [
        transfer(f"main/h{number}->h2", end_ns=end_s * SECOND, fct_ns=end_s * SECOND)
        for number, end_s in enumerate(ends_s)
    ]
    rows = [
        delivery(f"main/h{number}->h2", t_s * SECOND, 1000 if t_s <= end_s else 0)
        for number, end_s in enumerate(ends_s)
        for t_s in range(1, 9)
    ]
    view = tiny_view(tmp_path, {"flows": flows, "throughput": rows}, ideal_goodput_bps=12e9)
    with figure_look():
        (axis,) = ThroughputOverTime().draw(Results(view.run)).axes
    (line,) = [line for line in axis.get_lines() if line.get_label() == "ideal share"]
    assert np.asarray(line.get_xydata())[[0, -1]].tolist() == [[*point] for point in share]
    assert axis.get_xlim()[1] == 8.0


@pytest.mark.parametrize("figure", [ThroughputOverTime(), RateEstimate()])
@pytest.mark.parametrize(("end_ns", "is_drawn"), [(SECOND - 1, False), (SECOND, True)])
def test_a_cell_that_was_over_before_the_first_sample_has_no_empty_panel(
    tmp_path: Path, figure: ReportFigure, end_ns: int, is_drawn: bool
) -> None:
    rows = [delivery("main/h0->h2", SECOND, 1) | {"cwnd_over_rtt_bps": 8.0}]
    view = tiny_view(tmp_path, {"flows": [transfer("main/h0->h2", end_ns=end_ns)], "throughput": rows})
    assert figure.usable(view) == is_drawn
