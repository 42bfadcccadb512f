"""A row per port, a column per short time."""

from pathlib import Path

import pandas as pd
import pytest
from helpers.sample_kinds import write_cells
from helpers.tiny_run import cell, transfer

from rogue.reports.drawing.marks import figure_look
from rogue.reports.figures.queue_map import BINS, QueueMap
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


def sample(port: str, t_ns: int, longest: int) -> dict[str, object]:
    of_port = {"node": "s0", "port": port, "priority": 0, "t_ns": t_ns, "bytes": longest // 2}
    return {**of_port, "max_bytes": longest, "drops": 0, "marks": 0}


def results_of(directory: Path, queues: list[dict[str, object]]) -> Results:
    tables = {"flows": [transfer("main/h0->h1")], "queues": queues}
    return Results(Run(write_cells(directory, [(cell("rogue-r1"), tables)], {"kind": "incast"})))


def test_ports_by_what_they_held_and_time_until_nothing_waits(tmp_path: Path) -> None:
    queues = [sample("small", t_ns, 1000 if t_ns <= BINS else 0) for t_ns in range(1, 2 * BINS)]
    queues += [sample("large", t_ns, 9000 if t_ns == BINS else 0) for t_ns in range(1, 2 * BINS)]
    queues += [sample("large", BINS, 500_000), sample("empty", 1, 0)]
    with figure_look():
        figure = QueueMap().draw(results_of(tmp_path, queues))
    (axis,) = figure.axes
    assert [label.get_text() for label in axis.get_yticklabels()] == ["large", "small"]
    bars = [
        (round(box.y0), round(box.x0), round(box.x1), shade)
        for each in axis.collections
        for path, shade in zip(each.get_paths(), map(tuple, each.get_facecolors()), strict=True)
        for box in [path.get_extents()]
    ]
    (large,) = [bar for bar in bars if bar[0] == 0]
    (small,) = [bar for bar in bars if bar[0] == 1]
    assert large[1:3] == (BINS - 1, BINS), "it waits once, at the end"
    assert small[1:3] == (0, BINS), "it waits all the time"
    assert sum(large[3][:3]) < sum(small[3][:3]), "more is darker"


def test_its_caption_names_the_bottleneck(tmp_path: Path) -> None:
    results = results_of(tmp_path, [sample("a->b", 1, 4000), sample("b->c", 1, 2000)])
    caption = QueueMap().omission(results)
    assert "The darkest is 4\u202fKB." in caption
    assert "a->b is the bottleneck (66 % of what waits at switches, 4\u202fKB at most)" in caption


def test_what_was_drawn_is_not_worked_out_again_for_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = results_of(tmp_path, [sample("a->b", 1, 4000), sample("b->c", 1, 2000)])
    with figure_look():
        QueueMap().draw(results)
    monkeypatch.delattr(pd.DataFrame, "groupby")
    assert "longest queues a->b 4\u202fKB, b->c 2\u202fKB" in QueueMap().describe(results)


def test_one_queue_needs_no_map(tmp_path: Path) -> None:
    results = results_of(tmp_path, [sample("a->b", 1, 4000), sample("b->c", 1, 0)])
    assert QueueMap().skipped_because(results) is not None


def test_all_panels_have_the_same_ports_in_one_order(tmp_path: Path) -> None:
    """One transport fills a, the other b; b holds most of all. Of five panels each has fewer rows."""
    held = {"rogue": {"a": 900, "b": 10}, "roce": {"a": 20, "b": 5000}}
    cells = [
        (
            cell(f"{name}-r1", transport=name),
            {
                "flows": [transfer("main/h0->h1")],
                "queues": [sample(port, 1, size) for port, size in ports.items()],
            },
        )
        for name, ports in held.items()
    ]
    results = Results(Run(write_cells(tmp_path, cells, {"kind": "incast"})))
    with figure_look():
        axes = QueueMap().draw(results).axes
    assert [[label.get_text() for label in axis.get_yticklabels()] for axis in axes] == [["b", "a"]] * 2


def test_many_panels_stay_within_a_page(tmp_path: Path) -> None:
    queues = [sample(f"p{number}", 1, 1000 + number) for number in range(20)]
    cells = [
        (
            cell(f"{name}-{n}-r1", transport=name, factors={"workload.senders": n}),
            {"flows": [transfer("main/h0->h1")], "queues": queues},
        )
        for n in range(1, 5)
        for name in ("rogue", "roce", "irn")
    ]
    results = Results(Run(write_cells(tmp_path, cells, {"kind": "incast"})))
    with figure_look():
        figure = QueueMap().draw(results)
    assert {len(axis.get_yticklabels()) for axis in figure.axes} == {8}
    assert figure.get_figheight() < 12
