"""Read the keys that a sensitivity analysis varies, and its questions about measures and claims."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from rogue.harness.errors import UsageError
from rogue.harness.experiment.choices import Scalar
from rogue.harness.search.candidates import Values
from rogue.harness.search.objective import Target, make_target
from rogue.harness.search.space import Aim, RangeFile, SeedRange
from rogue.reports.claims import Claim, Verdict, read_claims, single_of
from rogue.reports.claims.claim import JudgedBy
from rogue.reports.claims.claim import Scalar as ParameterValue
from rogue.reports.claims.evaluate import judge_number, judge_side
from rogue.workloads.printable import did_you_mean
from rogue.workloads.specification import Specification, Time, mistake, mistakes_at
from rogue.workloads.units import QUANTITY_OF_SUFFIX


@dataclass(frozen=True, slots=True)
class Question:
    """One measure of one transport, perhaps divided by that of another one or by its own at other values."""

    title: str
    """The id and statement of a claim, or the measure."""
    aim: Aim
    holds: Callable[[float], bool] | None = None
    """True if a number bears the claim out; None for a measure without a claim."""
    beside: Mapping[str, ParameterValue] = field(default_factory=dict)
    """Parameters, in base units, of the point by whose number that of each point is divided."""
    published: float | None = None
    """The number that a claim is compared with, or the start of its side."""

    @property
    def target(self) -> Target:
        """Return the measure."""
        return make_target(self.aim, is_ratio=bool(self.beside))


class SobolPlan(Specification):
    """Sobol indices of the leading keys."""

    keys: Annotated[int, Field(ge=2, le=16)] = 3
    """How many keys, those that move the number most; all others stay as the experiment has them."""
    samples: Annotated[int, Field(ge=4, le=4096)] = 64
    """A power of two; each of them has two points more than keys."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.samples.bit_count() != 1:
            raise mistakes_at({"samples": mistake("a power of two", "write 64")})
        return self


HELD_OUT_DISTANCE: Final = 100
"""From the first seed to the first held-out one."""
HELD_OUT_COUNT: Final = 3


class Variation(RangeFile):
    """The whole file."""

    measures: Annotated[list[str], Field(max_length=32)] = Field(default_factory=list)
    """Measures of the report, beside those of the claims that are named."""
    transport: str | None = None
    """Name or label of their transport; optional if the experiment has one transport."""
    trajectories: Annotated[int, Field(ge=1, le=1000)] = 4
    """How often each key is moved."""
    seeds: SeedRange = Field(default_factory=SeedRange)
    """A step compares the same seed at both of its ends."""
    cell_ns: Time = 60 * 10**9
    """Values of which a cell should take longer than this on one core are left out."""
    sobol: SobolPlan | None = None
    """Sobol indices for each measure and claim; left out, none are computed."""
    flip: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Points that may be tried for each claim, to find a small change that turns it."""

    @property
    def questions(self) -> list[Question]:
        """Return the questions about measures alone."""
        return [
            Question(metric, Aim(metric=metric, direction="most", transport=self.transport))
            for metric in self.measures
        ]

    @property
    def held_out(self) -> range:
        """Return seeds on which that change is tried again: one seed alone may turn a claim."""
        first = self.seeds.first + HELD_OUT_DISTANCE
        return range(first, first + HELD_OUT_COUNT)


def question_of_claim(identifier: str) -> Question:
    """Return the question about a claim; UsageError if no simulation can judge one of that name."""
    claims = {claim.id: claim for claim in read_claims()}
    if identifier not in claims:
        advice = did_you_mean(identifier, claims, "`rogue claims` lists them")
        raise UsageError(f"--claim: got {identifier!r}, expected the id of a claim; {advice}.")
    claim = claims[identifier]
    if claim.metric is None or claim.judged_by is JudgedBy.HARDWARE:
        got = f"--claim: got {identifier}, which needs hardware"
        raise UsageError(f"{got}, expected a claim that a simulation can judge; choose another.")
    reference = claim.relative_to or (claim.direction.than if claim.direction is not None else None)
    if reference is not None and reference.at and reference.transport:
        got = f"--claim: got {identifier}, which compares with another transport at other factor values"
        raise UsageError(f"{got}, expected a claim that changes one of the two; choose another.")
    against = None if reference is None else reference.transport
    aim = Aim(metric=claim.metric, direction="most", transport=claim.transport, against=against)
    beside = {} if reference is None else dict(reference.at)
    return Question(f"{claim.id}: {claim.statement}", aim, _holds(claim), beside, _published(claim))


def _published(claim: Claim) -> float:
    """Return the published number, or the start of a claim's side, which is 1 for a ratio."""
    if claim.judged_by is not JudgedBy.SIDE and claim.published is not None:
        return claim.published
    return 1.0 if claim.direction is None or claim.direction.value is None else claim.direction.value


def _holds(claim: Claim) -> Callable[[float], bool]:
    """Return the decision about a number, as for a run with one cell."""
    if claim.judged_by is JudgedBy.SIDE and claim.direction is not None:
        sign, side = claim.direction.sign, single_of(_published(claim))
        return lambda number: judge_side(sign, single_of(number), side) is Verdict.AGREES
    return lambda number: judge_number(claim, single_of(number)) is Verdict.REPRODUCED


def values_beside(parameters: Values, subject: int) -> dict[str, Scalar]:
    """Return parameters of a claim as an experiment writes them at its keys.

    `workload.size_bytes` is written at `workload.size`; `transport.` is the subject.
    """
    written: dict[str, Scalar] = {}
    for parameter, value in parameters.items():
        key, text = re.sub(r"^transport\.", f"transports[{subject}].", parameter), value
        for suffix, quantity in QUANTITY_OF_SUFFIX.items():
            if key.endswith(suffix) and isinstance(value, int):
                key, text = key.removesuffix(suffix), quantity.format(value)
        written[key] = text
    return written
