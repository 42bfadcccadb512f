"""Which files a compiler read, in its own words: no macro and no spelling of `#include` hides one there."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

_NAME: Final = re.compile(r"(?:\\.|[^\\\s])+")
_SEARCHED: Final = re.compile(
    r"^#include <\.\.\.> search starts here:\n(.*?)^End of search list\.$", re.M | re.S
)
_FRAMEWORKS: Final = " (framework directory)"
_MARKER: Final = re.compile(r'^# (?P<line>\d+) "(?P<file>(?:[^"\\]|\\.)*)"(?P<flags>(?: \d)*)$', re.M)
_ENTERED, _BACK = "1", "2"


def files_read(rule: str) -> Iterator[str]:
    """The prerequisites of a rule for `make`, as `-MD` writes it."""
    for name in _NAME.findall(rule.replace("\\\n", " ").partition(": ")[2]):
        yield re.sub(r"\\(.)", r"\1", name).replace("$$", "$")


def searched(said: str) -> list[Path]:
    """Where a compiler that was called with `-v` looks for `<...>`."""
    found = _SEARCHED.search(said)
    lines = found[1].splitlines() if found else []
    return [Path(line.strip().removesuffix(_FRAMEWORKS)).resolve() for line in lines]


def foreign(names: Iterator[str], directory: Path, known: Sequence[Path]) -> Path | None:
    """The first file that lies in no known directory, and is none itself; names are seen from a directory."""
    for path in ((directory / name).resolve() for name in names):
        if not any(path.is_relative_to(each) for each in known):
            return path
    return None


def line_that_includes(path: Path, preprocessed: str, text: Path) -> int | None:
    """The line of a text that brings a file in, by what its preprocessing left."""
    is_inside = False
    for marker in _MARKER.finditer(preprocessed):
        at, flags = (text.parent / marker["file"]).resolve(), marker["flags"].split()
        if _ENTERED in flags and at == path:
            is_inside = True
        elif is_inside and _BACK in flags and at == text.resolve():
            return int(marker["line"]) - 1
    return None
