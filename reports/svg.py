"""From a matplotlib figure to SVG inside a page: small, unique ids, colours that follow the page."""

import io
import re
import xml.etree.ElementTree as ET
from typing import Final

from markupsafe import Markup
from matplotlib.figure import Figure

from reports.style import DARK_PARTNERS

_SVG: Final = "http://www.w3.org/2000/svg"
_XLINK: Final = "http://www.w3.org/1999/xlink"
_COLOUR: Final = re.compile("|".join(re.escape(colour) for colour in DARK_PARTNERS), re.IGNORECASE)
_LONG_NUMBER: Final = re.compile(r"-?\d+\.\d{2,}")
_REFERENCE: Final = re.compile(r"#([\w.-]+)")
_FONT: Final = re.compile(r"font-family:[^;]*;? ?")  # the page's font is used


def css_variable(colour: str) -> str:
    """Return the name of the page's variable that stands for a colour of the style table."""
    return f"--c-{colour.lower().lstrip('#')}"


def to_svg(figure: Figure, prefix: str, title: str, description: str) -> Markup:
    """Write a figure, made inside `figure_look`, as an inline `<svg>`; `prefix` makes its ids unique."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _XLINK)
    root = ET.fromstring(buffer.getvalue())
    for child in list(root):
        if child.tag == f"{{{_SVG}}}metadata" or child.find(f"{{{_SVG}}}style") is not None:
            root.remove(child)  # the page's own style sheet says the same, and for all figures
    for element in root.iter():
        _adapt(element, prefix)
    _name(root, prefix, title, description)
    return Markup(ET.tostring(root, encoding="unicode"))  # built by ElementTree, which escapes all text


def standalone_svg(figure: Figure, title: str, description: str) -> str:
    """Write a figure as a file of its own, with a name, literal colours and, on no paper, white paper."""
    buffer = io.StringIO()
    paper = figure.get_facecolor()
    is_clear = isinstance(paper, tuple) and len(paper) == 4 and paper[3] == 0
    metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
    figure.savefig(
        buffer, format="svg", metadata=metadata, facecolor="white" if is_clear else paper, edgecolor="none"
    )
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _XLINK)
    root = ET.fromstring(buffer.getvalue())
    size = root.get("width", ""), root.get("height", "")
    _name(root, "figure", title, description)
    root.set("width", size[0])
    root.set("height", size[1])
    return f"{ET.tostring(root, encoding='unicode')}\n"


def _adapt(element: ET.Element, prefix: str) -> None:
    """Make one element's ids unique, its colours variable and its numbers short."""
    for key, value in element.attrib.items():
        if key == "id":
            element.set(key, f"{prefix}-{value}")
        elif key == f"{{{_XLINK}}}href" or "url(#" in value:
            element.set(key, _REFERENCE.sub(rf"#{prefix}-\1", value))
        elif key in {"d", "x", "y", "transform", "points"}:
            element.set(key, _LONG_NUMBER.sub(_short, value).replace("\n", ""))
        elif key in {"style", "fill", "stroke"}:
            element.set(key, _COLOUR.sub(_variable, _FONT.sub("", value)))


def _name(root: ET.Element, prefix: str, title: str, description: str) -> None:
    """Give the picture a name and a description for those who cannot see it."""
    for key in ("width", "height"):
        root.attrib.pop(key, None)
    root.set("role", "img")
    root.set("aria-labelledby", f"{prefix}-title {prefix}-description")
    for position, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ET.Element(f"{{{_SVG}}}{tag}")
        element.set("id", f"{prefix}-{'title' if tag == 'title' else 'description'}")
        element.text = text
        root.insert(position, element)


def _short(match: re.Match[str]) -> str:
    return f"{float(match.group()):.1f}"


def _variable(match: re.Match[str]) -> str:
    colour = match.group().lower()
    return f"var({css_variable(colour)},{colour})"
