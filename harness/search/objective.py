"""Run the cells of candidate values in a growing run, read the measure, and compare it with the bound."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pydantic import JsonValue

from rogue.harness.cell.cell import Cell
from rogue.harness.errors import UsageError
from rogue.harness.execution.scheduler import Watcher
from rogue.harness.execution.task import Task
from rogue.harness.plan.plan import Plan
from rogue.harness.results.recorded_run import Run
from rogue.harness.run import Workers, tasks_of, work_through
from rogue.harness.search.candidates import CONTROL_FREE, Candidates
from rogue.harness.search.ranges import Values
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
        """Return 1 if small values are broken, else -1; it sorts the worst value first."""
        return 1 if self.direction == "least" else -1

    def is_finding(self, value: float | None) -> bool:
        """True if a value is no better than the bound."""
        return value is not None and self.bound is not None and self.sign * value <= self.sign * self.bound

    def mildest(self, values: Sequence[float | None]) -> float | None:
        """Return the value that looks least like a finding; None if one seed has no value."""
        numbers = [value for value in values if value is not None]
        if not numbers or len(numbers) < len(values):
            return None
        return max(numbers, key=lambda value: self.sign * value)

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
        known = [value for value in values if value is not None]
        ends = [self.text(end(known)) for end in (min, max)] if known else ["no number"]
        return " to ".join(dict.fromkeys(ends))


def make_target(aim: Aim, *, is_ratio: bool | None = None) -> Target:
    """Return the target of an aim, whose measure is a ratio if it has `against`, unless `is_ratio` says so.

    UsageError if the measure or its worse end is unknown.
    """
    if aim.metric not in METRICS:
        advice = did_you_mean(aim.metric, METRICS, "`rogue list measures` has them")
        raise UsageError(f"search: got the measure {aim.metric!r}, expected one of the report's; {advice}.")
    metric = METRICS[aim.metric]
    if aim.direction is None and metric.better == "near":
        got = f"search: got no direction, and the best {metric.name} lies in between"
        raise UsageError(f"{got}, expected least or most; add direction to the aim.")
    worst: Direction = "least" if metric.better == "higher" else "most"
    is_divided = aim.against is not None if is_ratio is None else is_ratio
    return Target(metric, aim.direction or worst, aim.bound, is_divided)


def ratio(value: float | None, other: float | None) -> float | None:
    """Return value / other; infinite if only the other is zero, None if the ratio is undefined."""
    if value is None or other is None or (math.isinf(value) and math.isinf(other)):
        return None
    if other == 0:
        return math.inf if value > 0 else None
    return value / other


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
    workers: Workers = field(default_factory=lambda: Workers(1))
    watcher: Watcher = field(default_factory=Watcher)

    def measure(self, candidates: Sequence[Values], seeds: range) -> list[Measured]:
        """Return the measure at each candidate; finished cells do not run again.

        A candidate that meets the bound runs without congestion control as well. If that meets the bound, the
        control is not to blame: the candidate has a problem instead of a number.
        """
        plans = [self.candidates.plan(values, seeds, self.seconds_max) for values in candidates]
        self._run(plans, self.candidates.compared)
        found = [self._measured(*pair) for pair in zip(candidates, plans, strict=True)]
        place = self.candidates.control_free
        if place is None:
            return found
        suspects = [self.target.is_finding(each.value) for each in found]
        self._run([plan for plan, is_suspect in zip(plans, suspects, strict=True) if is_suspect], [place])
        return [
            self._checked(each, plan, place) if is_suspect else each
            for each, plan, is_suspect in zip(found, plans, suspects, strict=True)
        ]

    def _measured(self, values: Values, plan: Plan | str) -> Measured:
        if isinstance(plan, str):
            return Measured(values, problem=plan)
        numbers = self._by_seed(plan, self.candidates.subject)
        value = self.target.mildest(numbers)
        cells = sum(len(self._records(plan, place)) for place in self.candidates.compared)
        return Measured(values, numbers, value, cells, None if value is not None else self._missing(plan))

    def _checked(self, measured: Measured, plan: Plan | str, place: int) -> Measured:
        """Return a finding with its numbers without congestion control, or as none if they meet the bound."""
        if isinstance(plan, str) or not self._records(plan, place):  # the testbed cannot run it
            return measured
        numbers = self._by_seed(plan, place)
        checked = replace(measured, control_free=numbers, cells=measured.cells + len(numbers))
        if not self.target.is_finding(self.target.mildest(numbers)):
            return checked
        own, other = (self.target.range_text(some) for some in (measured.by_seed, numbers))
        problem = f"{own}, but {other} with {CONTROL_FREE}"
        return replace(checked, value=None, problem=problem, is_shared=True)

    def _by_seed(self, plan: Plan, place: int) -> Sequence[float | None]:
        """Return the number of a transport for each seed, divided by that of the other transport.

        Goodput is read over an interval that the compared cells at these values have in common.
        """
        read, against = ReadRun(self.run.directory, self.run.manifest), self.candidates.against
        own = self._records(plan, place)
        others = [] if against is None else self._records(plan, against)
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

    def _run(self, plans: Iterable[Plan | str], places: Sequence[int]) -> None:
        """Run the cells of the transports at these places that have no result yet."""
        records = {cell.id: cell for cell in self.run.manifest.cells}
        tasks: dict[str, Task] = {}
        for plan in plans:
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

    def _missing(self, plan: Plan) -> str:
        """Return why values have no number."""
        for record in (each for place in self.candidates.compared for each in self._records(plan, place)):
            if record.status is not CellStatus.OK:
                return f"{record.id}: {record.message or record.status}"
        return f"{self.target.metric.name} was not measured"


def _is_done(record: CellRecord) -> bool:
    is_lost = record.status is CellStatus.FAILED and record.failure_kind in AGAIN
    return record.status in (CellStatus.OK, CellStatus.FAILED) and not is_lost
