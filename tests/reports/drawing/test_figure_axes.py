"""Where panels stand, for the page's script."""

import pytest
from matplotlib.figure import Figure

from rogue.reports.drawing.panels import figure_axes


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
