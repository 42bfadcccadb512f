"""What a screening asks of each point: a measure, and of a claim whether it holds there."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from rogue.harness.errors import UsageError
from rogue.harness.search.space import Aim
from rogue.harness.search.values import Target, make_target
from rogue.reports.claims import Claim, Verdict, read_claims, single_of
from rogue.reports.claims.claim import JudgedBy, Reference
from rogue.reports.claims.claim import Scalar as ParameterValue
from rogue.reports.claims.judge import judge_number, judge_side
from rogue.workloads.spelling import meant


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
        advice = meant(identifier, claims, "`rogue claims` lists them")
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
