"""Figures as SVG, for a page or a file."""

import re
import xml.etree.ElementTree as ET

import numpy as np
from helpers.painted import painted
from matplotlib.figure import Figure

from rogue.reports.drawing.panels import figure_look
from rogue.reports.drawing.svg import css_variable, page_pictures, standalone_svg
from rogue.reports.transport_styles import INK, style_of

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
