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

    def difference(self) -> str:
        """That it has not been made, in words."""
        place = " ".join(f"{each}:" for each in self.context)
        got, expected = (f"`{text}`" if text else "nothing" for text in (self.before, self.after))
        return f"{place} got {got}, expected {expected}".lstrip()


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
