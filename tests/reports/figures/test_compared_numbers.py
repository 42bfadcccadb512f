"""The numbers of figures of networks and of measures, worked out again from the rows of the tables."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.figure_rows import data, run_of, words
from helpers.sample_kinds import DUMBBELL, GIGABYTE, sent, write_cells, write_linked_run
from helpers.small_runs import cell, transfer

from rogue.reports.cells.bottleneck import uses
from rogue.reports.drawing.panels import figure_look
from rogue.reports.figures import FIGURES
from rogue.reports.figures.measures import series_of
from rogue.reports.figures.network import BINS, LINKS_MAX
from rogue.reports.figures.published_beside import MULTIPLE_MAX, ROWS_MAX
from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.reading.load import Run
from rogue.reports.results import PublishedNumber, Results


def sample(port: str, t_ns: int, longest: int) -> dict[str, object]:
    row = {"node": "s0", "port": port, "priority": 0, "t_ns": t_ns, "bytes": longest // 2}
    return {**row, "max_bytes": longest, "drops": 0, "marks": 0}


def test_queue_map_has_the_longest_queues(tmp_path: Path) -> None:
    queues = [sample("small", t_ns, 1000 if t_ns <= BINS else 0) for t_ns in range(1, 2 * BINS)]
    queues += [sample("large", t_ns, 9000 if t_ns == BINS else 0) for t_ns in range(1, 2 * BINS)]
    queues += [sample("large", BINS, 500_000), sample("empty", 1, 0)]
    results = run_of(tmp_path, {"flows": [transfer("main/h0->h1")], "queues": queues})
    rows = data("queue_map", results)
    assert rows["port"].unique().tolist() == ["large", "small"]
    assert rows["time_s"].max() == pytest.approx(BINS / 1e9)
    assert rows[rows["port"] == "large"]["value"].tolist() == [0.0] * (BINS - 1) + [500_000.0]
    assert set(rows[rows["port"] == "small"]["value"]) == {1000.0}
    with figure_look():
        axis, _scale = FIGURES["queue_map"]().draw(results).axes
    (large, small) = (each.get_facecolors()[0] for each in axis.collections)
    assert sum(large[:3]) < sum(small[:3]), "more is darker"
    assert "large is the bottleneck" in FIGURES["queue_map"]().omission(results)
    assert "longest queues large 500 KB, small 1 KB" in words("queue_map", results)


def test_maps_have_the_same_ports_and_stay_within_a_page(tmp_path: Path) -> None:
    cells = [
        (
            cell(f"{name}-{n}-r1", transport=name, factors={"workload.senders": n}),
            {"flows": [transfer("main/h0->h1")], "queues": [sample(f"p{k}", 1, 1000 + k) for k in range(20)]},
        )
        for n in range(1, 5)
        for name in ("rogue", "roce", "irn")
    ]
    results = Results(Run(write_cells(tmp_path, cells, {"kind": "incast"})))
    with figure_look():
        figure = FIGURES["queue_map"]().draw(results)
    assert {len(axis.get_yticklabels()) for axis in figure.axes[:-1]} == {8}
    assert figure.get_figheight() < 12


def test_a_link_has_its_use_in_percent(tmp_path: Path) -> None:
    busy, idle = (
        sent(s0_s1=GIGABYTE, s1_s0=GIGABYTE // 10, h0_s0=GIGABYTE),
        sent(s0_s1=GIGABYTE // 2, s1_s0=0),
    )
    results = Results(Run(write_linked_run(tmp_path, {"rogue": busy, "roce": idle}, DUMBBELL)))
    rows = data("link_use", results).set_index(["series", "link"])["use_percent"]
    assert rows.tolist() == pytest.approx([80.0, 8.0, 40.0, 0.0])
    assert "most used s0->s1 80.0 %, least used of these s1->s0 8.0 %" in words("link_use", results)
    factor = {"topology.bottleneck_rate": "20Gbps"}
    faster = Results(Run(write_linked_run(tmp_path / "faster", {"rogue": busy}, DUMBBELL, **factor)))
    assert uses(next(iter(faster.views.values())))["s0->s1"] == pytest.approx(0.4)


@pytest.mark.parametrize(
    "topology",
    [
        {"kind": "star", "hosts": 3, "rate": "10Gbps"},
        {"kind": "links", "file": "net.yaml"},
        {"kind": []},
        None,
    ],
    ids=["one switch", "from a file", "wrong", "none"],
)
def test_a_network_without_known_links_between_switches_has_no_map(tmp_path: Path, topology: object) -> None:
    results = Results(Run(write_linked_run(tmp_path, {"rogue": sent(s0_s1=GIGABYTE, s1_s0=0)}, topology)))
    assert FIGURES["link_use"]().skipped_because(results) is not None


@pytest.mark.parametrize(
    "transports", [("rogue", "roce"), ("rogue", "roce+dcqcn+pfc", "irn+spray", "uet+rccc")]
)
def test_the_busiest_links_are_shown_and_names_do_not_touch(
    tmp_path: Path, transports: tuple[str, ...]
) -> None:
    ring = {"kind": "ring", "switch_count": 20, "hosts_per_switch": 1, "rate": "10Gbps"}
    ports = {f"s{n}_s{(n + 1) % 20}": 1000 * (20 - n) for n in range(20)}
    ports |= {f"s{(n + 1) % 20}_s{n}": 0 for n in range(20)}
    counters = dict.fromkeys(transports, sent(**ports))
    results = Results(Run(write_linked_run(tmp_path, counters, ring)))
    assert data("link_use", results)["link"].nunique() == LINKS_MAX
    with figure_look():
        figure = FIGURES["link_use"]().draw(results)
        figure.draw_without_rendering()
        boxes = [label.get_window_extent() for label in figure.axes[0].get_xticklabels()]
    assert not any(one.overlaps(other) for one, other in itertools.pairwise(boxes))


# Measures.


def test_bars_are_means_with_their_repetitions(random_transfers: Results, tmp_path: Path) -> None:
    rows = data("bars", random_transfers, mark="mean")
    assert rows["panel"].unique().tolist() == ["Slowdown, mean", "Completion, mean", "Completion p99"]
    assert rows[rows["panel"] == "Slowdown, mean"]["mean"].tolist() == [1.5, 2.5, 3.5]
    assert words("bars", random_transfers).count("RoGUE ") == 3
    runs = [("rogue", 1_000), ("rogue", 3_000), ("rogue", 5_000), ("irn", 2_000)]
    cells = [
        (
            cell(f"{name}-r{n}", transport=name, repetition=n),
            {"flows": [transfer("main/h0->h1", fct_ns=fct_ns, slowdown=1.0)]},
        )
        for n, (name, fct_ns) in enumerate(runs, start=1)
    ]
    repeated = data(
        "bars", Results(Run(write_cells(tmp_path, cells, {"kind": "poisson"}))), mark="repetition"
    )
    assert repeated[repeated["panel"] == "Completion, mean"]["mean"].tolist() == [1_000, 3_000, 5_000]


def test_points_of_a_sweep_are_means_on_readable_axes(pings: Results) -> None:
    rows = data("factor_sweep", pings, panel="Completion, mean").groupby("series")["mean"]
    assert rows.get_group("Native RoCE without PFC").tolist() == pytest.approx([4_000, 62_000, 944_000])
    assert rows.get_group("RoGUE").tolist() == pytest.approx([4_400, 68_200, 1_038_400])
    with figure_look():
        (axis,) = FIGURES["factor_sweep"]().draw(pings).axes
    assert (axis.get_xscale(), axis.get_yscale()) == ("log", "log")
    assert [text.get_text() for text in axis.get_xticklabels()] == ["64B", "65536B", "1048576B"]
    assert axis.yaxis.get_major_formatter()(10_000).replace("\u202f", " ") == "10 µs"


@pytest.fixture
def crossed(tmp_path: Path) -> Results:
    """Two transports; 8 senders that write were not measured, and RoCE's 8 that read never came back."""
    lost = {"end_ns": None, "fct_ns": None, "status": "unfinished"}
    cells = [
        (
            cell(
                f"{name}-{n}-{verb}-r1",
                transport=name,
                factors={"workload.senders": n, "workload.verb": verb},
            ),
            {
                "flows": [
                    transfer("main/h0->h1", **(lost if (name, n) == ("roce", 8) else {"fct_ns": 1000 * n}))
                ]
            },
        )
        for name in ("rogue", "roce")
        for n in (4, 2, 8)
        for verb in ("read", "write")
        if (n, verb) != (8, "write")
    ]
    return Results(Run(write_cells(tmp_path, cells, {"kind": "ping"})))


