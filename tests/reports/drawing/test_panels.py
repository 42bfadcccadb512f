"""Tests: lay out small multiples with shared scales and one legend."""

import pytest
from matplotlib import rcParams
from matplotlib.figure import Figure

from rogue.reports.drawing.marks import figure_look
from rogue.reports.drawing.panels import (
    PAPER_TYPE,
    WIDTH_INCHES,
    columns_that_fit,
    figure_axes,
    figure_width_inches,
    legend_above,
    make_room,
    page_width,
    panels,
    scaled_inches,
)


def test_on_a_narrow_page_panels_stand_below_each_other_in_smaller_type() -> None:
    with figure_look(), page_width(3.3):
        figure, axes = panels(["a", "b"], 2)
        assert figure.get_figwidth() == pytest.approx(3.3)
        assert axes[0].get_position().x0 == axes[1].get_position().x0
        assert rcParams["font.size"] == pytest.approx(9 * PAPER_TYPE)
        assert scaled_inches(1.0) == pytest.approx(PAPER_TYPE)
    assert (figure_width_inches(), scaled_inches(1.0)) == (WIDTH_INCHES, pytest.approx(10 / 9))


@pytest.mark.parametrize(("width", "columns"), [(3.3, 1), (7.0, 2), (WIDTH_INCHES, 3)])
def test_as_many_panels_beside_each_other_as_can_be_read(width: float, columns: int) -> None:
    with figure_look(), page_width(width):
        assert columns_that_fit(3) == columns
        assert columns_that_fit(1) == 1


def test_a_row_keeps_its_scale_when_its_panels_go_below_each_other() -> None:
    with figure_look(), page_width(3.3):
        _, axes = panels(["a", "b", "c", "d"], 2, share="row")
    axes[0].set_ylim(0, 5)
    axes[3].set_ylim(0, 7)
    assert [axis.get_ylim()[1] for axis in axes] == [5, 5, 7, 7]


@pytest.mark.parametrize(
    "labels",
    [["word " * 30], ["RoGUE", "Native RoCE", "RoCE with DCQCN", "DCTCP"], ["goodput", "limit", "share"]],
)
@pytest.mark.parametrize("width", [3.3, 7.0, WIDTH_INCHES])
def test_a_legend_stays_on_the_page(labels: list[str], width: float) -> None:
    with figure_look(), page_width(width):
        figure, axes = panels(["a"], 1)
        for label in labels:
            axes[0].plot([0, 1], [0, 1], label=label)
        legend_above(figure, axes)
        figure.draw_without_rendering()
        box = figure.legends[0].get_window_extent()
    assert box.x1 <= figure.bbox.x1
    assert box.y0 >= axes[0].title.get_window_extent().y1 - 1


@pytest.mark.parametrize(("titles", "columns"), [(["a"], 1), (["a", "b", "c"], 2)])
def test_room_at_the_left_of_panels_and_below_them(titles: list[str], columns: int) -> None:
    """Beside and below each of them; heights stay, and asking for less changes nothing."""
    with figure_look(), page_width(7.0):
        figure, axes = panels(titles, columns, legend=False)
        before = [axis.get_position().height * figure.get_figheight() for axis in axes]
        make_room(figure, left_inches=1.5, below_inches=1.2)
        make_room(figure, left_inches=0.1, below_inches=0.1)
        (width, height), places = figure.get_size_inches(), [axis.get_position() for axis in axes]
        left, below = scaled_inches(1.5), scaled_inches(1.2)
    assert [place.height * height for place in places] == pytest.approx(before)
    assert places[0].x0 * width == pytest.approx(left)
    assert places[-1].y0 * height == pytest.approx(below)
    assert places[-1].x0 * width == pytest.approx(left)
    if columns == 2:
        assert (places[1].x0 - places[0].x1) * width == pytest.approx(left)
        assert (places[0].y0 - places[2].y1) * height >= below


def test_panels_have_boxes_from_the_top_and_the_spans_of_their_axes() -> None:
    figure = Figure()
    upper, lower = figure.subplots(2, 1)
    figure.subplots_adjust(left=0.1, right=0.9, bottom=0.1, top=0.9, hspace=0.0)
    upper.set_title("RoGUE", loc="left")
    for axis, height in ((upper, "rate (Gb/s)"), (lower, "queue (KB)")):
        axis.set_xlabel("time (s)")
        axis.set_ylabel(height)
        axis.set_xlim(0, 20)
    upper.set_yscale("log")
    upper.set_ylim(1, 100)
    lower.set_yscale("symlog", linthresh=1000, linscale=0.4)
    lower.set_ylim(0, 5000)
    found = figure_axes(figure)
    assert (found["x"], found["y"]) == ("time_s", "y")
    first, second = found["axes"]  # type: ignore[misc]
    assert (first["panel"], second["panel"]) == ("RoGUE", "RoGUE")
    assert (first["y_is"], second["y_is"]) == ("rate_gbps", "queue_kb")
    assert first["box"] == pytest.approx([0.1, 0.1, 0.8, 0.4])
    assert second["box"] == pytest.approx([0.1, 0.5, 0.8, 0.4])
    assert first["x"] == {"low": 0, "high": 20, "scale": "linear"}
    assert first["y"] == {"low": 1, "high": 100, "scale": "log"}
    assert second["y"] == {"low": 0, "high": 5000, "scale": "symlog", "threshold": 1000, "linear": 0.4}
