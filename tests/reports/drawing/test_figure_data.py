"""The data behind a figure, read from what is drawn."""

import numpy as np
import pandas as pd
import pytest
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rogue.reports.drawing.figure_data import figure_data, thinned
from rogue.reports.drawing.marks import draw_cdf, figure_look, rule, time_axis
from rogue.reports.figures import FIGURES
from rogue.reports.metrics import METRICS
from rogue.reports.results import Results


def one_panel(title: str = "") -> tuple[Figure, Axes]:
    figure = Figure()
    axis = figure.subplots()
    axis.set_title(title, loc="left")
    axis.set_xlabel("time (s)")
    axis.set_ylabel("goodput (Gb/s)")
    return figure, axis


def test_columns_are_named_after_the_axes_with_the_unit_last() -> None:
    figure, axis = one_panel("RoGUE")
    axis.plot([0, 1], [2, 3], label="one")
    frame = figure_data(figure)
    assert list(frame) == ["panel", "series", "mark", "time_s", "goodput_gbps"]
    assert frame.to_numpy().tolist() == [["RoGUE", "one", "line", 0, 2], ["RoGUE", "one", "line", 1, 3]]


@pytest.mark.parametrize(
    ("label", "column"),
    [
        ("% of ideal share", "percent_of_ideal_share"),
        ("estimate \N{MINUS SIGN} truth (µs)", "estimate_minus_truth_us"),
        ("time (s), averages over 100 ms", "time_s"),
        ("Gb/s", "gbps"),
        ("", "x"),
    ],
)
def test_labels_become_names(label: str, column: str) -> None:
    figure, axis = one_panel()
    axis.set_xlabel(label)
    axis.plot([0, 1], [2, 3])
    assert column in figure_data(figure)


def test_axis_that_writes_readable_units_tells_the_unit_of_its_values() -> None:
    figure, axis = one_panel()
    draw_cdf(axis, np.array([1000.0, 2000.0]), "a", color="#000000")
    time_axis(axis)
    axis.set_xlabel("completion time")
    assert list(figure_data(figure)["completion_time_ns"]) == [1000, 2000]


def test_panels_that_measure_different_things_say_so_row_by_row() -> None:
    figure = Figure()
    above, below = figure.subplots(2)
    for axis, label in ((above, "goodput (Gb/s)"), (below, "window (packets)")):
        axis.set_xlabel("time (s)")
        axis.set_ylabel(label)
        axis.plot([0], [1], label="one")
    above.set_title("RoGUE", loc="left")
    frame = figure_data(figure)
    assert list(frame) == ["panel", "series", "mark", "time_s", "y", "y_is"]
    assert list(frame["y_is"]) == ["goodput_gbps", "window_packets"]
    assert set(frame["panel"]) == {"RoGUE"}, "a panel without a title belongs to the one above"


def test_error_bars_stand_at_their_points() -> None:
    figure, axis = one_panel()
    axis.errorbar([1, 2], [10, 20], yerr=[[1, 2], [3, 0]], label="a", capsize=2)
    frame = figure_data(figure)
    assert frame[["low", "high"]].to_numpy().tolist() == [[9, 13], [18, 20]]
    assert list(frame["series"]) == ["a", "a"]


def test_a_point_that_does_not_spread_has_no_interval() -> None:
    figure, axis = one_panel()
    axis.errorbar([1, 2], [10, 20], yerr=[[0, 2], [0, 2]], label="a")
    assert figure_data(figure)["low"].isna().tolist() == [True, False]


def test_bands_belong_to_the_line_of_their_colour() -> None:
    figure, axis = one_panel()
    for colour, height in (("#ff0000", 1), ("#0000ff", 5)):
        axis.fill_between([0, 1], [height - 1] * 2, [height + 1] * 2, color=colour, alpha=0.3)
        axis.plot([0, 1], [height] * 2, color=colour, label=colour)
    frame = figure_data(figure)
    assert frame[["low", "high"]].to_numpy().tolist() == [[0, 2], [0, 2], [4, 6], [4, 6]]


