"""Tests: figures that compare transports, factors and published numbers."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.sample_kinds import write_cells, write_random_run
from helpers.small_runs import cell, transfer
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer

from rogue.reports.drawing.marks import figure_look
from rogue.reports.figures import FIGURES
from rogue.reports.figures.bars import Bars
from rogue.reports.figures.captions import SHOWN_BY_NAME, caption_of, figures_showing, latex_text
from rogue.reports.figures.factor_sweep import FactorSweep, series_of, swept_factor
from rogue.reports.figures.published_beside import MULTIPLE_MAX, ROWS_MAX, PublishedBeside
from rogue.reports.figures.two_factors import TwoFactors
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.reports.results.results import PublishedNumber


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


@pytest.fixture
def crossed_of_two_factors(tmp_path: Path) -> Results:
    """Two transports; 8 senders that write were not measured, and RoCE's 8 that read never came back."""
    cells = [
        (
            cell(
                f"{transport}-{n}-{verb}-r1",
                transport=transport,
                factors={"workload.senders": n, "workload.verb": verb},
            ),
            {
                "flows": [
                    transfer("main/h0->h1", fct_ns=1000 * n)
                    if (transport, n) != ("roce", 8)
                    else transfer("main/h0->h1", end_ns=None, fct_ns=None, status="unfinished")
                ]
            },
        )
        for transport in ("rogue", "roce")
        for n in (4, 2, 8)
        for verb in ("read", "write")
        if (n, verb) != (8, "write")
    ]
    return Results(Run(write_cells(tmp_path, cells, {"kind": "ping"})))


def test_a_panel_per_transport_and_a_field_per_point(crossed_of_two_factors: Results) -> None:
    with figure_look():
        axes = TwoFactors().draw(crossed_of_two_factors).axes
    assert [axis.get_title(loc="left") for axis in axes] == [
        "RoGUE: Completion, mean",
        "Native RoCE: Completion, mean",
    ]
    rogue, roce = axes
    assert [text.get_text() for text in rogue.get_xticklabels()] == ["2", "4", "8"]
    assert [text.get_text() for text in rogue.get_yticklabels()] == ["read", "write"]
    fields = [text.get_text().replace("\u202f", " ") for text in rogue.texts]
    assert fields == ["2 µs", "4 µs", "8 µs", "2 µs", "4 µs"]
    assert [text.get_text() for text in roce.texts if text.get_text() == "none"] == ["none"]
    assert [patch.get_xy() for patch in roce.patches] == [(2, 0)], "8 senders that read"


def test_panels_of_a_measure_share_their_shades(crossed_of_two_factors: Results) -> None:
    with figure_look():
        axes = TwoFactors().draw(crossed_of_two_factors).axes
    meshes = [mesh for axis in axes for mesh in axis.collections if isinstance(mesh, QuadMesh)]
    assert [mesh.norm.vmax for mesh in meshes] == [8000, 8000]
    assert np.ma.getmaskarray(meshes[1].get_array()).ravel()[2], "what never came back is no number"


def test_words_say_every_field(crossed_of_two_factors: Results) -> None:
    text = TwoFactors().describe(crossed_of_two_factors).replace("\u202f", " ")
    assert "RoGUE, senders 4, verb read 4 µs" in text
    assert "Native RoCE, senders 8, verb read none (100.0 % not completed)" in text


def test_one_factor_is_a_line_and_no_field(pings: Results) -> None:
    assert TwoFactors().skipped_because(pings) == TwoFactors().missing


def number(results: Results, value: float, measured: float, **changes: object) -> PublishedNumber:
    """Return a claim's number of the run's first setting, and a measurement of it."""
    mean = MeanInterval(measured, measured, measured, 3)
    made = PublishedNumber("X-1", results.measured_settings[0], "jain", value, 0.02, mean)
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.fixture
def held(results: Results, monkeypatch: pytest.MonkeyPatch) -> Results:
    """The sample run, for numbers of a test's own."""
    monkeypatch.setattr(results, "published", ())
    return results


def marks(results: Results) -> list[float]:
    with figure_look():
        (axis,) = PublishedBeside().draw(results).axes
    return [float(line.get_xdata()[0]) for line in axis.get_lines() if len(line.get_xdata()) == 1]


def test_each_mark_is_a_multiple_and_the_band_is_the_tolerance(published: Results) -> None:
    means = [results_mean(published, name) for name in ("rogue", "roce")]
    assert marks(published) == pytest.approx([means[0] / 0.9, means[1] / 0.5])
    with figure_look():
        (axis,) = PublishedBeside().draw(published).axes
    bands = [(bar.get_x(), bar.get_width()) for bar in axis.patches]
    assert bands == [pytest.approx((1 - 0.02 / 0.9, 0.04 / 0.9)), pytest.approx((0.96, 0.08))]


