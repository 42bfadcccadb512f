"""Contract of the figure registry: every figure draws itself, explains itself, and knows when it cannot."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from helpers.sample_kinds import GIGABYTE, sent, sized_rows, write_cells, write_linked_run
from helpers.sample_run import Sample, write_manifest, write_sample_run
from helpers.small_runs import cell, manifest, tiny_view, transfer
from matplotlib.text import Text

from rogue.reports.drawing.panels import COLOUR_SCALE, figure_look, page_width
from rogue.reports.drawing.svg import page_pictures, to_svg
from rogue.reports.export.figure_files import caption_of
from rogue.reports.figures import FIGURES
from rogue.reports.quantities import NARROW_SPACE
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.workloads.records import TABLES

TEXT_ALTERNATIVES = yaml.safe_load((Path(__file__).parent / "text_alternatives.yaml").read_text())
"""Of each figure, drawn of its sample run."""

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
def empty(tmp_path_factory: pytest.TempPathFactory) -> Results:
    directory = tmp_path_factory.mktemp("empty")
    write_manifest(directory, manifest([cell()]))
    return Results(Run(directory))


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """More flows than can be named, at two factor points."""
    sample = Sample(senders=(17, 18), repetitions=2, seconds=1.0)
    return Results(Run(write_sample_run(tmp_path_factory.mktemp("crowd"), sample)))


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A trace with three groups over two transports; one group completes nothing."""
    flows = [
        transfer(f"main.{group}/h{n}->h9", group=f"main.{group}", fct_ns=1000 * n, slowdown=float(n))
        for group in ("web", "db")
        for n in (1, 2, 5)
    ]
    lost = {"end_ns": None, "fct_ns": None, "slowdown": None, "status": "unfinished"}
    flows.append(transfer("main.lost/h2->h9", group="main.lost", **lost))
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

    def test_draws_its_data_and_shows_all_of_them(self, name: str, drawable: Results) -> None:
        """Every panel has a row of data, and no line leaves its panel upwards or downwards."""
        figure = FIGURES[name]()
        assert figure.skipped_because(drawable) is None
        with figure_look():
            drawn = figure.draw(drawable)
        data = figure.data(drawable)
        assert {"panel", "series"} <= set(data.columns)
        axes = [axis for axis in drawn.axes if axis.get_label() != COLOUR_SCALE]
        assert [str(axis.get_label()) for axis in axes] == list(dict.fromkeys(data["panel"]))
        for axis in axes:
            assert axis.get_xlabel()
            assert (
                axis.get_ylabel()
                or name == "published_beside"
                or not axis.yaxis.get_tick_params()["labelleft"]
            )
            assert axis.lines or axis.collections or axis.patches
            low, high = sorted(axis.get_ylim())
            for line in axis.get_lines():
                if line.get_marker() not in {"_", "|"} and len(line.get_ydata()) > 1:
                    heights = np.asarray(line.get_ydata(orig=False), dtype=float)
                    assert low <= np.nanmin(heights) and np.nanmax(heights) <= high * 1.001

    def test_numbers_along_the_axes_lie_inside(self, name: str, drawable: Results) -> None:
        """The script of the page finds a place for most of the rows of the CSV."""
        figure = FIGURES[name]()
        data = figure.data(drawable)
        x, y = figure.x.column, figure.y.column
        if not {x, y} <= set(data) or not all(pd.api.types.is_numeric_dtype(data[each]) for each in (x, y)):
            return  # names along an axis
        with figure_look():
            axes = {str(axis.get_label()): axis for axis in figure.draw(drawable).axes}
        for panel, rows in data.dropna(subset=[x, y]).groupby("panel"):
            (left, right), (low, high) = axes[str(panel)].get_xlim(), sorted(axes[str(panel)].get_ylim())
            assert (rows[x].between(left, right) & rows[y].between(low, high)).mean() > 0.9

    def test_text_alternative(self, name: str, drawable: Results) -> None:
        text = FIGURES[name]().describe(drawable).replace(NARROW_SPACE, " ")
        assert text == TEXT_ALTERNATIVES[name]

    def test_is_skipped_with_a_reason_without_its_tables(self, name: str, empty: Results) -> None:
        reason = FIGURES[name]().skipped_because(empty)
        assert reason is not None
        assert ".parquet" in reason or not FIGURES[name].needs
        assert reason.endswith(".")

    @pytest.mark.parametrize("width_inches", [3.3, 9.6])
    def test_fits_the_page_that_it_is_drawn_for(
        self, name: str, width_inches: float, drawable: Results
    ) -> None:
        """No text leaves the figure or touches the text of another axis, and no type is below six points."""
        with figure_look(), page_width(width_inches):
            figure = FIGURES[name]().draw(drawable)
            figure.draw_without_rendering()
            texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
            drawn = figure.get_tightbbox()  # in inches
            boxes = [axis.get_tightbbox() for axis in figure.axes]
        assert figure.get_figwidth() == width_inches
        assert min(text.get_fontsize() for text in texts) >= 6
        assert drawn.x0 >= -0.02 and drawn.x1 <= width_inches + 0.02
        assert drawn.y0 >= -0.02 and drawn.y1 <= figure.get_figheight() + 0.02
        for number, box in enumerate(boxes):
            assert not any(box.shrunk(0.99, 0.98).overlaps(other) for other in boxes[number + 1 :])


def test_page_of_a_campaign_stays_small(tmp_path: Path) -> None:
    """Six cells of 1000 samples per flow: the picture does not grow with the measurements."""
    sample = Sample(senders=(2, 4, 8), repetitions=1, seconds=10.0, sample_ns=10_000_000)
    results = Results(Run(write_sample_run(tmp_path, sample)))
    sizes = {}
    for name, kind in FIGURES.items():
        if not kind().skipped_because(results):
            with figure_look():
                sizes[name] = len(to_svg(kind().draw(results), name, "t", "d"))
    assert max(sizes.values()) < 500_000, sizes
    assert sum(sizes.values()) < 1_500_000, sizes


def test_same_figure_same_bytes(results: Results) -> None:
    with figure_look():
        drawn = [page_pictures(FIGURES["throughput"]().draw(results), "f", "t", "d") for _ in range(2)]
    assert drawn[0] == drawn[1]


def test_cell_without_samples_has_no_figures(tmp_path: Path) -> None:
    told = {"flow_id": "a", "t_ns": 0, "name": "x", "value": float("inf")}
    view = tiny_view(tmp_path, {"flows": [transfer("main/h0->h2", end_ns=1)], "control": [told]})
    for name in (
        "throughput",
        "rate_estimate",
        "control",
        "queue_map",
        "critical_path",
        "two_factors",
        "bars",
    ):
        assert FIGURES[name]().skipped_because(Results(view.run)) is not None


def test_a_caption_says_conditions_runs_and_origin(results: Results) -> None:
    figure = FIGURES["throughput"]()
    caption, manifest = caption_of(figure, results), results.run.manifest
    for words in (figure.title, figure.caption, manifest.title, manifest.run_id, "testbed simulator"):
        assert words in caption
    assert "n = 2 to 3; seeds 1 to 3." in caption, "a repetition failed"
    assert f"Commit {(manifest.git.commit or '')[:12]}" in caption
    assert "\n" not in caption


def test_large_seeds_in_a_caption(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(next(iter(results.views.values())).entry, "seed", -(2**62))
    assert "seeds -4611686018427387904, " in caption_of(FIGURES["throughput"](), results)
