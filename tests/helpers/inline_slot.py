"""A slot without a process of its own, for tests of what happens around cells that end alive."""

from concurrent.futures import Future

from rogue.harness.execution.cell import Task, execute
from rogue.workloads.manifest import CellRecord


class InlineSlot:
    """Runs each cell at once, where a Slot starts a process for it."""

    is_heard = True

    def __init__(self) -> None:
        self._fractions: list[float] = []

    def start(self, task: Task) -> Future[CellRecord]:
        future: Future[CellRecord] = Future()
        future.set_result(execute(task, self._fractions.append))
        return future

    def take_progress(self) -> float | None:
        newest = self._fractions[-1] if self._fractions else None
        self._fractions.clear()
        return newest

    def result(self, future: Future[CellRecord]) -> CellRecord:
        return future.result()

    def close(self) -> None:
        self._fractions.clear()
