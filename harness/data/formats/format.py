"""Describe a format of another simulator: conversion into a file of ours, and perhaps back."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from pydantic_core import PydanticCustomError

from rogue.harness.data.source import DataSource
from rogue.workloads.traffic.trace import TraceRow

HEAD: Final = "start_ns,src,dst,size_bytes"
NUMBER_LENGTH_MAX: Final = 15
NAMES_MAX: Final = 5
"""In a note."""


@dataclass(slots=True)
class Converted:
    """A file's text in another format, with notes on what was lost."""

    text: str
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Format:
    """A format of another simulator; a mistake in a file names its line."""

    meaning: str
    becomes: str
    """What of ours it becomes, such as a trace."""
    read: Callable[[DataSource], Converted]
    """From the format to ours."""
    write: Callable[[DataSource], Converted] | None = None
    """From ours to the format; None if there is no conversion."""
    start_units: Mapping[str, "Format"] = field(default_factory=dict)
    """The same format by the unit of its starts, for `--start-unit`, if files do not say their unit."""


class Line(NamedTuple):
    """The words of a line, and its number."""

    words: Sequence[str]
    number: int


def lines_of(source: DataSource, separators: str = "") -> list[Line]:
    """Return the words of each line, without blank lines and comments (from # to the end).

    Blanks and tabs separate words, and so do the characters in `separators`.
    """
    text = source.text.translate(dict.fromkeys(map(ord, separators), " "))
    without_comments = (line.partition("#")[0] for line in text.split("\n"))
    lines = (Line(line.split(), number) for number, line in enumerate(without_comments, start=1))
    return [line for line in lines if line.words]


def wrong(
    source: DataSource, line: int, got: str, expected: str, advice: str = "correct the file"
) -> PydanticCustomError:
    """Return the mistake in a line; `advice` is given if the other simulator accepts the line."""
    return source.wrong(got, expected, advice, f"line {line}")


def whole(source: DataSource, line: int, word: str, what: str) -> int:
    """Return a word as a whole number from 0."""
    if not word.isascii() or not word.isdigit() or len(word) > NUMBER_LENGTH_MAX:
        raise wrong(source, line, word, f"{what}, a whole number from 0")
    return int(word)


def trace_text(rows: Iterable[TraceRow]) -> str:
    """Return a CSV file of these rows, sorted by start, with a column for groups if there are any."""
    ordered = sorted(rows, key=lambda row: row.start_ns)
    has_groups = any(row.group for row in ordered)
    lines = [HEAD + ",group" if has_groups else HEAD]
    for row in ordered:
        line = f"{row.start_ns},{row.source},{row.destination},{row.size_bytes}"
        lines.append(f"{line},{row.group}" if has_groups else line)
    return "\n".join(lines) + "\n"


def class_group(word: str, number: int, numbers: set[int]) -> str | None:
    """Return the group of a row by its class; None where all rows have one."""
    return f"{word}{number}" if len(numbers) > 1 else None


def class_of(group: str | None, word: str, usual: int) -> int:
    """Return the class of a group, or the usual class."""
    number = (group or "").removeprefix(word)
    return int(number) if number != group and number.isascii() and number.isdigit() else usual


def notes_on_groups(groups: Iterable[str], word: str, usual: int) -> list[str]:
    """Return a note about the names of groups that are lost."""
    lost = [group for group in groups if class_of(group, word, -1) < 0]
    more = f" and {len(lost) - NAMES_MAX} more" if len(lost) > NAMES_MAX else ""
    names = f"{', '.join(lost[:NAMES_MAX])}{more}"
    return [f"groups that are no {word}N become {word}{usual}: {names}"] if lost else []
