"""Which factor points figures draw, and how they are named."""

from itertools import product
from pathlib import Path

import pytest
from helpers.sample_kinds import write_cells
from helpers.small_runs import cell, transfer

from rogue.reports.pages.summary import comparison
from rogue.reports.reading.load import Run
from rogue.reports.results import Results, Setting, settings_by_point
from rogue.reports.results.points import chosen_points, points_text, quoted_points, swept_factor

Point = dict[str, str | int]


@pytest.fixture
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> list[Setting]:
    """Settings of transports and factor points, all measured."""
    transports, points = request.param
    return results_of(tmp_path, [(name, point) for point in points for name in transports]).measured_settings


def results_of(directory: Path, settings: list[tuple[str, Point]]) -> Results:
    cells = [
        (cell(f"c{n}", transport=name, factors=point), {"flows": [transfer("main/h0->h1", fct_ns=1000 * n)]})
        for n, (name, point) in enumerate(settings, start=1)
    ]
    return Results(Run(write_cells(directory, cells, {"kind": "ping"})))


def senders(*values: int) -> list[Point]:
    return [{"workload.senders": value} for value in values]


@pytest.mark.parametrize(
    ("settings", "panels_per_setting", "drawn"),
    [
        ((("rogue", "roce"), senders(1, 2, 3, 4)), 1, [1, 2, 3, 4]),
        ((("rogue", "roce"), senders(1, 2, 3, 4, 5)), 1, [1, 3, 5]),
        ((("rogue", "roce", "irn", "dctcp", "iwarp"), senders(1, 2, 3)), 1, [1, 3]),
        ((tuple(f"t{n}" for n in range(12)), senders(1, 2, 3)), 1, [3]),
        ((tuple(f"t{n}" for n in range(13)), senders(1, 2, 3)), 1, [3]),
        ((tuple(f"t{n}" for n in range(13)), senders(1, 2, 3)), 0, [1, 2, 3]),
        ((("rogue", "roce"), senders(1, 2, 3, 4)), 2, [1, 3, 4]),
    ],
    indirect=["settings"],
)
def test_whole_points_are_drawn_the_quoted_one_among_them(
    settings: list[Setting], panels_per_setting: int, drawn: list[int]
) -> None:
    chosen = chosen_points(settings_by_point(settings), quoted_points(settings), panels_per_setting)
    assert chosen == [f"senders {number}" for number in drawn]


def test_quoted_is_the_point_that_the_summary_tells(tmp_path: Path) -> None:
    """The rival has nothing at the last point."""
    results = results_of(
        tmp_path,
        [("rogue", point) for point in senders(1, 2, 3, 4, 5, 6)]
        + [("roce", point) for point in senders(1, 2)],
    )
    assert quoted_points(results.measured_settings) == ["senders 2"]
    (sentence,) = comparison(results)
    assert "With senders 2" in sentence
    points = settings_by_point(results.measured_settings)
    assert chosen_points(points, ["senders 2"], 1) == ["senders 1", "senders 2", "senders 4"]


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ((("rogue",), senders(3, 5)), "senders 3, 5"),
        (
            (
                ("rogue", "roce"),
                [
                    {"workload.senders": n, "workload.verb": verb}
                    for n, verb in product((2, 3, 4), ("read", "write"))
                ],
            ),
            "senders 2, 3, 4 with verb read or verb write",
        ),
        (
            (
                ("rogue",),
                [
                    {"workload.senders": 2, "workload.verb": "read"},
                    {"workload.senders": 3, "workload.verb": "write"},
                    {"workload.senders": 4, "workload.verb": "write"},
                ],
            ),
            "senders 2 with verb read; senders 3, 4 with verb write",
        ),
    ],
    indirect=["settings"],
)
def test_points_are_named_by_their_values(settings: list[Setting], text: str) -> None:
    assert points_text(settings) == text
    assert swept_factor(settings) == "workload.senders"
