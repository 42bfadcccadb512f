"""What became of each claim from run to run, so that a verdict which turned is seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rogue.reports.index.entry import Entry

RUNS_MAX: Final = 24
"""The newest of each claim."""
COMMIT_DIGITS: Final = 12


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict of one run; `is_turned` says that the run before gave another one."""

    entry: Entry
    verdict: str
    is_turned: bool

    @property
    def place(self) -> str:
        """Return when and with which code."""
        return f"{self.entry.created[:10]}, commit {self.entry.commit[:COMMIT_DIGITS] or 'not recorded'}"


@dataclass(frozen=True, slots=True)
class Trend:
    """A claim and its verdicts, the oldest first."""

    claim: str
    runs: tuple[Judged, ...]

    @property
    def turns(self) -> int:
        """Return how often the verdict changed."""
        return sum(run.is_turned for run in self.runs)


def trends(entries: Sequence[Entry]) -> list[Trend]:
    """Return the claims that several runs judged; those that turned come first, then by name."""
    verdicts: dict[str, list[tuple[Entry, str]]] = {}
    for entry in sorted(entries, key=lambda entry: entry.created):
        for claim, verdict in entry.judged:
            verdicts.setdefault(claim, []).append((entry, verdict))
    found = [Trend(claim, _judged(told)) for claim, told in verdicts.items() if len(told) > 1]
    return sorted(found, key=lambda trend: (-trend.turns, trend.claim))


def _judged(told: list[tuple[Entry, str]]) -> tuple[Judged, ...]:
    before = [None, *(verdict for _, verdict in told)]
    runs = [
        Judged(entry, verdict, last is not None and last != verdict)
        for (entry, verdict), last in zip(told, before, strict=False)
    ]
    return tuple(runs[-RUNS_MAX:])
