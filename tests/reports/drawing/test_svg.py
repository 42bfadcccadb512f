"""Tests: write a matplotlib figure as small SVG, for a page or a file."""

import io
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from helpers.painted import painted
from matplotlib.figure import Figure

from rogue.reports.drawing.marks import figure_look
from rogue.reports.drawing.svg import css_variable, short_path, shrink, to_svg
from rogue.reports.transport_styles import INK, style_of

HOSTILE = '</text><script>alert("x")</script> $\\frac{1}{2}$ & <b>'


def drawn(prefix: str = "f", label: str = "a line") -> str:
    with figure_look():
        figure = Figure(figsize=(4, 2))
        axis = figure.subplots()
        axis.plot([0, 1], [0, 1.23456789], color=style_of("rogue").colour, label=label)
        axis.legend()
        return str(to_svg(figure, prefix, f"Title {label}", f"Description {label}"))


def test_is_one_svg_element_that_parses() -> None:
    root = ET.fromstring(drawn())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "viewBox" in root.attrib
    assert "width" not in root.attrib


def test_has_a_name_and_a_description() -> None:
    root = ET.fromstring(drawn(prefix="p"))
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


def test_colours_follow_the_page() -> None:
    svg = drawn()
    for colour in (INK, style_of("rogue").colour):
        assert f"var({css_variable(colour)})" in svg
        assert colour not in svg
    assert "font-family" not in svg


def test_text_stays_text() -> None:
    assert "a line</text>" in drawn()


def test_hostile_names_are_text() -> None:
    svg = drawn(label=HOSTILE)
    assert "<script" not in svg
    assert "<b>" not in svg
    root = ET.fromstring(svg)
    assert any(element.text == HOSTILE for element in root.iter())


def test_nothing_comes_from_outside_and_no_style_leaks_out() -> None:
    svg = drawn()
    assert "<style" not in svg
    assert "<image" not in svg
    assert set(re.findall(r'"(https?://[^"]+)"', svg)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_same_figure_same_bytes() -> None:
    assert drawn() == drawn()


def test_coordinates_are_short() -> None:
    root = ET.fromstring(drawn())
    paths = " ".join(element.get("d", "") for element in root.iter())
    assert paths.strip()
    assert not re.search(r"\.\d\d", paths)


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
