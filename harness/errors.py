"""Errors by whose fault they are; `rogue.harness.cli` alone turns them into messages and exit codes."""

from collections.abc import Sequence
from dataclasses import dataclass

from rogue.harness.exit_codes import ExitCode
from rogue.workloads.printable import printable

SHOWN_MAX = 10
TEXT_MAX = 300


class HarnessError(Exception):
    """Base of all errors whose message is sentences for the user, each on a line of its own.

    No text of another author that stands in a sentence begins a line.
    """

    exit_code = ExitCode.BUG

    def __init__(self, *lines: object) -> None:
        self.lines = tuple(printable(str(line)) for line in lines)
        super().__init__(*self.lines)

    def __str__(self) -> str:
        return "\n".join(self.lines)


class UsageError(HarnessError):
    """The command asks for something that does not exist or does not fit together."""

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
    """The cluster that runs the cells is gone; the rest of them will not run."""

    exit_code = ExitCode.TESTBED


class NothingToRunError(HarnessError):
    """The testbed supports no cell of the plan."""

    exit_code = ExitCode.NOTHING_TO_RUN


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in an experiment file."""

    place: str
    """File and line, or the option that said it."""
    key: str
    """Dotted path with list indices; empty when the file itself is the mistake."""
    got: str
    expected: str
    advice: str

    def __str__(self) -> str:
        key = f"{_cut(self.key)}: " if self.key else ""
        return printable(f"{self.place}: {key}got {_cut(self.got)}, expected {self.expected}; {self.advice}.")


def _cut(text: str) -> str:
    """What others wrote, which may be endless."""
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}..."


class ConfigError(HarnessError):
    """The experiment is wrong: one sentence per mistake."""

    exit_code = ExitCode.USAGE

    def __init__(self, problems: Sequence[Problem]) -> None:
        shown = [str(problem) for problem in problems[:SHOWN_MAX]]
        if len(problems) > SHOWN_MAX:
            shown.append(f"... and {len(problems) - SHOWN_MAX} more mistakes")
        super().__init__(*shown)
        self.problems = tuple(problems)
