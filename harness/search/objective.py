"""Run the cells of candidate values in a growing run, read the measure, and compare it with the bound."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pydantic import JsonValue

from rogue.harness.errors import UsageError
from rogue.harness.execution.scheduler import Watcher
from rogue.harness.execution.task import Task
from rogue.harness.plan.plan import Plan
from rogue.harness.results.recorded_run import Run
from rogue.harness.run import Workers, tasks_of, work_through
from rogue.harness.search.candidates import CONTROL_FREE, Candidates, Values
from rogue.harness.search.space import Aim, Direction
from rogue.reports.cells.view import CellView, common_interval_ns
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.metric import Metric
from rogue.reports.quantities import NARROW_SPACE, readable
from rogue.reports.reading.load import Run as ReadRun
from rogue.workloads.manifest import CellRecord
from rogue.workloads.printable import did_you_mean
from rogue.workloads.records import CellStatus, FailureKind

AGAIN: Final = (FailureKind.NODE_LOST, FailureKind.OUT_OF_SPACE)
"""Failures that do not depend on the values: a resumed search runs such a cell again."""
HASH_LENGTH: Final = 16


@dataclass(frozen=True, slots=True)
class Target:
    """A measure, the end that counts as broken, and the bound of a finding in the measure's base unit."""

    metric: Metric
    direction: Direction
    bound: float | None
    is_ratio: bool
    """True if the measure is divided by another one."""

    @property
    def sign(self) -> int:
        """Return 1 if small values are broken, else -1."""
        return 1 if self.direction == "least" else -1

    def badness(self, value: float | None) -> float:
        """Return a number by which values are sorted, the worst first; None counts as 0."""
        return self.sign * (value or 0.0)

    def is_finding(self, value: float | None) -> bool:
        """True if a value is no better than the bound."""
        return value is not None and self.bound is not None and self.sign * value <= self.sign * self.bound

    def mildest(self, values: Sequence[float | None]) -> float | None:
        """Return the value that looks least like a finding; None if one seed has no value."""
        known = _known(values)
        return max(known, key=self.badness) if known and len(known) == len(values) else None

    @property
    def bound_text(self) -> str:
        """Return the bound in words."""
        if self.bound is None:
            return "the aim has no bound, so nothing is a finding"
        end = "at most" if self.direction == "least" else "at least"
        return f"a finding is {end} {self.text(self.bound)}"

    def text(self, value: float | None) -> str:
        """Return a value with its unit; a ratio is a number of times."""
        if value is None:
            return "no number"
        if self.is_ratio:
            return "infinitely many times" if math.isinf(value) else f"{value:.3g} times"
        known = "infinite" if math.isinf(value) else readable(value, self.metric.unit)
        return known.replace(NARROW_SPACE, " ")

    def range_text(self, values: Sequence[float | None]) -> str:
        """Return the least and the greatest of the known values."""
        known = _known(values)
        ends = [self.text(end(known)) for end in (min, max)] if known else ["no number"]
        return " to ".join(dict.fromkeys(ends))


def make_target(aim: Aim, *, is_ratio: bool = False) -> Target:
    """Return the target of an aim; UsageError if the measure or its worse end is unknown.

    is_ratio: the measure is divided by another one even if the aim has no `against`.
    """
    if aim.metric not in METRICS:
        advice = did_you_mean(aim.metric, METRICS, "`rogue list measures` has them")
        raise UsageError(f"search: got the measure {aim.metric!r}, expected one of the report's; {advice}.")
    metric = METRICS[aim.metric]
    if aim.direction is None and metric.better == "near":
        got = f"search: got no direction, and the best {metric.name} lies in between"
        raise UsageError(f"{got}, expected least or most; add direction to the aim.")
    worst: Direction = "least" if metric.better == "higher" else "most"
    return Target(metric, aim.direction or worst, aim.bound, is_ratio or aim.against is not None)


def ratio(value: float | None, other: float | None) -> float | None:
    """Return value / other; infinite if only the other is zero, None if the ratio is undefined."""
    if value is None or other is None or (math.isinf(value) and math.isinf(other)):
        return None
    if other == 0:
        return math.inf if value > 0 else None
    return value / other


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


@dataclass(frozen=True, slots=True)
class Measured:
    """The measure at some values."""

    values: Values
    by_seed: Sequence[float | None] = ()
    """In the order of the seeds; None where a cell has no such number."""
    value: float | None = None
    """Number of the seed that looks least like a finding; None if `problem` says why there is none."""
    cells: int = 0
    problem: str | None = None
    control_free: Sequence[float | None] = ()
    """By seed without congestion control; empty if that was not run."""
    is_shared: bool = False
    """True if that meets the bound of a finding as well."""

    @property
    def known(self) -> list[float]:
        """Return the numbers of the seeds that have one."""
        return _known(self.by_seed)


