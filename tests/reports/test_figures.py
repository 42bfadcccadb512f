"""Contract of the figure registry: every figure draws itself, explains itself, and knows when it cannot."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers.sample_kinds import GIGABYTE, sent, sized_rows, write_cells, write_linked_run
from helpers.sample_run import Sample, write_manifest, write_sample_run
from helpers.small_runs import SECOND, cell, delivery, manifest, tiny_view, transfer
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from rogue.reports.drawing.marks import POINTS_MAX, draw_cdf, figure_look, ratio_axis, size_axis, time_axis
from rogue.reports.drawing.panels import compared_panels, legend_above, page_width, panels, plain
from rogue.reports.drawing.svg import to_svg
from rogue.reports.figures import FIGURES
from rogue.reports.figures.throughput import FLOWS_MAX, ThroughputOverTime, drawn_width_ns
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.workloads.records import TABLES


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Results:
    directory = tmp_path_factory.mktemp("empty")
    write_manifest(directory, manifest([cell()]))
    return Results(Run(directory))


# Figures that the incast of the sample has no data for, and the run that has.
OTHER_RUN = {
    "published_beside": "published",
    "factor_sweep": "sweep",
    "two_factors": "recrossed",
    "bars": "random_transfers",
    "flow_spread": "crowd",
    "recovery": "recovering",
    "critical_path": "waiting",
    "completion_times": "pairs",
    "group_slowdowns": "traced",
    "size_slowdowns": "sized",
    "link_use": "linked",
    "cpu_load": "loaded",
}


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """More flows than can be named, at two factor points."""
    sample = Sample(senders=(17, 18), repetitions=2, seconds=1.0)
    return Results(Run(write_sample_run(tmp_path_factory.mktemp("crowd"), sample)))


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A trace with two groups, over two transports."""
    flows = [
        transfer(
            f"main.{group}/h{number}->h9", group=f"main.{group}", fct_ns=1000 * number, slowdown=float(number)
        )
        for group in ("web", "db")
        for number in (1, 2, 5)
    ]
    cells = [(cell(f"{name}-r1", transport=name), {"flows": flows}) for name in ("rogue", "roce")]
    return Results(Run(write_cells(tmp_path_factory.mktemp("traced"), cells, {"kind": "trace"})))


