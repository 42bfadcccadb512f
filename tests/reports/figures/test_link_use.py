"""How busy links between switches were."""

from collections.abc import Mapping
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from helpers.sample_kinds import DUMBBELL, GIGABYTE, Rows, sent, write_linked_run

from rogue.reports.cells.transfers import natural
from rogue.reports.drawing.marks import figure_look
from rogue.reports.drawing.panels import page_width
from rogue.reports.figures import link_use
from rogue.reports.figures.link_use import LINKS_MAX, LinkUse, uses
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


def results_of(
    directory: Path, counters: Mapping[str, Rows], topology: object = DUMBBELL, **factors: object
) -> Results:
    return Results(Run(write_linked_run(directory, counters, topology, **factors)))


def test_a_link_has_a_row_and_a_transport_a_column(tmp_path: Path) -> None:
    results = results_of(
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
    words = LinkUse().describe(results_of(tmp_path, counters))
    assert words.count("none of these links.") == 2


def test_a_factor_changes_the_rate(tmp_path: Path) -> None:
    counted = {"rogue": sent(s0_s1=GIGABYTE, s1_s0=0)}
    results = results_of(tmp_path, counted, **{"topology.bottleneck_rate": "20Gbps"})
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
    results = results_of(tmp_path, {"rogue": sent(s0_s1=GIGABYTE, s1_s0=0)}, topology)
    assert LinkUse().skipped_because(results) == LinkUse().missing


def test_the_busiest_links_are_shown_in_the_order_of_their_names(tmp_path: Path) -> None:
    ring = {"kind": "ring", "switch_count": 20, "hosts_per_switch": 1, "rate": "10Gbps"}
    ports = {f"s{number}_s{(number + 1) % 20}": 1000 * (20 - number) for number in range(20)}
    back = {f"s{(number + 1) % 20}_s{number}": 0 for number in range(20)}
    results = results_of(tmp_path, {"rogue": sent(**ports, **back)}, ring)
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
    results = results_of(tmp_path, dict.fromkeys(transports, ports), ring)
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
