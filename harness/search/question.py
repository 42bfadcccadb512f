"""What a screening asks of each point: a measure, and of a claim whether it holds there."""

from collections.abc import Callable
from dataclasses import dataclass

from rogue.harness.errors import UsageError
from rogue.harness.search.space import Aim
from rogue.reports.claims import Claim, Verdict, read_claims, single_of
from rogue.reports.claims.claim import JudgedBy, Reference
from rogue.reports.claims.judge import judge_number, judge_side
from rogue.workloads.spelling import meant


@dataclass(frozen=True, slots=True)
class Question:
    """One measure of one transport, perhaps over that of another."""

    title: str
    aim: Aim
    holds: Callable[[float], bool] | None = None
    """Whether a number bears a claim out; None for a measure without one."""


def question_of_measure(metric: str, transport: str | None) -> Question:
    """Ask for a measure alone."""
    return Question(metric, Aim(metric=metric, direction="most", transport=transport))


def question_of_claim(identifier: str) -> Question:
    """Ask for what a claim is about; UsageError if there is none of that name that one point can answer."""
    claims = {claim.id: claim for claim in read_claims()}
    if identifier not in claims:
        advice = meant(identifier, claims, "`rogue claims` lists them")
        raise UsageError(f"--claim: got {identifier!r}, expected the id of a claim; {advice}.")
    claim = claims[identifier]
    than = claim.direction.than if claim.direction is not None else None
    reference = claim.relative_to or than
    if claim.metric is None or claim.judged_by is JudgedBy.HARDWARE or (reference and reference.at):
        why = (
            "hardware"
            if claim.metric is None or claim.judged_by is JudgedBy.HARDWARE
            else "other factor values"
        )
        expected = "a claim about one point of a simulation"
        raise UsageError(
            f"--claim: got {identifier}, which needs {why}, expected {expected}; choose another."
        )
    aim = Aim(metric=claim.metric, direction="most", transport=claim.transport, against=_transport(reference))
    return Question(f"{claim.id}: {claim.statement}", aim, _holds(claim))


def _transport(reference: Reference | None) -> str | None:
    return None if reference is None else reference.transport


def _holds(claim: Claim) -> Callable[[float], bool]:
    """Return what decides, as for a run with one cell; beside another transport the side is that of 1."""
    direction = claim.direction
    if claim.judged_by is JudgedBy.SIDE and direction is not None:
        sign, side = direction.sign, single_of(1.0 if direction.value is None else direction.value)
        return lambda number: judge_side(sign, single_of(number), side) is Verdict.AGREES
    return lambda number: judge_number(claim, single_of(number)) is Verdict.REPRODUCED
