"""Makes SVG small without a visible change: short paths, no unused names, no empty groups."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Final

# Tenths of a point are finer than a screen shows; steps are taken between rounded places, so none adds up.
SCREEN_DECIMALS: Final = 1
_LINK: Final = "{http://www.w3.org/1999/xlink}href"
_TOKEN: Final = re.compile(r"([MLQCz])([^MLQCz]*)")
_UNDERSTOOD: Final = frozenset("MLQCz0123456789.-e \n")
_NUMBERS: Final = {"M": 2, "L": 2, "Q": 4, "C": 6, "z": 0}
_NO_TURN: Final = re.compile(r"rotate\(-?0 [^)]*\)\s*")
_DECIMAL: Final = re.compile(r"-?\d+\.\d+")
_REFERENCE: Final = re.compile(r"url\(#([^)]+)\)")

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
                element.set(key, _REFERENCE.sub(lambda match: f"url(#{names[match[1]]})", value))


def _references(element: ET.Element) -> Iterator[str]:
    for key, value in element.attrib.items():
        if key == _LINK:
            yield value.removeprefix("#")
        else:
            yield from _REFERENCE.findall(value)


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
