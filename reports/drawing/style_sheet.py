"""A matplotlib style sheet that an author brings along: sizes, fonts, colours and lines, and nothing else.

A style sheet can name programs, directories, TeX commands and files. What is not in ALLOWED is refused by
name, so that a sheet from a stranger changes how figures look and touches nothing else.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import matplotlib
from matplotlib import font_manager, rc_context

from rogue.reports.errors import ReportError
from rogue.reports.quantities import joined

BYTES_MAX: Final = 100_000
_PREFIXES: Final = ("font.", "lines.", "axes.", "grid.", "legend.", "xtick.", "ytick.", "patch.", "errorbar.")
_SINGLE: Final = ("text.color", "figure.facecolor", "figure.edgecolor", "hatch.linewidth", "hatch.color")
# Colours of transports come from the report's table; the others change what labels say, or in which language.
_REFUSED: Final = (
    "axes.prop_cycle",
    "axes.formatter.",
    "axes.unicode_minus",
    "axes3d.",
    "font.enable_last_resort",
)
ALLOWED: Final = frozenset(
    key
    for key in matplotlib.rcParamsDefault
    if (key.startswith(_PREFIXES) or key in _SINGLE) and not key.startswith(_REFUSED)
)
# matplotlib's parameters by names that are only known when they are read.
_CURRENT: Final[Any] = matplotlib.rcParams
_FAMILIES: Final = ("serif", "sans-serif", "cursive", "fantasy", "monospace")
_TYPE_SIZES: Final = (
    "axes.titlesize",
    "axes.labelsize",
    "legend.fontsize",
    "xtick.labelsize",
    "ytick.labelsize",
)


@dataclass(frozen=True, slots=True)
class StyleSheet:
    """The settings of one sheet, checked."""

    settings: Mapping[str, object]

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Put the sheet over the look of the moment; a new `font.size` takes the other sizes along."""
        settings: dict[Any, Any] = dict(self.settings)
        size = settings.get("font.size")
        if isinstance(size, int | float):
            factor = size / float(_CURRENT["font.size"])
            ours = {key: _CURRENT[key] for key in _TYPE_SIZES}
            settings = {key: at * factor for key, at in ours.items() if not isinstance(at, str)} | settings
        with rc_context(settings):
            yield


NO_SHEET: Final = StyleSheet({})


def read_style_sheet(path: Path) -> StyleSheet:
    """Read and check a sheet; a ReportError says which line is wrong and what may stand there."""
    checked: Any = matplotlib.RcParams()
    settings: dict[str, object] = {}
    for number, line in enumerate(_text(path).splitlines(), start=1):
        content = _without_comment(line)
        if not content:
            continue
        key, colon, value = (part.strip() for part in content.partition(":"))
        place = f"{path}:{number}"
        if not colon or not value:
            raise ReportError(f"{place}: got {content!r:.60}, expected `key: value`, such as `font.size: 8`.")
        _check_key(place, key)
        if value.startswith('"') and value.endswith('"') and len(value) > 1:
            value = value[1:-1]
        try:
            checked[key] = value
        except (ValueError, TypeError, SyntaxError, RecursionError) as error:
            why = str(error).splitlines()[0].rstrip(".")
            raise ReportError(f"{place}: {key}: got {value!r:.60}, expected another value: {why}.") from error
        settings[key] = checked[key]
    return StyleSheet(settings | _installed_fonts(path, settings))


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            what = (
                "a directory" if path.is_dir() else "no such file" if not path.exists() else "no regular file"
            )
            raise ReportError(f"--style: {path}: got {what}, expected a matplotlib style sheet (.mplstyle).")
        if path.stat().st_size > BYTES_MAX:
            raise ReportError(f"--style: {path}: got more than {BYTES_MAX} bytes, expected a style sheet.")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ReportError(f"--style: {path}: it cannot be read: {error.strerror}; choose another.") from error
    except UnicodeDecodeError as error:
        raise ReportError(
            f"--style: {path}: got bytes that are not UTF-8, expected a style sheet."
        ) from error


def _without_comment(line: str) -> str:
    """Return a line up to its first `#` that is not inside double quotes."""
    quoted = False
    for place, character in enumerate(line):
        quoted ^= character == '"'
        if character == "#" and not quoted:
            return line[:place].strip()
    return line.strip()


def _check_key(place: str, key: str) -> None:
    if key in ALLOWED:
        return
    if key in matplotlib.rcParamsDefault:
        advice = _instead(key)
        raise ReportError(
            f"{place}: got {key}, expected settings of fonts, sizes, colours, lines, axes, ticks, grid or"
            f" legend; {advice}."
        )
    close = get_close_matches(key, sorted(ALLOWED), 1)
    advice = f"did you mean {close[0]}?" if close else "matplotlib's documentation lists them."
    raise ReportError(f"{place}: got {key!r:.60}, expected a setting of matplotlib; {advice}")


def _instead(key: str) -> str:
    if key in {"figure.figsize", "figure.dpi", "savefig.dpi"}:
        return "the width is given by --width"
    if key == "axes.prop_cycle":
        return "colours of transports are the same in all figures; leave the line out"
    return "leave the line out"


def _installed_fonts(path: Path, settings: Mapping[str, object]) -> dict[str, object]:
    """Return the families that the sheet asks for and this computer has; having none is an error."""
    if not any(key == "font.family" or key.removeprefix("font.") in _FAMILIES for key in settings):
        return {}
    current: dict[str, object] = {"font.family": ["sans-serif"], "font.sans-serif": ["DejaVu Sans"]}
    asked: list[str] = []
    for family in _names(settings.get("font.family", current["font.family"])):
        name = f"font.{family}"
        known = settings.get(name, current.get(name, _CURRENT.get(name)))
        asked += _names(known) if family in _FAMILIES else [family]
    installed = set(font_manager.get_font_names())
    found = [family for family in asked if family in installed]
    if not found:
        some = joined(sorted(installed)[:5])
        raise ReportError(
            f"{path}: font.family: got {joined(asked[:5])}, expected a font of this computer, such as {some};"
            " install the font or name another."
        )
    return {"font.family": found}


def _names(value: object) -> list[str]:
    return [str(name) for name in value] if isinstance(value, list | tuple) else [str(value)]
