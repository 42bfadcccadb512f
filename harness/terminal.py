"""Print messages, aligned columns and progress counts."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Self, TextIO

import typer

from rogue.workloads.printable import printable

if TYPE_CHECKING:
    from rich.progress import Progress


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of a table, two spaces apart."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def notify(*lines: str) -> None:
    """Print sentences, each on a line of its own; no text of another author in one begins a line."""
    typer.echo("\n".join(map(printable, (f"rogue: {lines[0]}", *lines[1:]))), err=True)


SHOWN_AFTER_SECONDS: Final = 1.0

Counted = Callable[[int, int, str], None]
"""Called with how many are done, of how many, and of what: `planning cells`."""


def in_silence(_done: int, _total: int, _what: str) -> None:
    """Show nothing."""


class CountDisplay:
    """Shows `planning cells 12 of 60` on a terminal; a context manager, and the function to be called.

    Nothing is shown in the first second, nothing where there is no terminal, and nothing is left at the end.
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
        if not self._stream.isatty() or self._clock() - self._started < SHOWN_AFTER_SECONDS:
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
    """Imported late: most of what is counted is over before it would be shown."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    count = TextColumn("{task.completed:.0f} of {task.total:.0f}")
    console = Console(file=stream)
    return Progress(TextColumn("{task.description}"), BarColumn(), count, console=console, transient=True)
