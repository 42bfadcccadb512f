"""Print messages, documents, aligned columns, progress counts, and commands that a user can copy."""

import json
import logging
import shlex
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, TextIO

import typer

from rogue.workloads.printable import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

_LOGGER: Final = logging.getLogger("rogue")


def set_verbosity(level: int) -> None:
    """Set what standard error has: with DEBUG also log records, with WARNING no progress and no notes.

    Results, warnings and errors are printed at every level.
    """
    _LOGGER.setLevel(level)
    if level == logging.DEBUG and not _LOGGER.handlers:
        _LOGGER.addHandler(_LogLines())


class _LogLines(logging.Handler):
    """Prints records on standard error, with the milliseconds since the start."""

    def emit(self, record: logging.LogRecord) -> None:
        typer.echo(
            printable(f"[{record.relativeCreated:7.0f} ms] {record.name}: {record.getMessage()}"), err=True
        )


def is_quiet() -> bool:
    """True after --quiet."""
    return _LOGGER.level == logging.WARNING


def inform(*lines: str) -> None:
    """Print progress or a note on standard error, unless that is to be quiet."""
    if lines and not is_quiet():
        typer.echo("\n".join(map(printable, lines)), err=True)


def error_console() -> "Console":
    """Return the console of progress displays: standard error, unless that is to be quiet."""
    from rich.console import Console

    return Console(stderr=True, quiet=is_quiet())


def print_document(content: object) -> None:
    """Print one JSON document on standard output; infinite numbers and NaN become null."""
    text = json.dumps(content, default=_plain)
    typer.echo(json.dumps(json.loads(text, parse_constant=lambda _: None), indent=1))


def _plain(value: object) -> object:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


HEAD_COLUMNS_MAX: Final = 16
TABLE_COLUMNS_MIN: Final = 160
"""A table of numbers is at least this wide, also where standard error is a file."""


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table whose columns are two spaces apart."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table of numbers on standard error, its first column to the left; only heads wrap."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, text in enumerate(head):
        head_text = "\n".join(textwrap.wrap(printable(text), HEAD_COLUMNS_MAX))
        table.add_column(Text(head_text), justify="right" if place else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text("\n".join(map(printable, text.split("\n")))) for text in row))
    console = error_console()
    console.width = max(console.width, TABLE_COLUMNS_MIN)
    console.print(table)


def notify(*lines: str) -> None:
    """Print each sentence on its own line of standard error; quoted text never begins a line."""
    typer.echo("\n".join(map(printable, (f"rogue: {lines[0]}", *lines[1:]))), err=True)


PROGRAM: Final = "rogue"


def call_again(*words: object) -> str:
    """Return a shell command that works in this directory, with a path if `rogue` is not on PATH."""
    return shlex.join(printable(str(word)) for word in (_program(), *words))


def _program() -> str:
    """Return the installed command as it was called; for `python -m rogue` the command beside that python."""
    called = Path(sys.argv[0])
    command = called if called.name == PROGRAM else Path(sys.executable).parent / PROGRAM
    if shutil.which(PROGRAM) is not None or not command.exists():
        return PROGRAM
    return str(command.relative_to(Path.cwd()) if command.is_relative_to(Path.cwd()) else command)


SHOWN_AFTER_SECONDS: Final = 1.0

Counted = Callable[[int, int, str], None]
"""Called with the number that is done, the total, and the activity: `planning cells`."""


def in_silence(_done: int, _total: int, _what: str) -> None:
    """Show nothing."""


class CountDisplay:
    """Shows `planning cells 12 of 60` on a terminal; a context manager, and a `Counted`.

    It shows nothing in the first second or without a terminal, and leaves nothing at the end.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._started = clock()
        self._progress: Progress | None = None
        self._shown = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def __call__(self, done: int, total: int, what: str) -> None:
        """Show how far it got."""
        if is_quiet() or not self._stream.isatty() or self._clock() - self._started < SHOWN_AFTER_SECONDS:
            return
        if self._progress is None:
            self._progress = _bar(self._stream)
            self._progress.start()
        if self._shown != what:
            for task in self._progress.task_ids:
                self._progress.remove_task(task)
            self._progress.add_task(what, total=total)
            self._shown = what
        self._progress.update(self._progress.task_ids[0], completed=done, total=total)


def _bar(stream: TextIO) -> "Progress":
    """Return a progress bar; rich is imported here, because most counts are over before they are shown."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    count = TextColumn("{task.completed:.0f} of {task.total:.0f}")
    console = Console(file=stream)
    return Progress(TextColumn("{task.description}"), BarColumn(), count, console=console, transient=True)
