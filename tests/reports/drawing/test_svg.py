"""Figures as inline SVG: no clash, no fixed colour, nothing from outside, no surprise from a name."""

import re
import xml.etree.ElementTree as ET

from matplotlib.figure import Figure

from rogue.reports.drawing.marks import figure_look
from rogue.reports.drawing.svg import css_variable, to_svg
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
