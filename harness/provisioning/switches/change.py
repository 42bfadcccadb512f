"""Lines of a switch's configuration: wanted, present, and to be changed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Self

Context = tuple[str, ...]
"""Lines that lead to a mode of the command line, such as `interface Ethernet1`; empty for the top."""
Configuration = Mapping[Context, tuple[str, ...]]
"""What stands in each context, a line that leads to another context included."""
_COMMENTS: Final = ("!", "#")


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is wanted."""

    context: Context
    text: str
    key: str
    """What it begins with, and a line that it replaces, too."""
    off: str
    """The command that takes it away."""
    opens: bool = False
    """Whether it leads to a mode of its own."""


@dataclass(frozen=True, slots=True)
class Change:
    """One line instead of another, or of none; the same the other way around undoes it."""

    context: Context
    after: str | None
    before: str | None
    off: str
    """The command that takes away what stands there, where nothing comes in its place."""
    opens: bool = False

    @property
    def command(self) -> str:
        """The command to the switch, in the line's context."""
        return self.off if self.after is None else self.after

    def reversed(self) -> Self:
        """The change that undoes it."""
        return type(self)(self.context, self.before, self.after, self.off)


def sentences(changes: Iterable[Change]) -> list[str]:
    """That they have not been made: one sentence for all lines of a place, and for all places alike."""
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


def standing(configuration: Configuration, context: Context, key: str) -> str | None:
    """The line that begins so, in a context, or that says `no` to it; None if there is none."""
    lines = configuration.get(context, ())
    begins = (line for line in lines if line in (key, f"no {key}") or line.startswith(f"{key} "))
    return next(begins, None)


def wanted_changes(lines: Iterable[Line], found: Configuration) -> list[Change]:
    """What has to change so that all lines stand there."""
    changes = []
    for line in lines:
        before = standing(found, line.context, line.key)
        if before != line.text:
            changes.append(Change(line.context, line.text, before, line.off, line.opens))
    return changes


def indented(text: str) -> dict[Context, tuple[str, ...]]:
    """A configuration whose indentation shows its contexts."""
    found: dict[Context, list[str]] = {}
    path: list[tuple[int, str]] = []
    for line in text.splitlines():
        words = line.strip()
        if not words or words.startswith(_COMMENTS):
            continue
        indent = len(line) - len(line.lstrip())
        while path and path[-1][0] >= indent:
            path.pop()
        found.setdefault(tuple(each for _, each in path), []).append(words)
        path.append((indent, words))
    return {context: tuple(lines) for context, lines in found.items()}
