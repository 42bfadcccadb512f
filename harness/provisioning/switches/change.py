"""Lines of a switch's configuration: requested, present, and to be changed."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Self

Context = tuple[str, ...]
"""Lines that open the mode, such as `interface Ethernet1`; empty for the top."""
Configuration = Mapping[Context, tuple[str, ...]]
"""The lines in each context, including lines that open a mode."""
_COMMENTS: Final = ("!", "#")


@dataclass(frozen=True, slots=True)
class Line:
    """A requested line."""

    context: Context
    text: str
    key: str
    """The beginning of the line; the line replaces another line that begins so."""
    off: str
    """The command that removes the line."""
    opens: bool = False
    """True if the line opens a mode."""
    is_default: bool = False
    """True if the line is the switch's default: only another line with its key is removed."""


@dataclass(frozen=True, slots=True)
class Change:
    """Replace, add or remove one line; swapping the two lines undoes it."""

    context: Context
    after: str | None
    before: str | None
    off: str
    """The command that removes the line if no other line replaces it."""
    opens: bool = False

    def reversed(self) -> Self:
        """Return the change that undoes this one."""
        return type(self)(self.context, self.before, self.after, self.off)


def sentences(changes: Iterable[Change]) -> list[str]:
    """Return sentences about missing changes, joined for lines of one place and for equal places."""
    lines: dict[tuple[Context, str], list[Change]] = {}
    for number, each in enumerate(changes):
        kind = "missing" if each.before is None else "unwanted" if each.after is None else str(number)
        lines.setdefault((each.context, kind), []).append(each)
    places: dict[tuple[int, Context, str], list[str]] = {}
    for (context, _), own in lines.items():
        got, expected = (_quoted(each.before for each in own), _quoted(each.after for each in own))
        place = (len(context), context[:-1], f"got {got}, expected {expected}")
        places.setdefault(place, []).extend(context[-1:])
    return [_sentence(parents, names, words) for (_, parents, words), names in places.items()]


def _quoted(texts: Iterable[str | None]) -> str:
    return ", ".join(f"`{text}`" for text in texts if text) or "nothing"


def _sentence(parents: Context, names: Iterable[str], words: str) -> str:
    place = [*parents, ", ".join(names)]
    return " ".join([*(f"{each}:" for each in place if each), words])


def line_with_key(configuration: Configuration, context: Context, key: str) -> str | None:
    """Return the line of a context that begins with a key or with `no` and the key; None without one."""
    lines = configuration.get(context, ())
    begins = (line for line in lines if line in (key, f"no {key}") or line.startswith(f"{key} "))
    return next(begins, None)


def requested_changes(
    lines: Iterable[Line], found: Configuration, unwanted: Iterable[Change] = ()
) -> list[Change]:
    """Return the changes after which the configuration has all lines; unwanted lines are removed first."""
    gone, changes = [], []
    for line in lines:
        before = line_with_key(found, line.context, line.key)
        if before == line.text:
            continue
        if not line.is_default:
            changes.append(Change(line.context, line.text, before, line.off, line.opens))
        elif before is not None:
            gone.append(Change(line.context, None, before, line.off))
    return [*gone, *unwanted, *changes]


def each_line(text: str) -> Iterator[tuple[Context, str]]:
    """Yield each line of a text with its context, which the indentation shows; comments are left out."""
    path: list[tuple[int, str]] = []
    for line in text.splitlines():
        words = line.strip()
        if not words or words.startswith(_COMMENTS):
            continue
        indent = len(line) - len(line.lstrip())
        while path and path[-1][0] >= indent:
            path.pop()
        yield tuple(each for _, each in path), words
        path.append((indent, words))


def indented(text: str) -> Configuration:
    """Return the lines of an indented text by context."""
    found: dict[Context, list[str]] = {}
    for context, line in each_line(text):
        found.setdefault(context, []).append(line)
    return {context: tuple(lines) for context, lines in found.items()}