@pytest.mark.parametrize("horizontal", [True, False])
def test_bars_have_names_heights_and_whiskers(horizontal: bool) -> None:
    figure, axis = one_panel()
    draw, whisk = (axis.barh, axis.hlines) if horizontal else (axis.bar, axis.vlines)
    draw([0, 1], [5, 7])
    whisk([0, 1], [4, 6], [6, 8])
    names = axis.set_yticks if horizontal else axis.set_xticks
    names([0, 1], ["RoGUE", "RoCE"])
    frame = figure_data(figure)
    name, value = ("goodput_gbps", "time_s") if horizontal else ("time_s", "goodput_gbps")
    assert list(frame[name]) == ["RoGUE", "RoCE"]
    assert frame[[value, "low", "high"]].to_numpy().tolist() == [[5, 4, 6], [7, 6, 8]]


def test_factor_values_that_are_numbers_stay_numbers() -> None:
    figure, axis = one_panel()
    axis.plot([0, 1, 2], [1, 2, 3])
    axis.set_xticks([0, 1, 2], ["0", "1", "2"])
    assert list(figure_data(figure)["time_s"]) == [0, 1, 2]


def test_rules_are_one_number() -> None:
    figure, axis = one_panel()
    rule(axis, 1.25, "ideal share")
    rule(axis, 3.5, "now", vertical=True)
    frame = figure_data(figure)
    assert list(frame["mark"]) == ["rule", "rule"]
    assert frame["goodput_gbps"].tolist()[0] == 1.25
    assert frame["time_s"].tolist()[1] == 3.5


def test_lines_without_names_are_told_apart() -> None:
    figure, axis = one_panel()
    axis.plot([0, 1], [1, 1])
    axis.plot([0, 1], [2, 2])
    assert list(figure_data(figure)["line"]) == [1, 1, 2, 2]


def test_what_seaborn_draws() -> None:
    figure, axis = one_panel()
    frame = pd.DataFrame({"x": [0, 0, 1, 1], "y": [1.0, 3.0, 2.0, 4.0], "name": ["a"] * 4})
    sns.lineplot(frame, x="x", y="y", hue="name", errorbar=("pi", 100), ax=axis)
    read = figure_data(figure)
    assert read[read.columns[-4:]].to_numpy().tolist() == [[0, 2, 1, 3], [1, 3, 2, 4]]
    assert set(read["series"]) == {"a"}, "the legend says whose colour it is"


def test_fields_of_a_heatmap() -> None:
    figure, axis = one_panel()
    frame = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], index=["r1", "r2"], columns=["c1", "c2"])
    sns.heatmap(frame, ax=axis)
    axis.set_xlabel("column")
    axis.set_ylabel("row")
    read = figure_data(figure)
    assert read[["column", "row", "value"]].to_numpy().tolist() == [
        ["c1", "r1", 1], ["c2", "r1", 2], ["c1", "r2", 3], ["c2", "r2", 4]
    ]  # fmt: skip


def test_whole_numbers_keep_their_digits_and_others_six() -> None:
    figure, axis = one_panel()
    axis.plot([1048576, 2000000001], [1 / 3, 2], label="a")
    frame = figure_data(figure)
    assert list(frame["time_s"]) == [1048576, 2000000001]
    assert frame["goodput_gbps"][0] == 0.333333


def test_thinning_keeps_both_ends_of_each_line() -> None:
    figure, axis = one_panel()
    for name in ("a", "b"):
        axis.plot(range(100), range(100), label=name)
    frame = thinned(figure_data(figure), 20, 80)
    assert len(thinned(figure_data(figure), 1000, 5)) <= 14
    assert len(frame) <= 24
    for _, line in frame.groupby("series"):
        assert (line["time_s"].min(), line["time_s"].max()) == (0, 99)


def test_the_sweep_has_each_mean_and_its_interval(sweep: Results) -> None:
    with figure_look():
        frame = figure_data(FIGURES["factor_sweep"]().draw(sweep))
    metric = METRICS["jain"]
    means = [sweep.mean(setting, "jain") for setting in sweep.measured_settings]
    drawn = frame[frame["panel"] == metric.title]
    assert sorted(drawn["y"]) == pytest.approx(sorted(mean.mean for mean in means if mean), rel=1e-5)