def test_two_factors_are_lines_and_fields(crossed: Results) -> None:
    lines = series_of(crossed.settings, "workload.senders")
    assert [line.look.name for line in lines][:2] == ["RoGUE, verb read", "RoGUE, verb write"]
    assert [line.look.line for line in lines][:2] == ["-", "--"]
    drawn = data("factor_sweep", crossed, panel="Completion, mean").groupby("series")["mean"]
    assert drawn.get_group("RoGUE, verb read").tolist() == [2_000, 4_000, 8_000]
    assert drawn.get_group("Native RoCE without PFC, verb read").tolist() == [2_000, 4_000]
    with figure_look():
        rogue, roce, *_scales = FIGURES["two_factors"]().draw(crossed).axes
    assert [text.get_text() for text in rogue.get_xticklabels()] == ["2", "4", "8"]
    assert [text.get_text() for text in rogue.get_yticklabels()] == ["read", "write"]
    fields = [text.get_text().replace("\u202f", " ") for text in rogue.texts]
    assert fields == ["2 µs", "4 µs", "8 µs", "2 µs", "4 µs"]
    assert [patch.get_xy() for patch in roce.patches] == [(2, 0)], "8 senders that read never came back"
    assert "Native RoCE without PFC, senders 8, verb read none (1 of 1 unfinished)" in words(
        "two_factors", crossed
    )


