"""Tests: show how measures respond to factors."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from helpers.sample_run import Sample, write_manifest, write_sample_run, write_table
from helpers.small_runs import cell, filled, manifest, transfer

from rogue.reports.pages.factor_spread import ROWS_OPEN_MAX, spread
from rogue.reports.quantities import NARROW_SPACE
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


def pings(directory: Path, times_us: dict[str, list[int | None]]) -> Results:
    """Single transfers, a factor point per key and a run per time; None is a transfer that never ended."""
    cells = []
    for point, times in times_us.items():
        for repetition, time_us in enumerate(times, start=1):
            entry = cell(
                f"rogue-size{point}-r{repetition}",
                factors={"workload.size": point, "workload.verb": "read"},
                repetition=repetition,
                seed=repetition,
            )
            cells.append(entry)
            row = transfer("main/h0->h1", end_ns=None, fct_ns=None, status="unfinished")
            if time_us is not None:
                row = transfer("main/h0->h1", end_ns=time_us * 1000, fct_ns=time_us * 1000)
            folder = directory / "cells" / str(entry["id"])
            write_table(folder / "flows.parquet", "flows", filled("flows", [row]))
    experiment = {"name": "kinds", "workload": {"kind": "ping"}}
    write_manifest(directory, manifest(cells, experiment=experiment))
    return Results(Run(directory))


def plain(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(text.replace(NARROW_SPACE, " ") for text in texts)


def test_rivals_are_compared_with_each_other_instead(results: Results, sweep: Results) -> None:
    assert spread(results) is None
    assert spread(sweep) is None


def test_one_point_has_nothing_to_be_compared_with(tmp_path: Path) -> None:
    assert spread(pings(tmp_path, {"1KB": [10, 11]})) is None


def test_worked_example_least_and_most_and_how_many_times(tmp_path: Path) -> None:
    found = spread(pings(tmp_path, {"1MB": [900, 1000], "1KB": [9, 11], "64KB": [90, 110]}))
    assert found is not None
    assert found.opening == "RoGUE at 3 points: size 1MB, 1KB and 64KB."
    assert plain(found.sentences) == (
        "Completion, mean: 10 µs (size 1KB, verb read) to 950 µs (size 1MB, verb read), 95 times as much.",
        "Connections failed: 0 of 6.",
    )
    assert found.head == ("Completion, mean",)
    assert [plain(row) for row in found.rows] == [
        ("size 1MB, verb read", "950 µs"),
        ("size 1KB, verb read", "10 µs"),
        ("size 64KB, verb read", "100 µs"),
    ]


def test_what_touches_is_level(tmp_path: Path) -> None:
    found = spread(pings(tmp_path, {"1KB": [10, 20, 30], "2KB": [12, 22, 32]}))
    assert found is not None
    assert plain(found.sentences)[0] == "Level at all points: mean completion (20 µs to 22 µs)."


def test_what_never_came_is_most(tmp_path: Path) -> None:
    found = spread(pings(tmp_path, {"1KB": [None, None], "2KB": [10, 11]}))
    assert found is not None
    assert plain(found.sentences)[0].startswith("Completion, mean: 10.5 µs (size 2KB, verb read) to none")
    assert "times" not in found.sentences[0]


@pytest.mark.parametrize(("points", "is_long"), [(ROWS_OPEN_MAX, False), (ROWS_OPEN_MAX + 1, True)])
def test_many_points_are_folded(tmp_path: Path, points: int, is_long: bool) -> None:
    found = spread(pings(tmp_path, {f"{n}KB": [n * 10] for n in range(1, points + 1)}))
    assert found is not None
    assert found.is_long == is_long
    assert f"size 1KB, 2KB … {points}KB ({points} values)" in found.opening


def test_sample_sweep_of_one_transport(tmp_path: Path) -> None:
    sample = Sample(transports=("rogue",), senders=(2, 4), repetitions=2, seconds=1.0)
    found = spread(Results(Run(write_sample_run(tmp_path / "run", sample))))
    assert found is not None
    assert found.opening == "RoGUE at 2 points: senders 2 and 4."
    assert len(found.rows) == 2
    assert all(len(row) == 1 + len(found.head) for row in found.rows)
