"""Lines over a factor."""

from pathlib import Path

import numpy as np
import pytest
from helpers.sample_kinds import write_cells
from helpers.tiny_run import cell, transfer
from matplotlib.container import ErrorbarContainer

from rogue.reports.drawing.marks import figure_look
from rogue.reports.figures.factor_sweep import FactorSweep, series_of, swept_factor
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


def heights(results: Results) -> dict[str, dict[str, list[float]]]:
    """Return what is drawn: panel, line, heights."""
    with figure_look():
        figure = FactorSweep().draw(results)
    return {
        axis.get_title(loc="left"): {
            str(bars.get_label()): np.asarray(bars.lines[0].get_ydata(), dtype=float).tolist()
            for bars in axis.containers
            if isinstance(bars, ErrorbarContainer)
        }
        for axis in figure.axes
    }


def test_points_are_the_means_in_the_unit_of_the_axis(pings: Results) -> None:
    drawn = heights(pings)["Completion, mean"]
    assert drawn["Native RoCE"] == pytest.approx([4_000, 62_000, 944_000])
    assert drawn["RoGUE"] == pytest.approx([4_400, 68_200, 1_038_400])


def test_axes_of_pings_are_logarithmic_and_readable(pings: Results) -> None:
    (axis,) = FactorSweep().draw(pings).axes
    assert (axis.get_xscale(), axis.get_yscale()) == ("log", "log")
    assert [text.get_text() for text in axis.get_xticklabels()] == ["64B", "65536B", "1048576B"]
    assert axis.yaxis.get_major_formatter()(10_000).replace("\u202f", " ") == "10 µs"


@pytest.fixture
def crossed(tmp_path: Path) -> Results:
    """Two factors, three and two values; one point is missing."""
    cells = [
        (
            cell(f"rogue-{n}-{verb}-r1", factors={"workload.senders": n, "workload.verb": verb}),
            {"flows": [transfer("main/h0->h1", fct_ns=1000 * n)]},
        )
        for n in (4, 2, 8)
        for verb in ("read", "write")
        if (n, verb) != (8, "write")
    ]
    return Results(Run(write_cells(tmp_path, cells, {"kind": "ping"})))


def test_factor_with_most_values_stands_below_the_others_make_lines(crossed: Results) -> None:
    assert swept_factor(crossed.settings) == "workload.senders"
    lines = series_of(crossed.settings, "workload.senders")
    assert [series.name for series in lines] == ["RoGUE, verb read", "RoGUE, verb write"]
    assert [series.line for series in lines] == ["-", "--"]
    assert heights(crossed)["Completion, mean"] == {
        "RoGUE, verb read": [2_000, 4_000, 8_000],
        "RoGUE, verb write": [2_000, 4_000],
    }


def test_run_that_varies_nothing_has_no_sweep(results: Results) -> None:
    assert swept_factor(results.settings) == ""
    reason = FactorSweep().skipped_because(results)
    assert reason is not None
    assert "no factor" in reason
