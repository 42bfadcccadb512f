"""A slot without a process of its own: for programs, which start many small cells, and for tests."""

from concurrent.futures import Future
from typing import Final

from rogue.harness.execution.cell import Task, execute
from rogue.workloads.manifest import CellRecord


class InlineSlot:
    """Runs each cell at once, where a Slot starts a process for it. No limit of time ends such a cell."""

    is_heard: Final = True

    def __init__(self) -> None:
        self._fractions: list[float] = []

    def start(self, task: Task) -> Future[CellRecord]:
        """Run the cell to its end."""
        future: Future[CellRecord] = Future()
        future.set_result(execute(task, self._fractions.append))
        return future

    def take_progress(self) -> float | None:
        """Newest fraction that the cell reported since the last call, if any."""
        newest = self._fractions[-1] if self._fractions else None
        self._fractions.clear()
        return newest

    def result(self, future: Future[CellRecord]) -> CellRecord:
        """The finished cell's record."""
        return future.result()

    def close(self) -> None:
        """Forget what is over."""
        self._fractions.clear()
