"""Run the cells of a candidate, or find their results, and read the measure."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Final

from pydantic import JsonValue

from rogue.harness.cell.cell import Cell
from rogue.harness.execution.scheduler import CellSlot
from rogue.harness.execution.slot import Slot
from rogue.harness.execution.task import Task
from rogue.harness.experiment.choices import Scalar
from rogue.harness.plan.plan import Plan
from rogue.harness.results.recorded_run import Run
from rogue.harness.run import Workers, tasks_of, work_through
from rogue.harness.search.base import Base, Infeasible
from rogue.harness.search.question import Target, value_by_seed
from rogue.reports.reading.load import Run as ReadRun
from rogue.workloads.manifest import CellRecord
from rogue.workloads.records import CellStatus, FailureKind


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


AGAIN: Final = (FailureKind.NODE_LOST, FailureKind.OUT_OF_SPACE)
"""Failures that say nothing about the values: such a cell runs again when the search goes on."""
HASH_LENGTH: Final = 16


class Silent:
    """Watches cells and shows nothing: a search tells of values instead."""

    def on_started(self, task: Task) -> None:
        """A cell began."""

    def on_progress(self, task: Task, fraction: float) -> None:
        """A cell got on."""

    def on_finished(self, record: CellRecord) -> None:
        """A cell is over."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What some values gave."""

    values: Mapping[str, Scalar]
    by_seed: tuple[float | None, ...] = ()
    """In the order of the seeds; None where a cell has no such number."""
    value: float | None = None
    """That of the seed which looks least like a find; None if one seed gave none."""
    also: float | None = None
    """The same of the second aim."""
    cells: int = 0
    problem: str | None = None
    """Why there is no number."""
    first_cell: str = ""
    """Name of the first of them."""
    has_failed: bool = False
    """Whether a cell failed, which says nothing about the measure."""

    @property
    def known(self) -> list[float]:
        """Return the numbers of those seeds that have one."""
        return [value for value in self.by_seed if value is not None]


@dataclass(slots=True)
class Bench:
    """A search's run, and how its values become numbers."""

    run: Run
    base: Base
    target: Target
    workers: Workers
    seconds_max: float
    """Values of which a cell should take longer are infeasible."""
    keys: tuple[str, ...]
    """Keys of the space."""
    also: Target | None = None
    """The second aim."""

    def is_find(self, measured: Measured) -> bool:
        """Return whether values meet the criterion, in both aims if the second one has a bound."""
        is_also = self.also is None or self.also.bound is None or self.also.is_find(measured.also)
        return is_also and self.target.is_find(measured.value)

    def measure(self, asked: Sequence[Mapping[str, Scalar]], seeds: range) -> list[Measured]:
        """Return what each of these values gives on these seeds; cells that are there do not run again."""
        plans = [self.base.cells_at(values, seeds, self.seconds_max) for values in asked]
        self._run([plan for plan in plans if isinstance(plan, Plan)])
        read = ReadRun(self.run.directory, self.run.manifest)
        return [
            Measured(values, problem=plan.reason)
            if isinstance(plan, Infeasible)
            else self._measured(read, values, plan)
            for values, plan in zip(asked, plans, strict=True)
        ]

    def _run(self, plans: Sequence[Plan]) -> None:
        records = self._records()
        tasks: dict[str, Task] = {}
        for task in (task for plan in plans for task in tasks_of(self.run, plan)):
            own = self._as_own(task, records)
            tasks.setdefault(own.record.id, own)
            if own.record.id not in records:
                records[own.record.id] = own.record.model_copy(deep=True)
                self.run.manifest.cells.append(records[own.record.id])
        left = [task for name, task in tasks.items() if not _is_done(records[name])]
        if left:
            work_through(self.run, left, self.workers, Silent())

    def _as_own(self, task: Task, records: Mapping[str, CellRecord]) -> Task:
        """Return a task under the id that its cell has in this run."""
        name, factors = self._id_of(task.cell, records), self._all_factors(task.cell.factors)
        record = task.record.model_copy(update={"id": name, "factors": factors})
        return replace(task, cell=replace(task.cell, id=name), record=record)

    def _id_of(self, cell: Cell, records: Mapping[str, CellRecord]) -> str:
        """Return a cell's id, with a hash of its values if a cell with other values has that id.

        An id has the last word of each key alone, and two keys of a space may end in the same.
        """
        factors = self._all_factors(cell.factors)
        known = records.get(cell.id)
        if known is None or self._all_factors(known.factors) == factors:
            return cell.id
        stem, _, repetition = cell.id.rpartition("-r")
        digest = hashlib.sha256(json.dumps(factors, sort_keys=True).encode()).hexdigest()
        return f"{stem}-{digest[:HASH_LENGTH]}-r{repetition}"

    def _all_factors(self, factors: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Return a value for every key of the space, as a report needs it, also the experiment's own."""
        return {key: factors.get(key, self.base.own_value(key)) for key in self.keys}

    def _records(self) -> dict[str, CellRecord]:
        return {cell.id: cell for cell in self.run.manifest.cells}

    def _measured(self, read: ReadRun, values: Mapping[str, Scalar], plan: Plan) -> Measured:
        records = self._records()
        compared = self.base.compared(plan.loaded)
        of_each = [
            [
                records[self._id_of(each.cell, records)]
                for each in plan.cells
                if each.cell.transport.shown == choice.shown
            ]
            for choice in compared
        ]
        subject, against = of_each[0], of_each[1] if len(of_each) > 1 else []
        numbers = value_by_seed(read, self.target, subject, against)
        value = self.target.mildest(numbers)
        problem = _why_none(self.target, [*subject, *against]) if value is None else None
        also = None
        if self.also is not None and value is not None:
            also = self.also.mildest(value_by_seed(read, self.also, subject, against))
            problem = _why_none(self.also, [*subject, *against]) if also is None else None
            value = None if also is None else value
        has_failed = any(record.status is not CellStatus.OK for record in (*subject, *against))
        return Measured(
            values, tuple(numbers), value, also, len(plan.cells), problem, subject[0].id, has_failed
        )


def _is_done(record: CellRecord) -> bool:
    if record.status is CellStatus.FAILED:
        return record.failure_kind not in AGAIN
    return record.status is CellStatus.OK


def _why_none(target: Target, records: Sequence[CellRecord]) -> str:
    failed = next((record for record in records if record.status is not CellStatus.OK), None)
    if failed is None:
        return f"{target.metric.name} was not measured"
    return f"{failed.id}: {failed.message or failed.status}"