@dataclass(slots=True)
class Objective:
    """A growing run, and the measure of candidate values in it."""

    run: Run
    candidates: Candidates
    target: Target
    workers: Workers = field(default_factory=lambda: Workers(1))
    watcher: Watcher = field(default_factory=Watcher)
    _factors: dict[str, dict[str, JsonValue]] = field(default_factory=dict)
    """Values by cell id."""

    def __post_init__(self) -> None:
        self._factors = {cell.id: self._all_factors(cell.factors) for cell in self.run.manifest.cells}

    def measure(self, candidates: Sequence[Values], seeds: range) -> list[Measured]:
        """Return the measure at each candidate; finished cells do not run again.

        A candidate that meets the bound runs without congestion control as well. If that meets the bound, the
        control is not to blame: the candidate has a problem instead of a number.
        """
        plans = [self.candidates.plan(values, seeds) for values in candidates]
        tasks = [[] if isinstance(plan, str) else self._tasks(plan) for plan in plans]
        compared, index = self.candidates.compared, self.candidates.control_free
        self._run(task for own in tasks for at, task in own if at in compared)
        found = [
            Measured(values, problem=plan) if isinstance(plan, str) else self._measured(values, own)
            for values, plan, own in zip(candidates, plans, tasks, strict=True)
        ]
        if index is None:
            return found
        suspects = [at for at, each in enumerate(found) if self.target.is_finding(each.value)]
        self._run(task for suspect in suspects for at, task in tasks[suspect] if at == index)
        for at in suspects:
            found[at] = self._checked(found[at], self._by_seed(tasks[at], index))
        return found

    def _tasks(self, plan: Plan) -> list[tuple[int, Task]]:
        """Return the tasks of a plan, each with the index of its transport.

        A record has a value for every key, as a report needs it. An id has the last word of each key alone,
        and values may lack keys: other values of the same id have a hash in it.
        """
        shown, tasks = [each.shown for each in plan.loaded.experiment.transports], []
        for task in tasks_of(self.run, replace(plan, cells=plan.runnable)):
            name, factors = task.cell.id, self._all_factors(task.cell.factors)
            if self._factors.setdefault(name, factors) != factors:
                stem, _, repetition = name.rpartition("-r")
                digest = hashlib.sha256(json.dumps(factors, sort_keys=True).encode()).hexdigest()
                name = f"{stem}-{digest[:HASH_LENGTH]}-r{repetition}"
            record = task.record.model_copy(update={"id": name, "factors": factors})
            own = replace(task, cell=replace(task.cell, id=name), record=record)
            tasks.append((shown.index(record.transport), own))
        return tasks

    def _all_factors(self, factors: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        return {key: factors.get(key, self.candidates.own_value(key)) for key in self.candidates.keys}

    def _run(self, tasks: Iterable[Task]) -> None:
        """Run the cells that have no result yet."""
        records = {cell.id: cell for cell in self.run.manifest.cells}
        left: dict[str, Task] = {}
        for task in tasks:
            name = task.record.id
            if name not in records:
                records[name] = task.record.model_copy(deep=True)
                self.run.manifest.cells.append(records[name])
            if not _is_done(records[name]):
                left.setdefault(name, task)
        if left:
            work_through(self.run, list(left.values()), self.workers, self.watcher)

    def _measured(self, values: Values, tasks: Sequence[tuple[int, Task]]) -> Measured:
        records = [record for index in self.candidates.compared for record in self._records(tasks, index)]
        numbers = self._by_seed(tasks, self.candidates.subject)
        value = self.target.mildest(numbers)
        problem = None if value is not None else f"{self.target.metric.name} was not measured"
        if value is None and (failed := [each for each in records if each.status is not CellStatus.OK]):
            problem = f"{failed[0].id}: {failed[0].message or failed[0].status}"
        return Measured(values, numbers, value, len(records), problem)

    def _checked(self, measured: Measured, numbers: Sequence[float | None]) -> Measured:
        """Add the numbers without congestion control; a problem replaces the value if they meet the bound."""
        checked = replace(measured, control_free=numbers, cells=measured.cells + len(numbers))
        if not self.target.is_finding(self.target.mildest(numbers)):
            return checked
        own, other = (self.target.range_text(some) for some in (measured.by_seed, numbers))
        problem = f"{own}, but {other} with {CONTROL_FREE}"
        return replace(checked, value=None, problem=problem, is_shared=True)

    def _by_seed(self, tasks: Sequence[tuple[int, Task]], index: int) -> Sequence[float | None]:
        """Return the number of a transport for each seed, divided by that of the other transport.

        Empty if the testbed cannot run it. Goodput is read over an interval that the compared cells at these
        values have in common.
        """
        read, against = ReadRun(self.run.directory, self.run.manifest), self.candidates.against
        own, others = (self._records(tasks, each) for each in (index, against))
        views = {cell.id: CellView(read, cell) for cell in (*own, *others) if cell.status is CellStatus.OK}
        interval_ns = common_interval_ns(list(views.values()))
        own_numbers, other_numbers = (
            [
                self.target.metric.of(views[cell.id], interval_ns) if cell.id in views else None
                for cell in some
            ]
            for some in (own, others)
        )
        return own_numbers if against is None else list(map(ratio, own_numbers, other_numbers))

    def _records(self, tasks: Sequence[tuple[int, Task]], index: int | None) -> list[CellRecord]:
        ids = {task.record.id for at, task in tasks if at == index}
        found = [cell for cell in self.run.manifest.cells if cell.id in ids]
        return sorted(found, key=lambda cell: cell.seed)


def _is_done(record: CellRecord) -> bool:
    is_lost = record.status is CellStatus.FAILED and record.failure_kind in AGAIN
    return record.status in (CellStatus.OK, CellStatus.FAILED) and not is_lost
