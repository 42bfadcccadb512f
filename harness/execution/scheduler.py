"""Hand cells to slots, in order, until none is left."""

import signal
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from typing import Final, Protocol

from harness.execution.cell import Task
from harness.execution.slot import Slot, WorkerDiedError
from harness.results.cell_directory import discard_unfinished, store_cell
from harness.results.manifest import CellRecord
from workloads.records import CellStatus, FailureKind

POLL_SECONDS: Final = 0.1
"""How often the progress of running cells is read."""


class Watcher(Protocol):
    """Who wants to know how it goes."""

    def on_started(self, task: Task) -> None:
        """A cell was handed to a process."""

    def on_progress(self, task: Task, fraction: float) -> None:
        """A running cell has come this far."""

    def on_finished(self, record: CellRecord) -> None:
        """A cell is over; its directory stands."""


def run_tasks(tasks: Sequence[Task], jobs: int, watcher: Watcher) -> None:
    """Run every task, at most `jobs` at a time; whatever ends this early also ends the processes."""
    waiting = deque(tasks)
    running: dict[Future[CellRecord], tuple[Slot, Task]] = {}
    with _slots(min(jobs, len(tasks))) as free:
        try:
            while waiting or running:
                while waiting and free:
                    slot, task = free.pop(), waiting.popleft()
                    running[slot.start(task)] = (slot, task)
                    watcher.on_started(task)
                finished, _ = wait(running, POLL_SECONDS, FIRST_COMPLETED)
                _pass_on_progress(running.values(), watcher)
                for future in finished:
                    slot, task = running.pop(future)
                    watcher.on_finished(_record_of(slot, task, future))
                    free.append(slot)
        finally:
            for slot, task in running.values():
                slot.close()
                discard_unfinished(task.cells, task.record.id)


@contextmanager
def _slots(count: int) -> Iterator[list[Slot]]:
    slots = [Slot() for _ in range(count)]
    try:
        yield list(reversed(slots))
    finally:
        for slot in slots:
            slot.close()


def _pass_on_progress(running: Iterable[tuple[Slot, Task]], watcher: Watcher) -> None:
    for slot, task in running:
        fraction = slot.take_progress()
        if fraction is not None:
            watcher.on_progress(task, fraction)


def _record_of(slot: Slot, task: Task, future: Future[CellRecord]) -> CellRecord:
    try:
        return slot.result(future)
    except WorkerDiedError as error:
        return _store_death(task, error.signal_number)


def _store_death(task: Task, signal_number: int | None) -> CellRecord:
    """Record a cell whose process is gone; a crash of its own is our bug, a kill from outside is not."""
    discard_unfinished(task.cells, task.record.id)
    record = task.record.model_copy(deep=True)
    record.status = CellStatus.FAILED
    if signal_number == signal.SIGKILL:
        record.failure_kind = FailureKind.NODE_LOST
        record.message = (
            "the process that ran the cell was killed, perhaps for lack of memory; use fewer --jobs"
        )
    else:
        how = signal.Signals(signal_number).name if signal_number else "an exit of its own"
        record.failure_kind = FailureKind.BUG
        record.message = f"the process that ran the cell ended by {how}"
    store_cell(task.cells, record, {})
    return record
