"""Run the cells of candidate values in a growing run, and read the measure."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pydantic import JsonValue

from rogue.harness.cell.cell import Cell
from rogue.harness.execution.scheduler import Quiet, Watcher
from rogue.harness.execution.task import Task
from rogue.harness.plan.plan import Plan
from rogue.harness.results.recorded_run import Run
from rogue.harness.run import Workers, tasks_of, work_through
from rogue.harness.search.candidates import CONTROL_FREE, Candidates, Values
from rogue.harness.search.target import Target, ratio
from rogue.reports.cells.view import CellView, common_interval_ns
from rogue.reports.reading.load import Run as ReadRun
from rogue.workloads.manifest import CellRecord
from rogue.workloads.records import CellStatus, FailureKind

AGAIN: Final = (FailureKind.NODE_LOST, FailureKind.OUT_OF_SPACE)
"""Failures that do not depend on the values: a resumed search runs such a cell again."""
HASH_LENGTH: Final = 16


@dataclass(frozen=True, slots=True)
class Measured:
    """The measure at some values."""

    values: Values
    by_seed: Sequence[float | None] = ()
    """In the order of the seeds; None where a cell has no such number."""
    value: float | None = None
    """Number of the seed that looks least like a finding; None if `problem` says why there is none."""
    also: float | None = None
    """The same of the second aim."""
    cells: int = 0
    problem: str | None = None
    control_free: Sequence[float | None] = ()
    """By seed without congestion control; empty if that was not run."""
    is_shared: bool = False
    """True if that meets the bound of a finding as well."""

    @property
    def known(self) -> list[float]:
        """Return the numbers of the seeds that have one."""
        return [value for value in self.by_seed if value is not None]


@dataclass(slots=True)
class Objective:
    """A growing run, and the measure of candidate values in it."""

    run: Run
    candidates: Candidates
    target: Target
    seconds_max: float
    """Values of which a cell should take longer are not run."""
    keys: Sequence[str] = ()
    """Keys of the space."""
    also: Target | None = None
    """The second aim."""
    workers: Workers = field(default_factory=lambda: Workers(1))
    watcher: Watcher = field(default_factory=Quiet)

    @property
    def targets(self) -> list[Target]:
        """Return the targets of all aims."""
        return [self.target] if self.also is None else [self.target, self.also]

    def is_finding(self, measured: Measured) -> bool:
        """True if values meet the bound, and that of the second aim if it has one."""
        is_also = self.also is None or self.also.bound is None or self.also.is_finding(measured.also)
        return is_also and self.target.is_finding(measured.value)

    def measure(self, candidates: Sequence[Values], seeds: range) -> list[Measured]:
        """Return the measure at each candidate; finished cells do not run again.

        A candidate that meets the bound runs without congestion control as well. If that meets the bound, the
        control is not to blame: the candidate has a problem instead of a number.
        """
        plans = [self.candidates.plan(values, seeds, self.seconds_max) for values in candidates]
        self._run((plan, self.candidates.compared) for plan in plans)
        read = ReadRun(self.run.directory, self.run.manifest)
        found = [self._measured(read, *pair) for pair in zip(candidates, plans, strict=True)]
        place = self.candidates.control_free
        if place is None or not any(map(self.is_finding, found)):
            return found
        pairs = list(zip(found, plans, strict=True))
        self._run((plan, [place]) for measured, plan in pairs if self.is_finding(measured))
        read = ReadRun(self.run.directory, self.run.manifest)
        return [self._checked(read, *pair, place) if self.is_finding(pair[0]) else pair[0] for pair in pairs]

    def _measured(self, read: ReadRun, values: Values, plan: Plan | str) -> Measured:
        if isinstance(plan, str):
            return Measured(values, problem=plan)
        numbers, value, also = self._numbers(read, plan, self.candidates.subject)
        cells = sum(len(self._records(plan, place)) for place in self.candidates.compared)
        problem = None if value is not None else self._missing_text(plan)
        return Measured(values, numbers, value, also, cells, problem)

    def _checked(self, read: ReadRun, measured: Measured, plan: Plan | str, place: int) -> Measured:
        """Return a finding with its numbers without congestion control, or as none if they meet the bound."""
        if isinstance(plan, str) or not self._records(plan, place):  # the testbed cannot run it
            return measured
        numbers, value, also = self._numbers(read, plan, place)
        checked = replace(measured, control_free=numbers, cells=measured.cells + len(numbers))
        if not self.is_finding(Measured({}, value=value, also=also)):
            return checked
        own, other = (self.target.range_text(some) for some in (measured.by_seed, numbers))
        problem = f"{own}, but {other} with {CONTROL_FREE}"
        return replace(checked, value=None, also=None, problem=problem, is_shared=True)

    def _numbers(
        self, read: ReadRun, plan: Plan, place: int
    ) -> tuple[tuple[float | None, ...], float | None, float | None]:
        """Return a transport's number for each seed, and the mildest of each aim; None without both."""
        numbers = tuple(self._by_seed(read, plan, place, self.target))
        value = self.target.mildest(numbers)
        if self.also is None or value is None:
            return numbers, value, None
        also = self.also.mildest(list(self._by_seed(read, plan, place, self.also)))
        return numbers, None if also is None else value, also

    def _by_seed(self, read: ReadRun, plan: Plan, place: int, target: Target) -> Iterator[float | None]:
        """Yield the number of each seed, divided by that of the other transport.

        Goodput is read over an interval that the compared cells at these values have in common.
        """
        against = self.candidates.against
        own = self._records(plan, place)
        others = [] if against is None else self._records(plan, against)
        views = {cell.id: CellView(read, cell) for cell in (*own, *others) if cell.status is CellStatus.OK}
        interval_ns = common_interval_ns(list(views.values()))
        own_numbers, other_numbers = (
            [target.metric.of(views[cell.id], interval_ns) if cell.id in views else None for cell in cells]
            for cells in (own, others)
        )
        if against is None:
            yield from own_numbers
        else:
            yield from map(ratio, own_numbers, other_numbers)

    def _run(self, planned: Iterable[tuple[Plan | str, Sequence[int]]]) -> None:
        """Run the cells of the transports at these places that have no result yet."""
        records = {cell.id: cell for cell in self.run.manifest.cells}
        tasks: dict[str, Task] = {}
        for plan, places in planned:
            if isinstance(plan, str):
                continue
            shown = [plan.loaded.experiment.transports[place].shown for place in places]
            wanted = tuple(each for each in plan.runnable if each.cell.transport.shown in shown)
            for task in tasks_of(self.run, replace(plan, cells=wanted)):
                name, factors = self._id_of(task.cell), self._all_factors(task.cell.factors)
                record = task.record.model_copy(update={"id": name, "factors": factors})
                tasks.setdefault(name, replace(task, cell=replace(task.cell, id=name), record=record))
                if name not in records:
                    records[name] = record.model_copy(deep=True)
                    self.run.manifest.cells.append(records[name])
        left = [task for name, task in tasks.items() if not _is_done(records[name])]
        if left:
            work_through(self.run, left, self.workers, self.watcher)

    def _id_of(self, cell: Cell) -> str:
        """Return a cell's id, with a hash of its values if another cell has that id.

        An id has the last word of each key alone, and two keys of a space may end in the same word.
        """
        factors = self._all_factors(cell.factors)
        known = next((each for each in self.run.manifest.cells if each.id == cell.id), None)
        if known is None or self._all_factors(known.factors) == factors:
            return cell.id
        stem, _, repetition = cell.id.rpartition("-r")
        digest = hashlib.sha256(json.dumps(factors, sort_keys=True).encode()).hexdigest()
        return f"{stem}-{digest[:HASH_LENGTH]}-r{repetition}"

    def _all_factors(self, factors: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Return a value for every key of the space, as a report needs it."""
        return {key: factors.get(key, self.candidates.own_value(key)) for key in self.keys}

    def _records(self, plan: Plan, place: int) -> list[CellRecord]:
        """Return the records of a transport's cells; none if the testbed cannot run them."""
        shown, known = plan.loaded.experiment.transports[place].shown, self.run.manifest.cells
        ids = {self._id_of(each.cell) for each in plan.runnable if each.cell.transport.shown == shown}
        return sorted((cell for cell in known if cell.id in ids), key=lambda cell: cell.seed)

    def _missing_text(self, plan: Plan) -> str:
        """Return why values have no number."""
        for record in (each for place in self.candidates.compared for each in self._records(plan, place)):
            if record.status is not CellStatus.OK:
                return f"{record.id}: {record.message or record.status}"
        return f"{' or '.join(target.metric.name for target in self.targets)} was not measured"


def _is_done(record: CellRecord) -> bool:
    if record.status is CellStatus.FAILED:
        return record.failure_kind not in AGAIN
    return record.status is CellStatus.OK
