"""Slowdowns by size."""

from pathlib import Path

import numpy as np
from helpers.sample_kinds import SIZES, sized_rows, write_cells
from helpers.tiny_run import cell, tiny_view

from rogue.reports.drawing.marks import figure_look
from rogue.reports.figures.size_slowdowns import TRANSFERS_MIN, SizeSlowdowns
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


def drawn(results: Results) -> dict[str, list[tuple[list[float], list[float]]]]:
    with figure_look():
        axes = SizeSlowdowns().draw(results).axes
    return {
        axis.get_title(loc="left"): [
            (np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist())
            for line in axis.lines
        ]
        for axis in axes
    }


def test_each_percentile_has_a_panel_with_a_point_per_class(tmp_path: Path) -> None:
    flows = sized_rows({1_000: 4.0, 20_000: 2.0, 400_000: 1.5})
    results = Results(tiny_view(tmp_path, {"flows": flows}).run)
    ((sizes, median),), ((_, p95),), ((_, p99),) = (drawn(results)[name] for name in ("p50", "p95", "p99"))
    assert (sizes, median, p95, p99) == ([*map(float, SIZES)], [4.0, 2.0, 1.5], [4.0, 2.0, 1.5], p95)
    words = SizeSlowdowns().describe(results).replace("\u202f", " ")
    assert "p50 and p95 and p99 of transfers around 1 KB 4.00, 4.00, 4.00; around 400 KB 1.50" in words


def test_a_percentile_that_did_not_complete_has_no_point(tmp_path: Path) -> None:
    flows = sized_rows({1_000: 1.0, 20_000: 1.0, 400_000: 1.0}, lost=30)
    panels = drawn(Results(tiny_view(tmp_path, {"flows": flows}).run))
    assert panels["p50"][0][1] == [1.0, 1.0, 1.0]
    assert np.isnan(panels["p95"][0][1]).tolist() == [False, False, True]


def test_lines_of_a_panel_have_the_same_classes(tmp_path: Path) -> None:
    cells = [
        (cell(f"{name}-r1", transport=name), {"flows": sized_rows(dict.fromkeys(SIZES, ratio))})
        for name, ratio in (("rogue", 9.0), ("roce", 18.0))
    ]
    results = Results(Run(write_cells(tmp_path, cells, {"kind": "poisson"})))
    (one, other) = drawn(results)["p50"]
    assert one[0] == other[0]
    assert (one[1][0], other[1][0]) == (9.0, 18.0)


def test_few_sizes_or_few_transfers_are_no_distribution_over_sizes(tmp_path: Path) -> None:
    two = [row for row in sized_rows(dict.fromkeys(SIZES, 1.0)) if row["size_bytes"] != 1_000]
    few = sized_rows(dict.fromkeys(SIZES, 1.0))[:: 100 // (TRANSFERS_MIN - 1)]
    for number, flows in enumerate((two, few)):
        results = Results(tiny_view(tmp_path / str(number), {"flows": flows}).run)
        assert SizeSlowdowns().skipped_because(results) == SizeSlowdowns().missing
