"""The progress of a run, from its manifest and its running cells."""

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Final

from rogue.harness.execution.scheduler import Watcher
from rogue.harness.execution.task import Task
from rogue.workloads.manifest import CellRecord, Manifest
from rogue.workloads.records import CellStatus

SHARE_MIN: Final = 0.01
"""With less than this done the page does not estimate the end."""


@dataclass(frozen=True, slots=True)
class RunState:
    """A moment of a run."""

    manifest: Manifest
    running: Mapping[str, float] | None
    """The fraction done of each cell that runs; None if it is not known here."""
    elapsed_seconds: float
    """Time since this call of `rogue run` began."""
    weights: Mapping[str, float]
    """Expected seconds of each cell; equal weights if there is no estimate."""

    def count(self, *statuses: CellStatus) -> int:
        """Return how many cells have one of these statuses."""
        return sum(cell.status in statuses for cell in self.manifest.cells)

    def of_status(self, status: CellStatus) -> list[CellRecord]:
        """Return the cells of a status that do not run again just now."""
        return [
            cell
            for cell in self.manifest.cells
            if cell.status is status and cell.id not in (self.running or {})
        ]

    @property
    def waiting(self) -> int:
        """Return how many cells have no result and do not run."""
        return len(self.of_status(CellStatus.PENDING))

    @property
    def share(self) -> float:
        """Return what is done of this call's work, between 0 and 1."""
        session = len(self.manifest.sessions) - 1
        done = all_of_it = 0.0
        for cell in self.manifest.cells:
            weight = self.weights.get(cell.id, 1.0)
            if cell.status is CellStatus.UNSUPPORTED or self._was_done_before(cell, session):
                continue
            all_of_it += weight
            if self.running is not None and cell.id in self.running:
                done += weight * self.running[cell.id]
            elif cell.status in (CellStatus.OK, CellStatus.FAILED):
                done += weight
        return done / all_of_it if all_of_it else 1.0

    def _was_done_before(self, cell: CellRecord, session: int) -> bool:
        """Whether the cell was over before this call; a failed one may run again, and counts once it does."""
        over = cell.status in (CellStatus.OK, CellStatus.FAILED)
        return over and cell.session != session and cell.id not in (self.running or {})

    @property
    def seconds_left(self) -> float | None:
        """Return the expected time to the end, None if too little is done to tell."""
        share = self.share
        return None if share < SHARE_MIN else self.elapsed_seconds * (1 - share) / share


class LiveWatcher:
    """A watcher that remembers which cells run and how far they are, and passes everything on."""

    def __init__(self, watcher: Watcher, running: "Running") -> None:
        self._watcher = watcher
        self._running = running

    def on_started(self, task: Task) -> None:
        """Remember a cell that runs."""
        self._running.note(task.cell.id, 0.0)
        self._watcher.on_started(task)

    def on_progress(self, task: Task, fraction: float) -> None:
        """Remember how far it is."""
        self._running.note(task.cell.id, fraction)
        self._watcher.on_progress(task, fraction)

    def on_finished(self, record: CellRecord) -> None:
        """Forget it."""
        self._running.forget(record.id)
        self._watcher.on_finished(record)


class Running:
    """The running cells, shared by the thread that runs them and the threads that show them."""

    def __init__(self) -> None:
        self._fractions: dict[str, float] = {}
        self._lock = Lock()

    def note(self, identifier: str, fraction: float) -> None:
        """Note the progress of a cell."""
        with self._lock:
            self._fractions[identifier] = fraction

    def forget(self, identifier: str) -> None:
        """A cell is over."""
        with self._lock:
            self._fractions.pop(identifier, None)

    def copy(self) -> dict[str, float]:
        """Return what is done of each cell that runs."""
        with self._lock:
            return dict(self._fractions)