@pytest.fixture(scope="module")
def sized(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Transfers of three sizes, over two transports."""
    rows = {"flows": sized_rows({1_000: 4.0, 20_000: 2.0, 400_000: 1.5})}
    cells = [(cell(f"{name}-r1", transport=name), rows) for name in ("rogue", "roce")]
    return Results(Run(write_cells(tmp_path_factory.mktemp("sized"), cells, {"kind": "poisson"})))


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A link between two switches, over two transports."""
    counters = {name: sent(s0_s1=GIGABYTE, s1_s0=0) for name in ("rogue", "roce")}
    return Results(Run(write_linked_run(tmp_path_factory.mktemp("linked"), counters)))


@pytest.fixture(scope="module")
def recrossed(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Two factors with two values each."""
    cells = [
        (
            cell(f"rogue-{n}-{verb}-r1", factors={"workload.senders": n, "workload.verb": verb}),
            {"flows": [transfer("main/h0->h1", fct_ns=1000 * n)]},
        )
        for n in (2, 4)
        for verb in ("read", "write")
    ]
    return Results(Run(write_cells(tmp_path_factory.mktemp("crossed"), cells, {"kind": "ping"})))


@pytest.fixture
def drawable(name: str, request: pytest.FixtureRequest) -> Results:
    """A run for which the figure can be drawn."""
    results = request.getfixturevalue(OTHER_RUN.get(name, "results"))
    assert isinstance(results, Results)
    return results


@pytest.mark.parametrize("name", FIGURES)
class TestEveryFigure:
    def test_says_what_it_is(self, name: str) -> None:
        kind = FIGURES[name]
        assert kind.title
        assert len(kind.caption) > 100, "a caption explains how to read the figure"
        assert kind.caption.endswith(".")
        assert set(kind.needs) <= set(TABLES)

    def test_draws_a_sample_and_shows_all_of_it(self, name: str, drawable: Results) -> None:
        """No line leaves its panel upwards or downwards: a shared scale must hold every panel's data."""
        figure = FIGURES[name]()
        assert figure.skipped_because(drawable) is None
        with figure_look():
            drawn = figure.draw(drawable)
        assert isinstance(drawn, Figure)
        assert drawn.axes
        for axis in drawn.axes:
            assert axis.get_xlabel()
            assert axis.get_ylabel()
            assert axis.lines or axis.collections
            low, high = sorted(axis.get_ylim())
            for line in axis.get_lines():
                if line.get_marker() in {"_", "|"}:
                    continue  # the end of an interval may lie outside
                heights = np.asarray(line.get_ydata(), dtype=float)
                assert heights.max() <= high * 1.001
                assert heights.min() >= low

    def test_draws_a_sweep(self, name: str, sweep: Results) -> None:
        if name in OTHER_RUN:
            return  # their own samples are sweeps
        figure = FIGURES[name]()
        with figure_look():
            titles = [axis.get_title(loc="left") for axis in figure.draw(sweep).axes]
        assert any("senders 4" in title for title in titles)

    def test_describes_itself_with_numbers(self, name: str, drawable: Results) -> None:
        text = FIGURES[name]().describe(drawable)
        assert "RoGUE" in text
        assert re.search(r"\d", text)
        assert text.endswith(".")

    def test_is_skipped_with_a_reason_without_its_tables(self, name: str, empty: Results) -> None:
        reason = FIGURES[name]().skipped_because(empty)
        assert reason is not None
        assert ".parquet" in reason or not FIGURES[name].needs
        assert reason.endswith(".")


def test_page_of_a_campaign_stays_small(tmp_path: Path) -> None:
    """Six cells of 1000 samples per flow: what is drawn does not grow with what was measured."""
    sample = Sample(senders=(2, 4, 8), repetitions=1, seconds=10.0, sample_ns=10_000_000)
    results = Results(Run(write_sample_run(tmp_path, sample)))
    sizes = {}
    for name, kind in FIGURES.items():
        if kind().skipped_because(results):
            continue
        with figure_look():
            sizes[name] = len(to_svg(kind().draw(results), name, "t", "d"))
    assert max(sizes.values()) < 500_000, sizes
    assert sum(sizes.values()) < 1_500_000, sizes


@pytest.mark.parametrize("logarithmic", [time_axis, ratio_axis])
def test_a_panel_whose_lines_are_all_empty_is_drawn_without_a_warning(
    logarithmic: Callable[[Axes], None],
) -> None:
    figure = Figure()
    axis = figure.subplots()
    for name in ("RoGUE", "DCTCP"):
        draw_cdf(axis, np.full(3, np.inf), name)
    logarithmic(axis)
    to_svg(figure, "empty", "t", "d")


def test_a_group_of_a_trace_that_completed_nothing_is_drawn_without_a_warning(tmp_path: Path) -> None:
    lost = {"end_ns": None, "fct_ns": None, "slowdown": None, "status": "unfinished"}
    flows = [
        transfer("main.web/h1->h9", group="main.web", slowdown=2.0),
        transfer("main.db/h2->h9", group="main.db", **lost),
    ]
    cells = [(cell(f"{name}-r1", transport=name), {"flows": flows}) for name in ("rogue", "roce")]
    results = Results(Run(write_cells(tmp_path, cells, {"kind": "trace"})))
    with figure_look():
        to_svg(FIGURES["group_slowdowns"]().draw(results), "empty", "t", "d")


def test_thinned_cdf_keeps_both_ends_and_the_median() -> None:
    values = np.arange(1, 100_001, dtype=float)
    axis = Figure().subplots()
    draw_cdf(axis, values, None, color="#000000")
    (line,) = axis.get_lines()
    across, up = np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)
    assert len(across) <= POINTS_MAX + 1
    assert (across[1], up[0]) == (1, 0)
    assert (across[-1], up[-1]) == (100_000, pytest.approx(1))
    assert np.interp(0.5, up, across) == pytest.approx(50_000, rel=0.01)


def test_thinned_throughput_keeps_the_bytes(tmp_path: Path) -> None:
    """1500 samples are drawn as averages over ten; what is below the line is still what was delivered."""
    sample_ns = SECOND // 100
    rows = [delivery("main/h0->h1", n * sample_ns, n % 7 * 1000, sample_ns) for n in range(1, 1504)]
    flows = [transfer("main/h0->h1", end_ns=None, status="unfinished")]
    view = tiny_view(tmp_path, {"flows": flows, "throughput": rows}, ideal_goodput_bps=1e6)
    axis = ThroughputOverTime().draw(Results(view.run)).axes[0]
    line = axis.get_lines()[0]
    goodput = np.asarray(line.get_ydata(), dtype=float)
    assert len(goodput) == 151
    widths_s = np.append(np.full(150, 0.1), 0.03)
    delivered = sum(n % 7 * 1000 for n in range(1, 1504))
    assert (goodput * widths_s).sum() * 1e9 / 8 == pytest.approx(delivered)


def test_the_caption_says_what_has_too_many_flows_to_be_drawn(tmp_path: Path) -> None:
    written = Sample(transports=("rogue",), senders=(2, FLOWS_MAX, FLOWS_MAX + 1), repetitions=1, seconds=0.2)
    results = Results(Run(write_sample_run(tmp_path, written)))
    assert len(ThroughputOverTime().shown(results)) == 2
    assert ThroughputOverTime().omission(results) == " Not drawn, with more than 64 flows: senders 65."
    few = Sample(transports=("rogue",), senders=(2,), repetitions=1, seconds=0.2)
    assert ThroughputOverTime().omission(Results(Run(write_sample_run(tmp_path / "few", few)))) == ""


@pytest.mark.parametrize(
    ("sample_ns", "end_ns", "width_ns"),
    [
        (100, 100 * POINTS_MAX, 100),
        (100, 100 * POINTS_MAX + 1, 200),
        (10, 50 * POINTS_MAX, 50),
        (1, 10**4, 50),
    ],
)
def test_averages_are_over_round_numbers_of_samples(sample_ns: int, end_ns: int, width_ns: int) -> None:
    assert drawn_width_ns(sample_ns, end_ns) == width_ns


def test_row_is_one_factor_point(sweep: Results) -> None:
    ordered, columns, share = compared_panels(sweep.measured_settings)
    assert columns == 2
    assert share == "row"
    assert [setting.title for setting in ordered] == [
        "RoGUE, senders 2",
        "Native RoCE, senders 2",
        "RoGUE, senders 4",
        "Native RoCE, senders 4",
    ]


def test_one_transport_shares_one_scale(tmp_path: Path) -> None:
    sample = Sample(transports=("rogue",), senders=(2, 3, 4), repetitions=1, seconds=1.0)
    results = Results(Run(write_sample_run(tmp_path, sample)))
    _, columns, share = compared_panels(results.measured_settings)
    assert (columns, share) == (2, "all")


def test_odd_number_of_panels_leaves_no_empty_frame() -> None:
    figure, axes = panels(["a", "b", "c"])
    assert len(axes) == len(figure.axes) == 3


@pytest.mark.parametrize(
    ("low", "high", "limits"),
    [(0, 90e3, (0, 117e3)), (45e3, 4e6, (1e4, 5.2e6)), (0, 0, (0, 2000))],
)
def test_axis_of_sizes_holds_an_empty_queue(low: float, high: float, limits: tuple[float, float]) -> None:
    axis = Figure().subplots()
    size_axis(axis, low, high, vertical=True)
    assert axis.get_ylim() == pytest.approx(limits)


def test_drawn_names_are_printable_and_short() -> None:
    assert plain("a\x00b\nc") == "a b c"
    assert plain("x" * 200) == "x" * 99 + "…"


@pytest.mark.parametrize(
    ("times_ns", "labels"),
    [
        ([2000.0, 2001.0], ["2 µs", "4 µs"]),
        ([1e4, 1e7], ["10 µs", "100 µs", "1 ms", "10 ms"]),
        ([4e3, 9e4], ["5 µs", "10 µs", "20 µs", "50 µs"]),
    ],
)
def test_axis_of_times_always_has_labels(times_ns: list[float], labels: list[str]) -> None:
    axis = Figure().subplots()
    axis.plot(times_ns, [0, 1])
    time_axis(axis)
    low, high = axis.get_xlim()
    drawn = [axis.xaxis.get_major_formatter()(tick) for tick in axis.get_xticks() if low <= tick <= high]
    assert set(labels) <= {text.replace("\u202f", " ") for text in drawn}


@pytest.mark.parametrize(("count", "rows_more"), [(4, 0), (5, 1), (9, 2)])
def test_a_long_legend_makes_the_figure_higher_and_no_panel_smaller(count: int, rows_more: int) -> None:
    with figure_look():
        figure, axes = panels(["one"])
        before, height = axes[0].get_position().height * figure.get_figheight(), figure.get_figheight()
        for number in range(count):
            axes[0].plot([0, 1], [0, number], label=f"line {number}")
        legend_above(figure, axes)
        assert figure.get_figheight() == pytest.approx(height + rows_more * 0.22)
        assert axes[0].get_position().height * figure.get_figheight() == pytest.approx(before)


@pytest.mark.parametrize(
    ("labels", "columns"),
    [
        ([f"DCTCP {n}" for n in range(6)], 4),
        ([f"Native RoCE over UC (median 21{n} ms)" for n in range(5)], 3),
    ],
)
def test_a_legend_of_long_words_has_fewer_columns_and_stays_inside(labels: list[str], columns: int) -> None:
    with figure_look():
        figure, axes = panels([""], 1)
        for label in labels:
            axes[0].plot([0, 1], [0, 1], label=label)
        legend_above(figure, axes)
        (legend,) = figure.legends
        assert legend._ncols == columns
        figure.draw_without_rendering()
    assert legend.get_window_extent().x1 <= figure.bbox.x1


@pytest.mark.parametrize("width_inches", [3.3, 5.0, 7.0])
def test_a_legend_stays_inside_a_narrow_page(width_inches: float) -> None:
    with figure_look(), page_width(width_inches):
        figure, axes = panels([""], 1)
        for label in ("RoGUE", "Native RoCE", "RoCE with DCQCN", "DCTCP"):
            axes[0].plot([0, 1], [0, 1], label=label)
        legend_above(figure, axes)
        figure.draw_without_rendering()
    assert figure.legends[0].get_window_extent().x1 <= figure.bbox.x1


def test_a_legend_explains_what_any_panel_has() -> None:
    with figure_look():
        figure, axes = panels(["a", "b"])
        for axis, labels in zip(axes, (["one", "two"], ["three", "one"]), strict=True):
            for label in labels:
                axis.plot([0, 1], [0, 1], label=label)
        legend_above(figure, axes)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["one", "two", "three"]


@pytest.mark.parametrize("width_inches", [3.3, 7.0])
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_fits_the_page_that_it_is_drawn_for(
    name: str, width_inches: float, drawable: Results
) -> None:
    """Nothing that is written leaves the figure, and no type is smaller than six points."""
    with figure_look(), page_width(width_inches):
        figure = FIGURES[name]().draw(drawable)
        figure.draw_without_rendering()
        texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
        drawn = figure.get_tightbbox()  # in inches
    assert figure.get_figwidth() == width_inches
    assert min(text.get_fontsize() for text in texts) >= 6
    assert drawn.x0 >= -0.02 and drawn.x1 <= width_inches + 0.02
    assert drawn.y0 >= -0.02 and drawn.y1 <= figure.get_figheight() + 0.02
