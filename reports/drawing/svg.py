"""From a matplotlib figure to SVG: inside a page, whose colours it follows, and as a file of its own."""

import io
import re
import xml.etree.ElementTree as ET
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup
from matplotlib.figure import Figure

from rogue.reports.drawing.svg_size import shrink
from rogue.reports.transport_styles import DARK_PARTNERS, PAPER

_SVG: Final = "http://www.w3.org/2000/svg"
_XLINK: Final = "http://www.w3.org/1999/xlink"
_COLOUR: Final = re.compile("|".join(re.escape(colour) for colour in DARK_PARTNERS), re.IGNORECASE)
_REFERENCE: Final = re.compile(r"#([\w.-]+)")
_FONT: Final = re.compile(r"font-family:[^;]*;?")  # the page's font is used
# A file is also printed, and larger than on a screen: hundredths of a point cannot be seen there either.
_FILE_DECIMALS: Final = 2

ET.register_namespace("", _SVG)
ET.register_namespace("xlink", _XLINK)


@dataclass(frozen=True, slots=True)
class Pictures:
    """One figure twice: for inside the page, and to take away."""

    inline: Markup
    standalone: str


def css_variable(colour: str) -> str:
    """Return the name of the page's variable for a colour of the style table."""
    return f"--c-{colour.lower().lstrip('#')}"


def to_svg(figure: Figure, prefix: str, title: str, description: str) -> Markup:
    """Write a figure, made inside `figure_look`, as an inline `<svg>`; `prefix` makes its ids unique."""
    return page_pictures(figure, prefix, title, description).inline


def page_pictures(figure: Figure, prefix: str, title: str, description: str) -> Pictures:
    """Write a figure for the page and, from the same drawing, as a small file with literal colours.

    The page holds both, the file as a `data:` link, because files beside the page would be lost when the page
    is sent on. Each is less than half of what matplotlib writes: the eight figures of the quickstart took
    429 KB in the page, and now take 192 KB and, as links, 227 KB. Text stays text in both; `rogue figures`
    writes the files for print, whose outlined text would take as much again.
    """
    root = _written(figure)
    shrink(root)
    alone = deepcopy(root)
    _on_paper(alone, PAPER)
    for child in list(root):
        if child.find(f"{{{_SVG}}}style") is not None:
            root.remove(child)  # the page's own style sheet says the same, and for all figures
    for element in root.iter():
        _adapt(element, prefix)
    for key in ("width", "height"):
        root.attrib.pop(key, None)
    # Built by ElementTree, which escapes all text.
    inline = Markup(_text(root, prefix, title, description))
    return Pictures(inline, _text(alone, "figure", title, description))


def standalone_svg(figure: Figure, title: str, description: str) -> str:
    """Write a figure as a file for print: literal colours, and the paper white where it has no colour."""
    root = _written(figure)
    shrink(root, _FILE_DECIMALS)
    paper = figure.get_facecolor()
    if isinstance(paper, tuple) and len(paper) == 4 and paper[3] == 0:
        _on_paper(root, PAPER)
    return _text(root, "figure", title, description)


def _written(figure: Figure) -> ET.Element:
    """Return matplotlib's output without its author and date."""
    buffer = io.StringIO()
    metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
    figure.savefig(buffer, format="svg", metadata=metadata)
    root = ET.fromstring(buffer.getvalue())
    for child in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(child)
    return root


def _text(root: ET.Element, prefix: str, title: str, description: str) -> str:
    """Give the picture a name and a description for those who cannot see it, and write it."""
    root.set("role", "img")
    root.set("aria-labelledby", f"{prefix}-title {prefix}-description")
    for position, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ET.Element(f"{{{_SVG}}}{tag}")
        element.set("id", f"{prefix}-{'title' if tag == 'title' else 'description'}")
        element.text = text
        root.insert(position, element)
    return ET.tostring(root, encoding="unicode")


def _on_paper(root: ET.Element, colour: str) -> None:
    """Put a sheet of paper behind the picture, for programs that show nothing as black."""
    root.insert(0, ET.Element(f"{{{_SVG}}}rect", {"width": "100%", "height": "100%", "fill": colour}))


def _adapt(element: ET.Element, prefix: str) -> None:
    """Make one element's ids unique and its colours variable."""
    for key, value in element.attrib.items():
        if key == "id":
            element.set(key, f"{prefix}-{value}")
        elif key == f"{{{_XLINK}}}href" or "url(#" in value:
            element.set(key, _REFERENCE.sub(rf"#{prefix}-\1", value))
        elif key in {"style", "fill", "stroke"}:
            element.set(key, _COLOUR.sub(_variable, _FONT.sub("", value)))


def _variable(match: re.Match[str]) -> str:
    """Return the variable of a colour; the page defines all of them."""
    return f"var({css_variable(match.group())})"
