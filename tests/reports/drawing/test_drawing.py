"""Tests: marks, panels, scales and SVG."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.painted import painted
from matplotlib import rc_context, rcParams
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rogue.reports.drawing.layers import (
    INSTANTS,
    MARKED_FROM_LINES,
    POINTS_MAX,
    Layer,
    distribution,
    draw,
    flow_lines,
    legend_entries,
    spread,
)
from rogue.reports.drawing.panels import (
    PAPER_TYPE,
    WIDTH_INCHES,
    columns_that_fit,
    compared_panels,
    figure_axes,
    figure_look,
    legend_above,
    page_width,
    panels,
    scaled_inches,
)
from rogue.reports.drawing.scales import SCALES, Axis, apply, factor_axis
from rogue.reports.drawing.svg import css_variable, page_pictures, standalone_svg
from rogue.reports.results import Results
from rogue.reports.transport_styles import INK, style_of, styles_of


@pytest.mark.parametrize(("width", "columns"), [(3.3, 1), (7.0, 2), (WIDTH_INCHES, 3)])
def test_as_many_panels_beside_each_other_as_can_be_read(width: float, columns: int) -> None:
    with figure_look(), page_width(width):
        assert columns_that_fit(3) == columns
        figure, axes = panels(["a", "b", "c"], 3, share="row")
        assert figure.get_figwidth() == pytest.approx(width)
        assert len(figure.axes) == len(axes) == 3, "no empty frame"
        assert rcParams["font.size"] == pytest.approx(9 * (PAPER_TYPE if width < WIDTH_INCHES else 1))
    axes[0].set_ylim(0, 5)
    assert [axis.get_ylim()[1] for axis in axes] == [5, 5, 5], "a row keeps its scale below each other"
    assert scaled_inches(1.0) == pytest.approx(10 / 9)


def test_a_row_is_one_factor_point(sweep: Results) -> None:
    assert compared_panels(sweep.measured_settings) == (2, "row")
    one = [setting for setting in sweep.measured_settings if setting.transport == "rogue"]
    assert compared_panels(one) == (2, "all")


@pytest.mark.parametrize("width", [3.3, 7.0, WIDTH_INCHES])
@pytest.mark.parametrize(
    "labels",
    [
        ["word " * 30],
        ["RoGUE", "Native RoCE without PFC", "RoCE with DCQCN"],
        [f"Native RoCE without PFC (median 21{n} ms)" for n in range(9)],
    ],
)
def test_a_legend_stays_on_the_page_above_the_panels(labels: list[str], width: float) -> None:
    with figure_look(), page_width(width):
        figure, axes = panels(["a"], 1)
        height = figure.get_figheight()
        legend_above(figure, {label: Line2D([], []) for label in labels})
        figure.draw_without_rendering()
        box = figure.legends[0].get_window_extent()
    assert box.x1 <= figure.bbox.x1
    assert box.y0 >= axes[0].title.get_window_extent().y1 - 1
    assert figure.get_figheight() > height


def test_panels_have_boxes_from_the_top_and_the_spans_of_their_axes() -> None:
    figure = Figure()
    upper, lower = figure.subplots(2, 1)
    figure.subplots_adjust(left=0.1, right=0.9, bottom=0.1, top=0.9, hspace=0.0)
    upper.set_label("one")
    upper.set(xlim=(0, 4))
    lower.set(yscale="log", ylim=(1, 100))
    lower.set_xscale("symlog", linthresh=1000, linscale=0.4)
    found = figure_axes(figure, "time_s", "x")
    first, second = found["axes"]  # type: ignore[misc]
    assert (first["panel"], first["box"], first["x"]["high"]) == ("one", [0.1, 0.1, 0.8, 0.4], 4.0)
    assert second["y"] == {"low": 1.0, "high": 100.0, "scale": "log"}
    assert (second["x"]["threshold"], second["x"]["linear"]) == (1000.0, 0.4)
    assert (found["x"], found["y"]) == ("time_s", "x")


def test_distribution_counts_lost_samples() -> None:
    line = distribution(np.array([3.0, 1.0, np.inf, 2.0, np.inf]), "x")
    assert line["x"].tolist() == [1, 1, 2, 3]
    assert line["fraction"].tolist() == pytest.approx([0, 0.2, 0.4, 0.6])
    thinned = distribution(np.array([*np.arange(1.0, 30_001.0), *[np.inf] * 10_000]), "x")
    assert len(thinned) <= POINTS_MAX + 1
    assert thinned["fraction"].to_numpy()[1:] == pytest.approx(thinned["x"].to_numpy()[1:] / 40_000)
    lost = distribution(np.full(3, np.inf), "x")
    assert np.isnan(lost["x"]).all(), "the legend still has the line"


def test_spread_is_the_median_between_the_least_and_the_largest() -> None:
    times_s = np.repeat(np.arange(INSTANTS) / INSTANTS, 3)
    line = spread(pd.DataFrame({"time_s": times_s, "x": np.tile([5.0, 1.0, 3.0], INSTANTS)}), "x")
    assert len(line) == INSTANTS
    assert (set(line["x"]), set(line["low"]), set(line["high"])) == ({3.0}, {1.0}, {5.0})


@pytest.mark.parametrize(("lines_max", "lines"), [(64, 3), (2, 2)])
def test_a_thin_line_for_each_flow_of_the_first_repetition(lines_max: int, lines: int) -> None:
    def of_flow(name: str, values: list[float]) -> pd.DataFrame:
        return pd.DataFrame({"flow_id": name, "t_ns": range(0, 10**9 * len(values), 10**9), "value": values})

    first = pd.concat([of_flow(name, [2.0, 4.0]) for name in "abc"])
    found = flow_lines([first, of_flow("a", [200.0])], 2.0, lines_max)
    thin = found[found["mark"] == "one flow"]
    assert thin["value"].tolist() == [1, 2] * lines
    assert found[found["mark"] == "median of all"]["high"].max() == 100
    assert set(flow_lines([of_flow("a", [2.0, 4.0])], 1.0, 64)["mark"]) == {"one flow"}, "no spread of one"


@pytest.mark.parametrize("count", [2, MARKED_FROM_LINES])
def test_lines_of_many_transports_have_markers_and_all_are_in_the_legend(count: int) -> None:
    names = [f"t{n}" for n in range(count)]
    looks = styles_of([(name, name) for name in names])
    rows = pd.DataFrame({"panel": "", "series": np.repeat(names, 3), "x": [0, 1, 2] * count, "y": 1.0})
    axis = Figure().subplots()
    draw(axis, rows, (Layer("steps"),), ("x", "y"), looks)
    assert len(axis.lines) == count
    has_markers = [line.get_marker() not in {"", "None", None} for line in axis.lines]
    assert has_markers == [count >= MARKED_FROM_LINES] * count
    assert [*legend_entries(rows, (Layer("steps"),), looks)] == names


@pytest.mark.parametrize("scale", ["log ns", "log ratio", "log bytes", "bytes", "seconds", "from zero"])
def test_a_panel_without_a_finite_value_is_drawn_without_a_warning(scale: str) -> None:
    figure, axes = panels(["a"])
    looks = styles_of([("rogue", "rogue")])
    rows = pd.DataFrame({"panel": "a", "series": "rogue", "x": [np.nan], "y": [0.0]})
    draw(axes[0], rows, (Layer("steps"),), ("x", "y"), looks)
    Axis("x", "x", scale).apply(axes, "x")
    figure.draw_without_rendering()
    assert np.isfinite([axes[0].get_xlim(), axes[0].get_ylim()]).all()


@pytest.mark.parametrize(
    ("low", "high", "limits"), [(0, 90e3, (0, 117e3)), (45e3, 4e6, (1e4, 5.2e6)), (0, 0, (0, 2000))]
)
def test_an_axis_of_bytes_holds_an_empty_queue(low: float, high: float, limits: tuple[float, float]) -> None:
    axis = Figure().subplots()
    axis.plot([0, 1], [low, high])
    SCALES["bytes"]([axis], "y")
    assert axis.get_ylim() == pytest.approx(limits)


@pytest.mark.parametrize(
    ("times_ns", "labels"),
    [
        ([2000.0, 2001.0], {"2 µs"}),
        ([1e4, 1e7], {"10 µs", "100 µs", "1 ms", "10 ms"}),
        ([4e3, 9e4], {"5 µs", "10 µs", "20 µs", "50 µs"}),
    ],
)
def test_an_axis_of_times_always_has_labels(times_ns: list[float], labels: set[str]) -> None:
    axis = Figure().subplots()
    axis.plot(times_ns, [0, 1])
    SCALES["log ns"]([axis], "x")
    low, high = axis.get_xlim()
    drawn = [axis.xaxis.get_major_formatter()(tick) for tick in axis.get_xticks() if low <= tick <= high]
    assert labels <= {text.replace("\u202f", " ") for text in drawn}


def test_an_axis_of_time_has_one_unit() -> None:
    axis = Figure().subplots()
    axis.plot([0, 0.005], [0, 1])
    SCALES["seconds"]([axis], "x")
    drawn = [axis.xaxis.get_major_formatter()(tick) for tick in (0, 0.0005, 0.005)]
    assert drawn == ["0", "0.5\u202fms", "5\u202fms"]


@pytest.mark.parametrize("end_s", [0.000012, 0.00021, 0.00095, 0.0013, 0.0042, 0.019, 0.5, 7.0, 130.0])
def test_times_below_narrow_panels_do_not_touch(end_s: float) -> None:
    with figure_look():
        figure, axes = panels(["a", "b", "c"], 3)
        axes[0].plot([0, end_s], [0, 1])
        SCALES["seconds"](axes[:1], "x")
        figure.draw_without_rendering()
        labels = [each.label1 for each in axes[0].xaxis.get_major_ticks()]
        shown = [each.get_window_extent() for each in labels if each.get_text()]
    assert len(shown) >= 3
    assert all(left.x1 + 1 < right.x0 for left, right in pairwise(shown))


@pytest.mark.parametrize(
    ("key", "values", "places", "is_log"),
    [
        ("workload.senders", ["8", "2", "4"], {"2": 2, "4": 4, "8": 8}, False),
        ("workload.size", ["64B", "64KiB"], {"64B": 64, "64KiB": 65_536}, True),
        ("transports[0].rtt_noise", ["0us", "100us"], {"0us": 0, "100us": 100_000}, False),
        ("workload.verb", ["write", "read"], {"write": 0, "read": 1}, False),
        ("faults[0].one_in", ["0", "4096", "65536"], {"0": 0, "65536": 1 / 65_536, "4096": 1 / 4096}, False),
        ("faults[0].one_in", ["0", "1024", "65536"], {"0": 0, "65536": 1 / 65_536, "1024": 1 / 1024}, True),
    ],
)
def test_values_of_a_factor_are_by_size_or_in_order(
    key: str, values: list[str], places: dict[str, float], is_log: bool
) -> None:
    axis = factor_axis(key, values)
    assert list(axis.places.items()) == list(places.items())
    assert axis.is_log is is_log


def test_labels_of_a_factor_do_not_touch_and_zero_has_a_place() -> None:
    """One in 65536, 8192 and 1024 are at equal distances; zero is left of them."""
    panel = Figure().subplots()
    apply(panel, factor_axis("workload.senders", [str(n) for n in range(1, 41)]))
    labels = [text.get_text() for text in panel.get_xticklabels()]
    assert (labels[0], len(labels)) == ("1", 40)
    assert 5 <= sum(bool(label) for label in labels) <= 25
    panel = Figure().subplots()
    loss = factor_axis("faults[0].one_in", ["0", "65536", "8192", "1024"])
    apply(panel, loss)
    assert set(loss.labels.values()) == {"0", "1/65536", "1/8192", "1/1024"}
    to_axes = panel.transScale + panel.transLimits
    places = [float(to_axes.transform((at, 0.0))[0]) for at in (0.0, 1 / 65_536, 1 / 8192, 1 / 1024)]
    assert 0 < places[0] < places[1]
    assert places[2] - places[1] == pytest.approx(places[3] - places[2])


DRAWN = """
import io
from matplotlib.figure import Figure
from rogue.reports.drawing.panels import figure_look
written = io.BytesIO()
with figure_look():
    figure = Figure()
    figure.subplots().plot([1, 2], label="$x$")
    figure.savefig(written, format="svg", metadata={"Date": None})
