"""Write a matplotlib figure as SVG, for a page or a file."""

import io
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from rogue.reports.transport_styles import DARK_PARTNERS, PAPER

_SVG: Final = "http://www.w3.org/2000/svg"
_LINK: Final = "{http://www.w3.org/1999/xlink}href"
_COLOUR: Final = re.compile("|".join(re.escape(colour) for colour in DARK_PARTNERS), re.IGNORECASE)
_REFERENCE: Final = re.compile(r"#([\w.-]+)")
_FONT: Final = re.compile(r"font-family:[^;]*;?")  # the page's font is used
_DECIMAL: Final = re.compile(r"-?\d+\.\d+")

ET.register_namespace("", _SVG)
ET.register_namespace("xlink", "http://www.w3.org/1999/xlink")


@dataclass(frozen=True, slots=True)
class Pictures:
    """One figure twice: for inside the page, and as a file."""

    inline: Markup
    standalone: str


def css_variable(colour: str) -> str:
    """Return the name of the page's variable for a colour of the style table."""
    return f"--c-{colour.lower().lstrip('#')}"


def to_svg(figure: Figure, prefix: str, title: str, description: str) -> Markup:
    """Write a figure, made inside `figure_look`, as an inline `<svg>`; `prefix` makes its ids unique."""
    return page_pictures(figure, prefix, title, description).inline


def page_pictures(figure: Figure, prefix: str, title: str, description: str) -> Pictures:
    """Write a figure for the page, and from the same drawing as a file with literal colours on white.

    Coordinates have tenths of a point, which are finer than a screen shows: both are half as large for it.
    """
    root = _written(figure)
    for element in root.iter():
        if "d" in element.attrib:
            element.set("d", _short(element.attrib["d"]))
    alone = ET.fromstring(ET.tostring(root))
    _on_paper(alone)
    for child in list(root):
        if child.find(f"{{{_SVG}}}style") is not None:
            root.remove(child)  # the page's style sheet says the same, and for all figures
    for element in root.iter():
        _adapt(element, prefix)
    for key in ("width", "height"):
        root.attrib.pop(key, None)
    inline = Markup(_text(root, prefix, title, description))  # ElementTree escapes all text
    return Pictures(inline, _text(alone, "figure", title, description))


def standalone_svg(figure: Figure, title: str, description: str) -> str:
    """Write a figure as a file for print: literal colours, and the paper white where it has no colour."""
    root = _written(figure)
    paper = figure.get_facecolor()
    if isinstance(paper, tuple) and len(paper) == 4 and paper[3] == 0:
        _on_paper(root)
    return _text(root, "figure", title, description)


def _written(figure: Figure) -> ET.Element:
    """Return matplotlib's output without its author and date."""
    if engine := figure.get_layout_engine():  # once, and not again in each of the two passes of a file
        engine.execute(figure)
        figure.set_layout_engine("none")
    buffer = io.StringIO()
    metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
    canvas: Any = FigureCanvasSVG(figure)
    canvas.print_svg(buffer, metadata=metadata)  # `savefig` would draw twice
    root = ET.fromstring(buffer.getvalue())
    for child in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(child)
    return root


def _short(path: str) -> str:
    """Round the coordinates of a path, and leave out spaces, which a link writes as three characters."""
    rounded = _DECIMAL.sub(lambda number: f"{float(number.group()):.1f}".removesuffix(".0"), path)
    return re.sub(r"\s+", ",", re.sub(r"\s*([a-zA-Z])\s*", r"\1", rounded.strip()))


def _text(root: ET.Element, prefix: str, title: str, description: str) -> str:
    """Give the picture a name and a description for readers who cannot see it, and write it."""
    root.set("role", "img")
    root.set("aria-labelledby", f"{prefix}-title {prefix}-description")
    for position, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ET.Element(f"{{{_SVG}}}{tag}")
        element.set("id", f"{prefix}-{'title' if tag == 'title' else 'description'}")
        element.text = text
        root.insert(position, element)
    return ET.tostring(root, encoding="unicode")


def _on_paper(root: ET.Element) -> None:
    """Put a white sheet behind the picture; some programs show a transparent one on black."""
    root.insert(0, ET.Element(f"{{{_SVG}}}rect", {"width": "100%", "height": "100%", "fill": PAPER}))


def _adapt(element: ET.Element, prefix: str) -> None:
    """Make one element's ids unique and its colours variable."""
    for key, value in element.attrib.items():
        if key == "id":
            element.set(key, f"{prefix}-{value}")
        elif key == _LINK or "url(#" in value:
            element.set(key, _REFERENCE.sub(rf"#{prefix}-\1", value))
        elif key in {"style", "fill", "stroke"}:
            element.set(key, _COLOUR.sub(_variable, _FONT.sub("", value)))


def _variable(match: re.Match[str]) -> str:
    """Return the variable of a colour; the page defines all of them."""
    return f"var({css_variable(match.group())})"
