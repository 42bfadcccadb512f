"""Tests: figures of queues and links."""

from collections.abc import Mapping
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.sample_kinds import DUMBBELL, GIGABYTE, Rows, sent, write_cells, write_linked_run
from helpers.small_runs import cell, transfer

from rogue.reports.cells.transfers import natural
from rogue.reports.drawing.marks import figure_look
from rogue.reports.drawing.panels import page_width
from rogue.reports.figures import link_use
from rogue.reports.figures.link_use import LINKS_MAX, LinkUse, uses
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


def results_of_of_link_use(
    directory: Path, counters: Mapping[str, Rows], topology: object = DUMBBELL, **factors: object
) -> Results:
    return Results(Run(write_linked_run(directory, counters, topology, **factors)))


def test_a_link_has_a_row_and_a_transport_a_column(tmp_path: Path) -> None:
    results = results_of_of_link_use(
        tmp_path,
        {
            "rogue": sent(s0_s1=GIGABYTE, s1_s0=GIGABYTE // 10, h0_s0=GIGABYTE),
            "roce": sent(s0_s1=GIGABYTE // 2, s1_s0=0),
        },
    )
    with figure_look():
        (axis,) = LinkUse().draw(results).axes
    assert [label.get_text() for label in axis.get_yticklabels()] == ["s0->s1", "s1->s0"]
    assert [label.get_text() for label in axis.get_xticklabels()] == ["RoGUE", "Native RoCE"]
    (mesh,) = axis.collections
    assert np.asarray(mesh.get_array()).reshape(2, 2) == pytest.approx(np.array([[80.0, 40.0], [8.0, 0.0]]))
    words = LinkUse().describe(results).replace("\u202f", " ")
    assert "most used s0->s1 80.0 %, least used of these s1->s0 8.0 %" in words


def test_a_setting_without_any_of_the_busiest_links_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counters = {"rogue": sent(s0_s1=GIGABYTE, s1_s0=GIGABYTE // 10), "roce": sent(s0_s1=0, s1_s0=0)}
    monkeypatch.setattr(LinkUse, "_links", lambda *_: ["s8->s9"])
    words = LinkUse().describe(results_of_of_link_use(tmp_path, counters))
    assert words.count("none of these links.") == 2


def test_a_factor_changes_the_rate(tmp_path: Path) -> None:
    counted = {"rogue": sent(s0_s1=GIGABYTE, s1_s0=0)}
    results = results_of_of_link_use(tmp_path, counted, **{"topology.bottleneck_rate": "20Gbps"})
    (view,) = results.views.values()
    assert uses(view) == {"s0->s1": pytest.approx(0.4), "s1->s0": 0.0}


@pytest.mark.parametrize(
    "topology",
    [
        {"kind": "star", "hosts": 3, "rate": "10Gbps"},
        {"kind": "links", "file": "net.yaml"},
        {"kind": "rack_of_mine"},
        {"kind": []},
        None,
    ],
    ids=["one switch", "from a file", "of a plug-in", "wrong", "none"],
)
def test_a_network_without_known_links_between_switches_has_no_map(tmp_path: Path, topology: object) -> None:
    results = results_of_of_link_use(tmp_path, {"rogue": sent(s0_s1=GIGABYTE, s1_s0=0)}, topology)
    assert LinkUse().skipped_because(results) == LinkUse().missing


def test_the_busiest_links_are_shown_in_the_order_of_their_names(tmp_path: Path) -> None:
    ring = {"kind": "ring", "switch_count": 20, "hosts_per_switch": 1, "rate": "10Gbps"}
    ports = {f"s{number}_s{(number + 1) % 20}": 1000 * (20 - number) for number in range(20)}
    back = {f"s{(number + 1) % 20}_s{number}": 0 for number in range(20)}
    results = results_of_of_link_use(tmp_path, {"rogue": sent(**ports, **back)}, ring)
    with figure_look():
        (axis,) = LinkUse().draw(results).axes
    names = [label.get_text() for label in axis.get_yticklabels()]
    assert len(names) == LINKS_MAX
    assert names == sorted(names, key=natural)
    assert {f"s{number}->s{(number + 1) % 20}" for number in range(20)} <= set(names)


SHORT = ("rogue", "roce", "irn")
LONG = ("rogue", "roce", "roce+dcqcn", "roce+dcqcn+pfc", "irn+spray", "uet+rccc")


@pytest.mark.parametrize(
    ("transports", "width_inches", "is_upright"),
    [(SHORT, 3.3, False), (LONG, 3.3, True), (LONG, 7.0, True), (SHORT, 9.6, False)],
)
@pytest.mark.parametrize("points", [[""], ["rate 10Gbps", "rate 20Gbps", "rate 40Gbps", "rate 50Gbps"]])
def test_names_of_links_and_transports_fit(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    transports: tuple[str, ...],
    width_inches: float,
    is_upright: bool,
    points: list[str],
) -> None:
    """Beside each other, inside the figure, and on no other panel."""
    monkeypatch.setattr(link_use, "settings_by_point", lambda settings: dict.fromkeys(points, settings))
    ring = {"kind": "ring", "switch_count": 20, "hosts_per_switch": 1, "rate": "10Gbps"}
    ports = sent(s10_s11=GIGABYTE, s11_s12=GIGABYTE, s12_s11=0, s9_s10=0)
    results = results_of_of_link_use(tmp_path, dict.fromkeys(transports, ports), ring)
    with figure_look(), page_width(width_inches):
        figure = LinkUse().draw(results)
        figure.draw_without_rendering()
        boxes = []
        for axis in figure.axes:
            names = [label for label in axis.get_xticklabels() if label.get_text()]
            assert {label.get_rotation() for label in names} == {90.0 if is_upright else 0.0}
            assert len({label.get_text() for label in names}) == len(transports)
            extents = [label.get_window_extent() for label in names]
            assert not any(left.overlaps(right) for left, right in pairwise(extents))
            boxes.append(axis.get_tightbbox())
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
        drawn = figure.get_tightbbox()
    assert len(boxes) == len(points)
    assert drawn.x0 >= 0 and drawn.x1 <= width_inches
    assert drawn.y0 >= 0 and drawn.y1 <= figure.get_figheight()