print(written.getvalue().decode())
"""


def test_a_matplotlibrc_in_the_working_directory_changes_no_figure(tmp_path: Path) -> None:
    drawn = []
    for settings in ("", "text.usetex: True\nlines.linewidth: 9\nsavefig.bbox: tight\nbackend: tkagg\n"):
        (tmp_path / "matplotlibrc").write_text(settings)
        command = [sys.executable, "-P", "-c", DRAWN]
        drawn.append(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout)
    assert "</svg>" in drawn[0]
    assert drawn[0] == drawn[1]
    with rc_context({"text.usetex": True}), figure_look():
        assert rcParams["text.usetex"] is False


HOSTILE = '</text><script>alert("x")</script> $\\frac{1}{2}$ & <b>'


def figure_with(label: str = "a line") -> Figure:
    figure = Figure(figsize=(4, 2))
    axis = figure.subplots()
    axis.step(range(200), np.sin(np.arange(200) / 9), color=style_of("rogue").colour, label=label)
    axis.legend()
    return figure


def drawn(prefix: str = "f", label: str = "a line") -> str:
    with figure_look():
        return str(page_pictures(figure_with(label), prefix, f"Title {label}", f"Description {label}").inline)


def test_a_picture_has_a_name_and_a_description_and_no_size() -> None:
    root = ET.fromstring(drawn(prefix="p"))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "viewBox" in root.attrib and "width" not in root.attrib
    assert root.get("role") == "img"
    texts = {element.get("id"): element.text for element in root.iter()}
    named = (root.get("aria-labelledby") or "").split()
    assert [texts[identifier] for identifier in named] == ["Title a line", "Description a line"]


def test_ids_are_prefixed_and_references_resolve() -> None:
    svg = drawn(prefix="run1-throughput")
    identifiers = set(re.findall(r'\bid="([^"]+)"', svg))
    references = set(re.findall(r'href="#([^"]+)"', svg)) | set(re.findall(r"url\(#([^)]+)\)", svg))
    assert references
    assert references <= identifiers
    assert all(identifier.startswith("run1-throughput-") for identifier in identifiers)


def test_colours_and_fonts_are_those_of_the_page_and_text_stays_text() -> None:
    svg = drawn()
    for colour in (INK, style_of("rogue").colour):
        assert f"var({css_variable(colour)})" in svg
        assert colour not in svg
    assert "font-family" not in svg
    assert "a line</text>" in svg


def test_hostile_names_are_text_and_nothing_comes_from_outside() -> None:
    svg = drawn(label=HOSTILE)
    for part in ("<script", "<b>", "<style", "<image"):
        assert part not in svg
    assert any(element.text == HOSTILE for element in ET.fromstring(svg).iter())
    assert set(re.findall(r'"(https?://[^"]+)"', svg)) <= {
        "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink",
    }  # fmt: skip


def test_short_coordinates_look_as_before() -> None:
    with figure_look():
        before = standalone_svg(figure_with(), "t", "d")
        after = page_pictures(figure_with(), "f", "t", "d").standalone
    assert len(after) < len(before)
    pixels = [np.asarray(painted(svg, zoom=2), dtype=float) for svg in (before, after)]
    difference = np.abs(pixels[0] - pixels[1])
    assert difference.mean() < 1.0
    assert (difference > 128).mean() < 0.001
