"""Measure one number of the cells at a point, or ask whether a claim holds there."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rogue.harness.errors import UsageError
from rogue.harness.search.space import Aim, Direction
from rogue.reports.cells.view import CellView, common_interval_ns
from rogue.reports.claims import Claim, Verdict, read_claims, single_of
from rogue.reports.claims.claim import JudgedBy, Reference
from rogue.reports.claims.claim import Scalar as ParameterValue
from rogue.reports.claims.evaluate import judge_number, judge_side
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.metric import Metric
from rogue.reports.reading.load import Run as ReadRun
from rogue.workloads.manifest import CellRecord
from rogue.workloads.printable import did_you_mean
from rogue.workloads.records import CellStatus


@dataclass(frozen=True, slots=True)
class Target:
    """A measure, the end of it that is looked for, and what counts as a find."""

    metric: Metric
    direction: Direction
    bound: float | None
    is_ratio: bool
    """Whether it is divided by the measure of another transport."""

    def is_find(self, value: float | None) -> bool:
        """Return whether a value is no better than the bound."""
        return value is not None and self.bound is not None and not self.is_worse(self.bound, value)

    def is_worse(self, value: float, than: float) -> bool:
        """Return whether a value lies further in the direction that is looked for."""
        return value < than if self.direction == "least" else value > than

    def mildest(self, values: Sequence[float | None]) -> float | None:
        """Return the value that looks least like a find; None if one seed gave none."""
        numbers = [value for value in values if value is not None]
        if not numbers or len(numbers) < len(values):
            return None
        return max(numbers) if self.direction == "least" else min(numbers)


def make_target(aim: Aim) -> Target:
    """Find the measure of an aim; UsageError if there is none of that name, or its direction is not known."""
    if aim.metric not in METRICS:
        advice = did_you_mean(aim.metric, METRICS, "`rogue list measures` has them")
        raise UsageError(f"search: got the measure {aim.metric!r}, expected one of the report's; {advice}.")
    metric = METRICS[aim.metric]
    direction = aim.direction
    if direction is None and metric.better == "near":
        got = f"search: got no direction, and {metric.name} is neither better high nor low"
        raise UsageError(f"{got}, expected least or most; add direction to the aim.")
    worst: Direction = "least" if metric.better == "higher" else "most"
    return Target(metric, direction or worst, aim.bound, aim.against is not None)


def value_by_seed(
    run: ReadRun, target: Target, subject: Sequence[CellRecord], against: Sequence[CellRecord]
) -> list[float | None]:
    """Return the number of each seed, in their order; None where a cell has none.

    Goodput is read over an interval that the cells at these values have in common: no other values matter.
    """
    views = {cell.id: CellView(run, cell) for cell in (*subject, *against) if cell.status is CellStatus.OK}
    interval_ns = common_interval_ns(list(views.values()))

    def measured(cell: CellRecord) -> float | None:
        return target.metric.of(views[cell.id], interval_ns) if cell.id in views else None

    own = [measured(cell) for cell in subject]
    if not target.is_ratio:
        return own
    return [ratio(value, measured(other)) for value, other in zip(own, against, strict=True)]


def ratio(value: float | None, other: float | None) -> float | None:
    """Return how many times the other a value is; infinite beside zero, None if that means nothing."""
    if value is None or other is None or (math.isinf(value) and math.isinf(other)):
        return None
    if other == 0:
        return math.inf if value > 0 else None
    return value / other


@dataclass(frozen=True, slots=True)
class Question:
    """One measure of one transport, perhaps over that of another, or over its own at other values."""

    title: str
    aim: Aim
    holds: Callable[[float], bool] | None = None
    """Whether a number bears a claim out; None for a measure without one."""
    beside: Mapping[str, ParameterValue] = field(default_factory=dict)
    """Parameters, in base units, of the point by whose number that of each point is divided."""
    published: float | None = None
    """The number that a claim is held against; of a side, where it begins."""

    @property
    def name(self) -> str:
        """What results call it: a claim's id, or the measure."""
        return self.title.partition(":")[0]

    @property
    def target(self) -> Target:
        """Return the measure, as a ratio where it is one."""
        target = make_target(self.aim)
        return replace(target, is_ratio=True) if self.beside else target


def question_of_measure(metric: str, transport: str | None) -> Question:
    """Ask for a measure alone."""
    return Question(metric, Aim(metric=metric, direction="most", transport=transport))


def question_of_claim(identifier: str) -> Question:
    """Ask for what a claim is about; UsageError if no simulation can answer one of that name."""
    claims = {claim.id: claim for claim in read_claims()}
    if identifier not in claims:
        advice = did_you_mean(identifier, claims, "`rogue claims` lists them")
        raise UsageError(f"--claim: got {identifier!r}, expected the id of a claim; {advice}.")
    claim = claims[identifier]
    if claim.metric is None or claim.judged_by is JudgedBy.HARDWARE:
        got = f"--claim: got {identifier}, which needs hardware"
        raise UsageError(f"{got}, expected a claim that a simulation can judge; choose another.")
    than = claim.direction.than if claim.direction is not None else None
    reference = claim.relative_to or than
    if reference is not None and reference.at and reference.transport:
        got = f"--claim: got {identifier}, which compares with another transport at other factor values"
        raise UsageError(f"{got}, expected a claim that changes one of the two; choose another.")
    against = None if reference is None else reference.transport
    aim = Aim(metric=claim.metric, direction="most", transport=claim.transport, against=against)
    title = f"{claim.id}: {claim.statement}"
    return Question(title, aim, _holds(claim), _values(reference), _published(claim))


def _values(reference: Reference | None) -> dict[str, ParameterValue]:
    return {} if reference is None else dict(reference.at)


def _published(claim: Claim) -> float:
    """Return the number, or where the side of a claim begins: a ratio has the other at 1."""
    if claim.judged_by is not JudgedBy.SIDE and claim.published is not None:
        return claim.published
    return 1.0 if claim.direction is None or claim.direction.value is None else claim.direction.value


def _holds(claim: Claim) -> Callable[[float], bool]:
    """Return what decides, as for a run with one cell; beside another setting the side is that of 1."""
    direction = claim.direction
    if claim.judged_by is JudgedBy.SIDE and direction is not None:
        sign, side = direction.sign, single_of(_published(claim))
        return lambda number: judge_side(sign, single_of(number), side) is Verdict.AGREES
    return lambda number: judge_number(claim, single_of(number)) is Verdict.REPRODUCED
