"""Slots that outlive a batch: to start a process for each would take longer than small cells do."""

from collections.abc import Callable
from concurrent.futures import Future

from rogue.harness.execution.cell import Task
from rogue.harness.execution.scheduler import CellSlot
from rogue.harness.execution.slot import Slot
from rogue.workloads.manifest import CellRecord


class _LentSlot:
    """A slot whose process stays when it is given back idle."""

    def __init__(self, slot: CellSlot, idle: list[CellSlot]) -> None:
        self._slot = slot
        self._idle = idle
        self._future: Future[CellRecord] | None = None
        self._is_back = False

    @property
    def is_heard(self) -> bool:
        return self._slot.is_heard

    def start(self, task: Task) -> Future[CellRecord]:
        self._future = self._slot.start(task)
        return self._future

    def take_progress(self) -> float | None:
        return self._slot.take_progress()

    def result(self, future: Future[CellRecord]) -> CellRecord:
        return self._slot.result(future)

    def close(self) -> None:
        """End what it runs, if it runs something; keep the process otherwise."""
        if self._future is not None and not self._future.done():
            self._slot.close()
        if not self._is_back:
            self._is_back = True
            self._idle.append(self._slot)


class KeptSlots:
    """Lends slots to one batch after the other; a context manager that ends them all."""

    def __init__(self, make_slot: Callable[[], CellSlot] | None = None) -> None:
        self._make_slot = make_slot or Slot
        self._idle: list[CellSlot] = []
        self._all: list[CellSlot] = []

    def __enter__(self) -> "KeptSlots":
        return self

    def __exit__(self, *_: object) -> None:
        for slot in self._all:
            slot.close()

    def lend(self) -> CellSlot:
        """Return a slot that is idle, or a new one."""
        if not self._idle:
            slot = self._make_slot()
            self._all.append(slot)
            self._idle.append(slot)
        return _LentSlot(self._idle.pop(), self._idle)
