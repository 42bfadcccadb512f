"""The port that holds a cell's flows up."""

from pathlib import Path

from helpers.sample_kinds import write_cells
from helpers.tiny_run import cell, transfer

from rogue.reports.cells.bottleneck import bottleneck_of, bottleneck_sentence
from rogue.reports.cells.view import CellView
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


def queue(port: str, t_ns: int, waiting: int, **more: int) -> dict[str, object]:
    sample = {"node": "s0", "port": port, "priority": 0, "t_ns": t_ns, "bytes": waiting, "max_bytes": waiting}
    return {**sample, "drops": 0, "marks": 0, **more}


def view_of(directory: Path, queues: list[dict[str, object]], pauses: list[dict[str, object]]) -> CellView:
    tables = {"flows": [transfer("main/h0->h1")], "queues": queues, "pauses": pauses}
    run = write_cells(
        directory, [(cell("c-r1"), {name: rows for name, rows in tables.items() if rows})], {"kind": "incast"}
    )
    return Results(Run(run)).views["c-r1"]


def test_it_is_where_most_waits(tmp_path: Path) -> None:
    queues = [
        queue("a->b", 1, 3000),
        queue("a->b", 2, 3000, drops=2),
        queue("b->c", 1, 0),
        queue("b->c", 2, 2000),
    ]
    found = bottleneck_of(view_of(tmp_path, queues, []))
    assert found is not None
    assert (found.port, found.share, found.longest_bytes, found.dropped) == ("a->b", 0.75, 3000, 2)


def test_the_sentence_says_what_speaks_for_it(tmp_path: Path) -> None:
    pause = {"node": "a", "port": "a->b", "priority": 0, "start_ns": 0, "duration_ns": 1_500_000}
    other = {**pause, "port": "b->c"}
    view = view_of(tmp_path, [queue("a->b", 1, 3000, marks=4)], [pause, other])
    assert bottleneck_sentence(view) == (
        "most waits at a->b (100 % of what waits at switches, 3\u202fKB at most, 4 marked,"
        " itself paused for 1.5 ms): what pauses it is the bottleneck"
    )


def test_where_nothing_waits_there_is_none(tmp_path: Path) -> None:
    view = view_of(tmp_path, [queue("a->b", 1, 0)], [])
    assert bottleneck_of(view) is None
    assert "own links are the limit" in bottleneck_sentence(view)