def results_mean(results: Results, transport: str) -> float:
    setting = next(each for each in results.measured_settings if each.transport == transport)
    mean = results.mean(setting, "jain")
    assert mean is not None
    return mean.mean


def test_what_is_far_away_stands_at_the_edge(held: Results) -> None:
    held.published = [number(held, 1.0, 5_000.0), number(held, 1.0, 0.0)]
    assert marks(held) == [MULTIPLE_MAX, 1 / MULTIPLE_MAX]


def test_zero_and_what_never_came_have_no_row(held: Results) -> None:
    held.published = [number(held, 0.0, 1.0), number(held, 1.0, float("inf"))]
    assert PublishedBeside().skipped_because(held) is not None


def test_more_rows_than_anybody_reads_are_counted(held: Results) -> None:
    held.published = [number(held, 1.0, 1.1)] * (ROWS_MAX + 2)
    assert len(marks(held)) == ROWS_MAX
    assert PublishedBeside().omission(held) == " Not drawn: 2 more numbers."


def test_a_sweep_has_the_number_at_its_point(sweep: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty diamond at four senders in the transport's colour, in a panel of its own measure."""
    setting = next(each for each in sweep.measured_settings if dict(each.factors)["workload.senders"] == "4")
    metric = "queue_max_bytes"
    made = [number(sweep, 7_000.0, 1.0, setting=setting, metric=metric)]
    monkeypatch.setattr(sweep, "published", made)
    with figure_look():
        axes = FactorSweep().draw(sweep).axes
    diamonds = [
        (line.get_xdata()[0], line.get_ydata()[0], to_hex(line.get_markeredgecolor()))
        for axis in axes
        for line in axis.get_lines()
        if line.get_marker() == "D" and line.get_markerfacecolor() == "none"
    ]
    assert diamonds == [(4.0, 7_000.0, setting.style.colour)]


def test_says_what_it_shows_conditions_runs_and_origin(results: Results) -> None:
    figure = FIGURES["throughput"]()
    caption = caption_of(figure, results)
    manifest = results.run.manifest
    for words in (figure.title, figure.caption, manifest.title, manifest.run_id, "testbed simulator"):
        assert words in caption.plain
    assert "n = 2 to 3; seeds 1 to 3." in caption.plain, "a repetition failed"
    assert f"Commit {(manifest.git.commit or '')[:12]}" in caption.plain
    assert "\n" not in caption.plain
    assert caption.latex == f"\\caption{{{latex_text(caption.plain)}}}"


def test_seeds_far_apart_are_not_counted_through(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(next(iter(results.views.values())).entry, "seed", -(2**62))
    assert "seeds -4611686018427387904" in caption_of(FIGURES["throughput"](), results).plain


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("100 % of a_b & c#1", r"100 \% of a\_b \& c\#1"),
        ("\\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        ("$x^2$ ~", r"\$x\textasciicircum{}2\$ \textasciitilde{}"),
        ("5\u202fµs ≤ 3 ×", r"5\,\ensuremath{\mu}s \ensuremath{\le} 3 \ensuremath{\times}"),
        ("“agent’s”", r"\textquotedblleft{}agent\textquoteright{}s\textquotedblright{}"),
        ("Müller, Åsa, Łukasz, 北", "M\\\"{u}ller, \\r{A}sa, ?ukasz, ?"),
        ("a\tb\x07", "a b "),
        ("½", "1/2"),
    ],
)  # fmt: skip
def test_latex_prints_what_stands_there(text: str, latex: str) -> None:
    assert latex_text(text) == latex
    assert latex.isascii()


def test_figures_are_those_of_the_registry_and_metrics_exist() -> None:
    assert set(SHOWN_BY_NAME) <= set(FIGURES)
    for begins in SHOWN_BY_NAME.values():
        for begin in begins:
            assert any(name.startswith(begin) for name in METRICS), begin


@pytest.mark.parametrize(
    ("metric", "first"),
    [("probe_p50_ns", "probe_latency"), ("jain", "flow_shares"), ("aggregate_bps", "throughput")],
)
def test_best_figure_first(results: Results, metric: str, first: str) -> None:
    found = [name for name in figures_showing(metric, results) if name not in {"bars", "factor_sweep"}]
    assert found[0] == first


def test_a_sweep_shows_its_headlines(sweep: Results) -> None:
    assert figures_showing("aggregate_share", sweep)[0] == "factor_sweep"
    assert figures_showing("drops_packets", sweep) == []
