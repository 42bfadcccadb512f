"""A bar per transport."""

from pathlib import Path

import numpy as np
import pytest
from helpers.sample_kinds import write_cells, write_random_run
from helpers.tiny_run import cell, transfer
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection

from rogue.reports.drawing.marks import figure_look
from rogue.reports.figures.bars import Bars
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


def test_a_panel_per_measure_and_a_bar_per_transport(random_transfers: Results) -> None:
    with figure_look():
        axes = Bars().draw(random_transfers).axes
    assert [axis.get_title(loc="left") for axis in axes] == [
        "Slowdown, mean",
        "Completion, mean",
        "Completion p99",
    ]
    assert [bar.get_width() for bar in axes[0].patches] == [1.5, 2.5, 3.5]
    for axis, metric in zip(axes, ("slowdown_mean", "fct_mean_ns", "fct_p99_ns"), strict=True):
        means = [random_transfers.mean(each, metric) for each in random_transfers.measured_settings]
        assert [bar.get_width() for bar in axis.patches] == [mean.mean for mean in means if mean]
        assert len(axis.patches) == 3
    assert [label.get_text() for label in axes[0].get_yticklabels()] == [
        "RoGUE",
        "IRN with PFC",
        "RoCE with PFC",
    ]


@pytest.mark.parametrize(
    "transports", [("irn", "roce"), ("roce-lossy+timely+pfc", "roce-lossy+dcqcn+pfc"), ("x" * 80, "irn")]
)
def test_names_stay_within_the_figure(tmp_path: Path, transports: tuple[str, ...]) -> None:
    results = Results(Run(write_random_run(tmp_path, transports)))
    with figure_look():
        figure = Bars().draw(results)
        FigureCanvasAgg(figure).draw()
    axis = figure.axes[0]
    assert min(label.get_window_extent().x0 for label in axis.get_yticklabels()) > 0
    assert axis.yaxis.label.get_window_extent().x0 > 0


def test_every_bar_is_said(random_transfers: Results) -> None:
    text = Bars().describe(random_transfers)
    for setting in random_transfers.measured_settings:
        assert text.count(f"{setting.title} ") == 3
    assert "Slowdown, mean: " in text


@pytest.mark.parametrize("other", ["pairs", "results"])
def test_only_where_nothing_else_varies(other: str, request: pytest.FixtureRequest) -> None:
    """One has a factor, the other another kind of traffic."""
    assert Bars().skipped_because(request.getfixturevalue(other)) == Bars().missing


def test_single_repetitions_stand_over_their_bars(tmp_path: Path) -> None:
    """Three runs of one transport and a single one of the other, which is its own bar."""
    runs = [("rogue", 1_000), ("rogue", 3_000), ("rogue", 5_000), ("irn", 2_000)]
    cells = [
        (
            cell(f"{transport}-r{n}", transport=transport, repetition=n),
            {"flows": [transfer("main/h0->h1", fct_ns=fct_ns, slowdown=1.0)]},
        )
        for n, (transport, fct_ns) in enumerate(runs, start=1)
    ]
    results = Results(Run(write_cells(tmp_path, cells, {"kind": "poisson"})))
    with figure_look():
        axis = next(
            each for each in Bars().draw(results).axes if "Completion, mean" in each.get_title(loc="left")
        )
    marks = [each for each in axis.collections if isinstance(each, PathCollection)]
    points = [tuple(point) for each in marks for point in np.asarray(each.get_offsets()).tolist()]
    assert sorted(points) == [(1_000, 0), (3_000, 0), (5_000, 0)]
