"""SVG that is small and looks the same."""

import io
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from helpers.painted import painted
from matplotlib.figure import Figure

from rogue.reports.drawing.marks import figure_look
from rogue.reports.drawing.svg import short_path, shrink


@pytest.mark.parametrize(
    ("path", "short"),
    [
        ("M 10 20 L 13.5 19.96 ", "m10 20h3.5"),
        ("M 0 0 L 0 -0.52 L 0 -1.04 L 3 -1.04 ", "m0 0v-1h3"),
        ("M 1 1 L 1.01 1.02 L 1.02 1.04", "m1 1h0"),
        ("M 0 0 L 0.5 0.25 L 1 -0.5 z", "m0 0 .5.2.5-.7z"),
        ("M 5 5 L 6 6 z M 0 0 L 1 2 ", "m5 5 1 1zm-5-5 1 2"),
        ("M 0 0 C 1 1 2 2 3 3 Q 4 4 5 3", "m0 0c1 1 2 2 3 3q1 1 2 0"),
        ("M 0 0 L 5 0 L 2 0", "m0 0h5-3"),
        ("M 0 0 A 1 1 0 0 0 1 1", "M 0 0 A 1 1 0 0 0 1 1"),
        ("", ""),
    ],
)
def test_paths(path: str, short: str) -> None:
    assert short_path(path).replace(" .", ".") == short.replace(" .", ".")


def test_rounding_does_not_add_up() -> None:
    path = "M 0 0 " + " ".join(f"L {0.26 * n} {(-1) ** n}" for n in range(1, 101))
    steps = short_path(path)[4:].replace("-", " -").split()
    assert sum(float(step) for step in steps[::2]) == pytest.approx(26.0)


def test_looks_as_before_at_less_than_two_thirds_of_the_size() -> None:
    with figure_look():
        figure = Figure(figsize=(4, 2))
        axis = figure.subplots()
        axis.step(range(200), np.sin(np.arange(200) / 9), color="#0072b2", label="a line")
        axis.scatter(range(20), np.zeros(20), marker="D", color="#c44e00")
        axis.set_ylabel("turned")
        axis.legend()
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    before = buffer.getvalue()
    root = ET.fromstring(before)
    shrink(root)
    after = ET.tostring(root, encoding="unicode")
    assert len(after) < 0.66 * len(before)
    pixels = [np.asarray(painted(svg, zoom=2), dtype=float) for svg in (before, after)]
    difference = np.abs(pixels[0] - pixels[1])
    assert difference.mean() < 1.0
    assert (difference > 128).mean() < 0.001
