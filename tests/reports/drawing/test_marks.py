"""Tests: the look of figures, and what panels are drawn with."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib import rc_context, rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from rogue.reports.drawing.marks import (
    INSTANTS,
    POINTS_MAX,
    draw_cdf,
    draw_flow_lines,
    draw_spread,
    figure_look,
    line_look,
    seconds_axis,
)
from rogue.reports.drawing.panels import panels
from rogue.reports.transport_styles import style_of


def line_of(values: list[float]) -> tuple[np.ndarray, np.ndarray]:
    axis = Figure().subplots()
    draw_cdf(axis, np.array(values), "a line", color="#000000")
    (line,) = axis.get_lines()
    assert line.get_label() == "a line"
    return np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)


def test_what_never_came_back_keeps_the_line_below_one() -> None:
    across, up = line_of([3.0, 1.0, np.inf, 2.0, np.inf])
    assert across[1:].tolist() == [1, 2, 3]
    assert up.tolist() == pytest.approx([0, 0.2, 0.4, 0.6])


def test_thinned_line_keeps_the_total_that_never_came_back() -> None:
    values = [*np.arange(1.0, 30_001.0), *[np.inf] * 10_000]
    across, up = line_of(values)
    assert len(across) <= POINTS_MAX + 1
    assert up[-1] == pytest.approx(0.75)
    drawn = across[1:]
    assert up[1:] == pytest.approx(drawn / 40_000), "each drawn point is exact"


def test_where_nothing_came_back_the_legend_still_has_a_line() -> None:
    across, _ = line_of([np.inf, np.inf])
    assert len(across) == 0


def test_spread_is_the_median_between_the_least_and_the_largest() -> None:
    axis = Figure().subplots()
    times_s = np.repeat(np.arange(INSTANTS) / INSTANTS, 3)
    draw_spread(axis, times_s, np.tile([5.0, 1.0, 3.0], INSTANTS), "#000000")
    (line,) = axis.get_lines()
    heights = np.asarray(line.get_ydata(), dtype=float)
    assert len(heights) == INSTANTS
    assert set(heights) == {3.0}
    (band,) = axis.collections
    corners = band.get_paths()[0].vertices[:, 1]
    assert (corners.min(), corners.max()) == (1.0, 5.0)


def test_lines_have_markers_where_they_are_many() -> None:
    assert "marker" not in line_look(style_of("rogue"), 4)
    assert line_look(style_of("rogue"), 5)["marker"] == "o"


@pytest.mark.parametrize("end_s", [0.000012, 0.00021, 0.00095, 0.0013, 0.0042, 0.019, 0.5, 7.0, 130.0])
def test_seconds_below_narrow_panels_do_not_touch(end_s: float) -> None:
    with figure_look():
        figure, axes = panels(["a", "b", "c"], 3)
        axes[0].set_xlim(0, end_s)
        seconds_axis(axes[0], ", of a run")
        FigureCanvasAgg(figure).draw()
        labels = [each.label1 for each in axes[0].xaxis.get_major_ticks()]
        shown = [each.get_window_extent() for each in labels if each.get_text()]
    assert len(shown) >= 3
    assert all(left.x1 + 1 < right.x0 for left, right in pairwise(shown))
    assert axes[0].get_xlabel() == "time (s), of a run"


def test_what_the_report_does_not_set_is_as_matplotlib_comes() -> None:
    with rc_context({"text.usetex": True, "savefig.bbox": "tight"}):
        with figure_look():
            assert (rcParams["text.usetex"], rcParams["savefig.bbox"]) == (False, None)
        assert (rcParams["text.usetex"], rcParams["savefig.bbox"]) == (True, "tight")


DRAWN = """
import io
from matplotlib.figure import Figure
from rogue.reports.drawing.marks import figure_look
written = io.BytesIO()
with figure_look():
    figure = Figure()
    figure.subplots().plot([1, 2], label="$x$")
    figure.savefig(written, format="svg", metadata={"Date": None})
print(written.getvalue().decode())
"""


def test_a_matplotlibrc_in_the_working_directory_changes_no_figure(tmp_path: Path) -> None:
    drawn = []
    for settings in ("", "text.usetex: True\nlines.linewidth: 9\nsavefig.bbox: tight\nbackend: tkagg\n"):
        (tmp_path / "matplotlibrc").write_text(settings)
        command = [sys.executable, "-P", "-c", DRAWN]
        drawn.append(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout)
    assert "</svg>" in drawn[0]
    assert drawn[0] == drawn[1]


def of_flow(name: str, values: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"flow_id": name, "t_ns": range(0, 10**9 * len(values), 10**9), "x": values})


@pytest.mark.parametrize(("lines_max", "lines"), [(None, 3), (2, 2)])
def test_a_thin_line_for_each_flow_of_the_first_repetition(lines_max: int | None, lines: int) -> None:
    axis = Figure().subplots()
    first = pd.concat([of_flow(name, [2.0, 4.0]) for name in "abc"])
    draw_flow_lines(axis, [first, of_flow("a", [200.0])], ("x", 2.0), "black", lines_max)
    thin = [line for line in axis.lines if line.get_linewidth() < 1]
    assert [line.get_ydata().tolist() for line in thin] == [[1, 2]] * lines
    assert len(axis.lines) == lines + 1, "the median of all"


def test_one_flow_has_no_spread() -> None:
    axis = Figure().subplots()
    draw_flow_lines(axis, [of_flow("a", [2.0, 4.0])], ("x", 1.0), "black")
    assert len(axis.lines) == 1
    assert not axis.collections
