"""Assign cells to slots, in order, until none is left."""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from rogue.harness.execution.slot import Slot, WorkerDiedError
from rogue.harness.execution.task import Task
from rogue.harness.results.run_directory import discard_unfinished, store_cell
from rogue.workloads.manifest import CellRecord
from rogue.workloads.records import CellStatus, FailureKind

_LOGGER: Final = logging.getLogger(__name__)

POLL_SECONDS: Final = 0.1
"""Interval at which the progress of running cells is read."""


class Watcher:
    """Receives the progress of cells; this one ignores it."""

    def on_started(self, task: Task) -> None:
        """Receive a cell that starts."""

    def on_progress(self, task: Task, fraction: float) -> None:
        """Receive the fraction of a running cell that is done."""

    def on_finished(self, record: CellRecord) -> None:
        """Receive a cell that has ended; its directory is complete."""


class CellSlot(Protocol):
    """Runs one cell at a time, in a process on this computer or on a worker elsewhere."""

    def start(self, task: Task) -> Future[CellRecord]:
        """Begin a cell; the slot must be free."""

    def take_progress(self) -> float | None:
        """Return the newest fraction that the cell reported since the last call, if any."""

    def result(self, future: Future[CellRecord]) -> CellRecord:
        """Return the finished cell's record; raises WorkerDiedError."""

    def close(self) -> None:
        """Stop the present cell, and release the process."""


@dataclass(slots=True)
class _Running:
    """A cell in its process."""

    slot: CellSlot
    task: Task
    started: float = field(default_factory=time.monotonic)

    @property
    def overdue(self) -> str | None:
        """Return a sentence if the cell runs for longer than its limit, else None."""
        if time.monotonic() - self.started > self.task.limit_seconds:
            return f"the cell was not over after {self.task.limit_seconds:g} s of real time"
        return None


def run_tasks(
    tasks: Sequence[Task],
    jobs: int,
    watcher: Watcher,
    make_slot: Callable[[], CellSlot] | None = None,
    kept: list[CellSlot] | None = None,
) -> None:
    """Run every task, at most `jobs` at a time; an exception also ends the processes.

    `make_slot` makes slots; by default processes on this computer. A caller that runs tasks repeatedly keeps
    idle slots in `kept`, and closes them.
    """
    at_once = min(jobs, len(tasks))
    waiting = deque(replace(task, at_once=at_once) for task in tasks)
    running: dict[Future[CellRecord], _Running] = {}
    _LOGGER.debug("runs %d cells, %d at once", len(tasks), at_once)
    with _slots(at_once, make_slot or Slot, kept) as free:
        try:
            while waiting or running:
                while waiting and free:
                    slot, task = free.pop(), waiting.popleft()
                    running[slot.start(task)] = _Running(slot, task)
                    _LOGGER.debug("starts cell %s", task.cell.id)
                    watcher.on_started(task)
                finished, _ = wait(running, POLL_SECONDS, FIRST_COMPLETED)
                _pass_on_progress(running.values(), watcher)
                overdue = {future: each.overdue for future, each in running.items() if future not in finished}
                for future in (*finished, *(future for future, words in overdue.items() if words)):
                    each, words = running.pop(future), overdue.get(future)
                    record = _store_overdue(each, words) if words else _record_of(each, future)
                    _LOGGER.debug("cell %s is %s after %s s", record.id, record.status, record.wall_seconds)
                    watcher.on_finished(record)
                    free.append(each.slot)
        finally:
            for each in running.values():
                each.slot.close()
                discard_unfinished(each.task.cells, each.task.record.id)


@contextmanager
def _slots(
    count: int, make_slot: Callable[[], CellSlot], kept: list[CellSlot] | None
) -> Iterator[list[CellSlot]]:
    slots = [] if kept is None else kept
    slots += [make_slot() for _ in range(count - len(slots))]
    try:
        yield list(reversed(slots[:count]))
    finally:
        for slot in slots if kept is None else ():
            slot.close()


def _pass_on_progress(running: Iterable[_Running], watcher: Watcher) -> None:
    for each in running:
        if (fraction := each.slot.take_progress()) is not None:
            watcher.on_progress(each.task, fraction)


def _record_of(running: _Running, future: Future[CellRecord]) -> CellRecord:
    try:
        return running.slot.result(future)
    except WorkerDiedError as error:
        return _store_failure(running.task, error.kind, str(error))


def _store_overdue(running: _Running, words: str) -> CellRecord:
    """End the process of a cell that hangs."""
    running.slot.close()
    return _store_failure(running.task, FailureKind.TIMEOUT, words)


def _store_failure(task: Task, kind: FailureKind, message: str) -> CellRecord:
    """Record the failure of a cell that left no files."""
    discard_unfinished(task.cells, task.record.id)
    record = task.record.model_copy(deep=True)
    record.status, record.failure_kind, record.message = CellStatus.FAILED, kind, message
    store_cell(task.cells, record, {})
    return record