def test_scattered_points_of_a_search_have_no_lines(tmp_path: Path) -> None:
    """Every point has its values of both factors, so no line has two points."""
    cells = [
        (
            cell(
                f"rogue-{n}-r1", transport="rogue", factors={"workload.senders": n, "workload.size": f"{n}KB"}
            ),
            {"flows": [transfer("main/h0->h1", fct_ns=1000 * n)]},
        )
        for n in range(2, 40)
    ]
    scattered = Results(Run(write_cells(tmp_path, cells, {"kind": "ping"})))
    assert FIGURES["factor_sweep"]().settings(scattered) == []


def number(results: Results, value: float, measured: float, **changes: object) -> PublishedNumber:
    """Return a claim's number of the run's first setting, and a measurement of it."""
    mean = MeanInterval(measured, measured, measured, 3)
    made = PublishedNumber("X-1", results.measured_settings[0], "jain", value, 0.02, mean)
    return replace(made, **changes)  # type: ignore[arg-type]


def test_published_numbers_are_multiples_within_a_tolerance(published: Results) -> None:
    marks = data("published_beside", published, mark="measured")
    means = [published.mean(each.setting, each.metric) for each in published.published]
    expected = [mean.mean / each.value for mean, each in zip(means, published.published, strict=True) if mean]
    assert marks["multiple"].tolist() == pytest.approx(expected)
    tolerances = data("published_beside", published, mark="tolerance")[["low", "high"]].to_numpy()
    assert tolerances == pytest.approx(np.array([[1 - 0.02 / 0.9, 1 + 0.02 / 0.9], [0.96, 1.04]]))


def test_far_numbers_are_at_the_edge_and_many_are_counted(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "published", [number(results, 1.0, 5_000.0), number(results, 1.0, 0.0)])
    multiples = data("published_beside", results, mark="measured")["multiple"]
    assert multiples.tolist() == [MULTIPLE_MAX, 1 / MULTIPLE_MAX]
    monkeypatch.setattr(results, "published", [number(results, 1.0, 1.1)] * (ROWS_MAX + 2))
    assert len(data("published_beside", results, mark="measured")) == ROWS_MAX
    assert FIGURES["published_beside"]().omission(results) == " Not drawn: 2 more numbers."
    none = [number(results, 0.0, 1.0), number(results, 1.0, float("inf"))]
    monkeypatch.setattr(results, "published", none)
    assert FIGURES["published_beside"]().skipped_because(results) is not None


def test_a_sweep_has_the_published_number_at_its_point(
    sweep: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = next(each for each in sweep.measured_settings if dict(each.factors)["workload.senders"] == "4")
    made = [number(sweep, 7_000.0, 1.0, setting=setting, metric="queue_max_bytes")]
    monkeypatch.setattr(sweep, "published", made)
    rows = data("factor_sweep", sweep, mark="published")
    assert rows[["place", "mean", "series"]].to_numpy().tolist() == [[4.0, 7_000.0, setting.style.name]]
