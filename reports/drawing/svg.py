"""Write a matplotlib figure as small SVG, for a page or a file."""

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup
from matplotlib.figure import Figure

from rogue.reports.transport_styles import DARK_PARTNERS, PAPER

# Tenths of a point are finer than a screen shows; steps are taken between rounded places, so none adds up.
SCREEN_DECIMALS: Final = 1
_LINK: Final = "{http://www.w3.org/1999/xlink}href"
_TOKEN: Final = re.compile(r"([MLQCz])([^MLQCz]*)")
_UNDERSTOOD: Final = frozenset("MLQCz0123456789.-e \n")
_NUMBERS: Final = {"M": 2, "L": 2, "Q": 4, "C": 6, "z": 0}
_NO_TURN: Final = re.compile(r"rotate\(-?0 [^)]*\)\s*")
_DECIMAL: Final = re.compile(r"-?\d+\.\d+")
_ID_REFERENCE: Final = re.compile(r"url\(#([^)]+)\)")

Point = tuple[int, int]


def shrink(root: ET.Element, decimals: int = SCREEN_DECIMALS) -> None:
    """Rewrite an SVG of matplotlib in place."""
    _shorten_names(root)
    for element in root.iter():
        if "d" in element.attrib:
            element.set("d", short_path(element.attrib["d"], decimals))
        for key in ("x", "y"):
            if key in element.attrib:
                element.set(key, _short_number(element.attrib[key], decimals))
        if element.tag.endswith("}text") and "transform" in element.attrib:
            turned = _NO_TURN.sub("", element.attrib.pop("transform"))
            if turned:
                element.set("transform", _DECIMAL.sub(lambda n: _short_number(n.group(), decimals), turned))
        if "style" in element.attrib:
            element.set("style", re.sub(r"\s*([;:])\s*", r"\1", element.attrib["style"]).strip("; "))
        if not (element.text or "").strip():
            element.text = None
        element.tail = None
    _share_styles(root)
    _open_groups(root)


def short_path(path: str, decimals: int = SCREEN_DECIMALS) -> str:
    """Write a path of absolute M, L, Q, C and z in relative steps with few digits; any other as it is."""
    if not set(path) <= _UNDERSTOOD or _TOKEN.sub("", path).strip():
        return path
    here, start, parts = (0, 0), (0, 0), _Steps(decimals)
    for command, text in _TOKEN.findall(path):
        numbers = [round(float(number) * 10**decimals) for number in text.split()]
        if len(numbers) != _NUMBERS[command]:
            return path
        points = list(zip(numbers[::2], numbers[1::2], strict=True))
        steps = [(x - here[0], y - here[1]) for x, y in points]
        parts.add(command.lower(), steps)
        here = start if command == "z" else points[-1]
        start = here if command == "M" else start
    return parts.text()


class _Steps:
    """The steps of a path so far; straight ones that go on in the same direction become one."""

    def __init__(self, decimals: int) -> None:
        self._decimals = decimals
        self._steps: list[tuple[str, list[int]]] = []

    def add(self, command: str, steps: list[Point]) -> None:
        if command == "l":
            ((across, up),) = steps
            follows_move = not self._steps or self._steps[-1][0] == "m"
            if (across, up) == (0, 0) and not follows_move:
                return
            command = "h" if not up else "v" if not across else "l"
            numbers = [across or up] if command != "l" else [across, up]
            if command != "l" and self._steps and self._steps[-1][0] == command:
                before = self._steps[-1][1][0]
                if (before > 0) == (numbers[0] > 0):
                    self._steps[-1] = (command, [before + numbers[0]])
                    return
        else:
            numbers = [number for step in steps for number in step]
        self._steps.append((command, numbers))

    def text(self) -> str:
        written, last = "", ""
        for command, numbers in self._steps:
            implied = "l" if last == "m" else last
            written += "" if command == implied and command != "z" else command
            for number in numbers:
                text = _decimal(number, self._decimals)
                written += text if not written or written[-1].isalpha() or text[0] == "-" else f" {text}"
            last = command
        return written


def _decimal(number: int, decimals: int) -> str:
    """Write a whole number of tenths or hundredths with as few characters as there can be."""
    whole, part = divmod(abs(number), 10**decimals)
    digits = f"{whole or ''}.{part:0{decimals}d}".rstrip("0") if part else str(whole)
    return f"-{digits}" if number < 0 else digits


def _short_number(text: str, decimals: int) -> str:
    try:
        return _decimal(round(float(text) * 10**decimals), decimals)
    except ValueError:
        return text


def _shorten_names(root: ET.Element) -> None:
    """Give short names to what is referred to, and none to the rest."""
    used = {name: "" for element in root.iter() for name in _references(element)}
    names = {name: f"m{number}" for number, name in enumerate(used)}
    for element in root.iter():
        for key, value in list(element.attrib.items()):
            if key == "id":
                del element.attrib[key]
                if value in names:
                    element.set(key, names[value])
            elif key == _LINK:
                element.set(key, f"#{names[value.removeprefix('#')]}")
            elif "url(#" in value:
                element.set(key, _ID_REFERENCE.sub(lambda match: f"url(#{names[match[1]]})", value))


def _references(element: ET.Element) -> Iterator[str]:
    for key, value in element.attrib.items():
        if key == _LINK:
            yield value.removeprefix("#")
        else:
            yield from _ID_REFERENCE.findall(value)


def _share_styles(parent: ET.Element) -> None:
    """Let a group say what all of its children would say alike."""
    for child in parent:
        _share_styles(child)
    if parent.tag.endswith("}g") and len(parent) > 1:
        for key in ("style", "clip-path"):
            values = {child.get(key) for child in parent}
            if len(values) == 1 and None not in values and key not in parent.attrib:
                parent.set(key, values.pop() or "")
                for child in parent:
                    del child.attrib[key]


def _open_groups(parent: ET.Element) -> None:
    """Put the children of a group that says nothing in its place."""
    children: list[ET.Element] = []
    for child in list(parent):
        _open_groups(child)
        is_empty = child.tag.endswith("}g") and not child.attrib
        children += list(child) if is_empty else [child]
    parent[:] = children


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
