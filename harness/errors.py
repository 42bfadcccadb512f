"""Define exit codes, errors by whose fault they are, and the handling of signals that end a command."""

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from types import FrameType

from rogue.workloads.printable import printable


class ExitCode(IntEnum):
    """Exit codes; documented in `rogue --help`."""

    OK = 0
    CELLS_FAILED = 1
    """The run exists, but at least one cell has no result."""
    USAGE = 2
    """The command or the experiment file is wrong; nothing was written."""
    REPORT_FAILED = 3
    """The results exist, the report does not."""
    NOTHING_TO_RUN = 4
    """No cell of the plan can run on this testbed."""
    DAMAGED = 5
    """A file of the run is missing, changed or added."""
    STORAGE = 6
    """The run directory cannot be written."""
    TESTBED = 7
    """Machines or nodes of a testbed fail."""
    MEMORY = 8
    """This computer has too little memory, or a limit leaves too little."""
    REGRESSION = 9
    """A run is worse than its baseline, or a control has a new weakness."""
    BUG = 70
    """Our mistake."""
    INTERRUPTED = 130
    """Ctrl-C; finished cells are kept."""
    TERMINATED = 143
    """SIGTERM or SIGHUP; finished cells are kept."""


class HarnessError(Exception):
    """Base of all errors whose message is sentences for the user, one per line.

    Quoted text of other authors never begins a line.
    """

    exit_code = ExitCode.BUG

    def __init__(self, *lines: object) -> None:
        self.lines = tuple(printable(str(line)) for line in lines)
        super().__init__(*self.lines)

    def __str__(self) -> str:
        return "\n".join(self.lines)


class UsageError(HarnessError):
    """The command names something that does not exist, or options that exclude each other."""

    exit_code = ExitCode.USAGE


class BusyRunError(UsageError):
    """Another process works on the run."""


class StorageError(HarnessError):
    """The run directory cannot be written or read."""

    exit_code = ExitCode.STORAGE


class DamagedRunError(HarnessError):
    """Files of a run are not as the run wrote them."""

    exit_code = ExitCode.DAMAGED


class ClusterLostError(HarnessError):
    """The cluster that runs the cells is gone; the other cells do not run."""

    exit_code = ExitCode.TESTBED


class NothingToRunError(HarnessError):
    """The testbed supports no cell of the plan."""

    exit_code = ExitCode.NOTHING_TO_RUN


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in an experiment file."""

    place: str
    """File and line, or the option."""
    key: str
    """Dotted path with list indices; empty when the file itself is the mistake."""
    got: str
    expected: str
    advice: str

    def __str__(self) -> str:
        key = f"{_cut(self.key)}: " if self.key else ""
        return printable(f"{self.place}: {key}got {_cut(self.got)}, expected {self.expected}; {self.advice}.")


QUOTED_LENGTH_MAX = 300
"""Characters of a quoted value."""


def _cut(text: str) -> str:
    """Shorten a quoted value, which may have any length."""
    return text if len(text) <= QUOTED_LENGTH_MAX else f"{text[:QUOTED_LENGTH_MAX]}..."


PROBLEMS_SHOWN_MAX = 10
"""Mistakes that a message lists; it counts the others."""


class ConfigError(HarnessError):
    """The experiment is wrong: one sentence per mistake."""

    exit_code = ExitCode.USAGE

    def __init__(self, problems: Sequence[Problem]) -> None:
        shown = [str(problem) for problem in problems[:PROBLEMS_SHOWN_MAX]]
        if len(problems) > PROBLEMS_SHOWN_MAX:
            shown.append(f"... and {len(problems) - PROBLEMS_SHOWN_MAX} more mistakes")
        super().__init__(*shown)
        self.problems = tuple(problems)


class TerminatedError(KeyboardInterrupt):
    """SIGTERM or SIGHUP, treated like Ctrl-C."""


class StoppedError(HarnessError):
    """The command was stopped; the message says what is kept and how to continue."""

    exit_code = ExitCode.INTERRUPTED

    def __init__(self, message: str, stop: KeyboardInterrupt) -> None:
        super().__init__(message)
        if isinstance(stop, TerminatedError):
            self.exit_code = ExitCode.TERMINATED


@contextmanager
def termination_as_interrupt() -> Iterator[None]:
    """Raise TerminatedError, a KeyboardInterrupt, at SIGTERM and SIGHUP."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TerminatedError

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
