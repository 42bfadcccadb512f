"""One run, or one report over several, as a line of a list."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from rogue.reports.quantities import counted


class State(StrEnum):
    """What can be said of a directory in a word."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    RUNNING = "running"
    STOPPED = "killed"
    """The run's manifest says that it runs, but no process works on it."""
    DAMAGED = "damaged"
    REPORT = "report"
    """A report over several runs."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line; every text is fit to be shown."""

    directory: Path
    state: State
    created: str
    """As `2026-11-20 10:15:00`, empty if it is not known."""
    experiment: str = ""
    title: str = ""
    testbed: str = ""
    done: int = 0
    total: int = 0
    failed: int = 0
    verdicts: str = ""
    tags: tuple[str, ...] = ()
    problem: str = ""
    """What is wrong with it, as a sentence."""
    size_bytes: int = 0
    is_size_whole: bool = True
    report: Path | None = None
    run_id: str = ""
    data_sha256: str = ""
    """One checksum of all that it measured."""

    @property
    def status(self) -> str:
        """Return the state with the numbers that belong to it."""
        match self.state:
            case State.DAMAGED:
                text = self.state.value
            case State.REPORT:
                text = f"{self.state.value} on {counted(self.total, 'run')}"
            case State.COMPLETE:
                text = f"{self.state.value}, {counted(self.total, 'cell')}"
            case _:
                text = f"{self.state.value}, {self.done} of {self.total}"
        return f"{text}, {self.failed} failed" if self.failed else text
