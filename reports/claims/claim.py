"""Claims as data: published numbers and statements, and what judges them."""

import hashlib
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Final, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

CLAIMS_DIRECTORY: Final = Path(__file__).parent

Scalar = str | int | float


class ClaimKind(StrEnum):
    """Origin of a claim's number or statement."""

    PUBLISHED = "published"
    """The source says it: measured, simulated or stated by its authors."""
    DERIVED = "derived"
    """Computed by us from a number or formula that the source prints."""
    MODEL = "model"
    """The result of a model, the source's or ours; not published for packets."""


class JudgedBy(StrEnum):
    """Criterion for a measurement."""

    NUMBER = "number"
    """`published`, within `tolerance`."""
    SIDE = "side"
    """The side of a value, or of another setting, that `direction` names."""
    HARDWARE = "hardware"
    """Only hardware can show it."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Condition(_Part):
    """One parameter that must have a value, or lie in a range, for the claim to apply."""

    parameter: str
    equals: Scalar | tuple[Scalar, ...] | None = None
    """Its value, or all values that it may have."""
    at_least: int | float | None = None
    at_most: int | float | None = None

    @model_validator(mode="after")
    def _one_demand(self) -> Self:
        has_range = self.at_least is not None or self.at_most is not None
        if (self.equals is not None) == has_range:
            raise ValueError("a condition has either `equals` or a range of `at_least` and `at_most`")
        return self


class MeasuredNic(_Part):
    """A real card on which others measured the claim."""

    nic: str
    conditions: str
    source: Annotated[str, Field(pattern=r"^https://")]

    def __str__(self) -> str:
        """Return card, conditions and source in one line."""
        return f"{self.nic}; {self.conditions}; {self.source}"


class Reference(_Part):
    """Another setting to compare with: another transport, other factor values, or both.

    `at` has parameters in base units; all others are as in the measured setting.
    """

    transport: str | None = None
    at: dict[str, Scalar] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _refers(self) -> Self:
        if self.transport is None and not self.at:
            raise ValueError("a reference names a transport, or parameters in `at`")
        return self


class Direction(_Part):
    """A statement without a number: above or below a value, or the measurement of another setting."""

    sign: Literal["above", "below"]
    value: float | None = None
    than: Reference | None = None

    @model_validator(mode="after")
    def _one_reference(self) -> Self:
        if (self.value is None) == (self.than is None):
            raise ValueError("a direction is relative to either a `value` or, with `than`, another setting")
        return self


_EXPECTED_KIND: Final = (
    "expected `published` if the source says it, `derived` if we computed it from a number or formula of the"
    " source, or `model` if only a model says it, ours or the source's; choose one"
)

_EXPECTED_REASON: Final = "expected a reason if it is derived or from a model, and none if it is published"


class Claim(_Part):
    """A published number or statement, and the criteria to judge a run by it.

    `published` and `tolerance` are in the base unit of the metric, or ratios where the claim is
    `relative_to` another setting; `published_text` is the text of the paper. `fitted_to`,
    `order_of_magnitude`, `vacuous_alone` and `contradicted_by` are reasons that a reader can check.
    """

    id: str
    statement: str
    metric: str | None = None
    transport: str
    relative_to: Reference | None = None
    kind: ClaimKind
    kind_reason: str | None = None
    """From what it was derived, or what model says it; what is published has its source."""
    judged_by: JudgedBy
    published: float | None = None
    published_text: str
    bound: Literal["equals", "at_least", "at_most"] = "equals"
    tolerance: float = Field(default=0.0, ge=0)
    direction: Direction | None = None
    conditions: tuple[Condition, ...] = ()
    pooled: bool = False
    """The source makes one statement about all factor points: judge the mean over them."""
    judged_before: str | None = None
    """The rule that this one replaces, and its last verdict; the note says why."""
    fitted_to: str | None = None
    """What the source leaves open and was chosen knowing this number."""
    order_of_magnitude: str | None = None
    """Why the tolerance leaves no more than the order of magnitude."""
    vacuous_alone: str | None = None
    """Why any scheme passes that keeps the port busy and loses nothing."""
    contradicted_by: str | None = None
    """Which rule or workload of the source itself excludes it."""
    measured_by_others: MeasuredNic | None = None
    """The card on which others measured it; no paper claims it."""
    note: str
    source: str = ""
    """Of the file, unless the claim is of another source."""
    paper: Annotated[str, Field(pattern=r"^[a-z0-9-]*$")] = ""
    """Of the file, unless the claim is of another paper."""
    experiments: tuple[str, ...] = ()
    """Shipped experiments that were written for it, as `rogue list experiments` names them."""
    docs: str | None = None
    """Place in `docs/` that says more."""

    @model_validator(mode="before")
    @classmethod
    def _has_a_kind(cls, data: object) -> object:
        """Explain the kinds if a claim has none, because there is no default."""
        if isinstance(data, dict) and data.get("kind") not in set(ClaimKind):
            got = f"got {data['kind']!r}" if "kind" in data else "it is missing"
            raise ValueError(f"claim {data.get('id')}: `kind`: {got}, {_EXPECTED_KIND}")
        return data

    @model_validator(mode="after")
    def _can_be_judged(self) -> Self:
        if self.metric is None and self.judged_by is not JudgedBy.HARDWARE:
            raise ValueError("only a claim about hardware may omit `metric`")
        if self.metric and self.judged_by is not JudgedBy.SIDE and self.published is None:
            raise ValueError("a claim with a `metric` needs `published`, or is judged by its side")
        if self.judged_by is JudgedBy.SIDE and self.direction is None:
            raise ValueError("a claim that is judged by its side needs `direction`")
        if self.pooled and (self.direction is None or self.direction.than is None or self.relative_to):
            raise ValueError("a claim that is `pooled` needs a `direction` with `than`, and no `relative_to`")
        return self

    @model_validator(mode="after")
    def _says_why(self) -> Self:
        if (self.kind is ClaimKind.PUBLISHED) == bool(self.kind_reason):
            got = f"got {self.kind_reason!r} for the kind {self.kind.value}"
            raise ValueError(f"claim {self.id}: `kind_reason`: {got}, {_EXPECTED_REASON}")
        return self


_JUDGING: Final = frozenset(
    (
        "metric",
        "transport",
        "relative_to",
        "judged_by",
        "published",
        "bound",
        "tolerance",
        "direction",
        "conditions",
        "experiments",
    )
)


def judging_sha256(claim: Claim) -> str:
    """Return a digest of the fields that decide a verdict."""
    judging = {*_JUDGING, *(("pooled",) if claim.pooled else ())}
    return hashlib.sha256(claim.model_dump_json(include=judging).encode()).hexdigest()


class ClaimFile(_Part):
    """One file of claims from one place of a source; fields of a claim override those of the file."""

    source: str
    paper: Annotated[str, Field(pattern=r"^[a-z0-9-]+$")]
    """Name of the paper in `rogue reproduce`."""
    experiments: tuple[str, ...] = ()
    docs: str | None = None
    claims: tuple[Claim, ...]

    def complete(self) -> list[Claim]:
        """Return the claims with the defaults of the file."""
        return [
            claim.model_copy(
                update={
                    "source": claim.source or self.source,
                    "paper": claim.paper or self.paper,
                    "experiments": claim.experiments or self.experiments,
                    "docs": claim.docs or self.docs,
                }
            )
            for claim in self.claims
        ]


_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where libyaml is


def read_claims(directory: Path = CLAIMS_DIRECTORY) -> list[Claim]:
    """Read all claim files of a directory, in the order of their names."""
    files = (
        ClaimFile.model_validate(yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader))
        for path in _claim_files(directory)
    )
    return [claim for file in files for claim in file.complete()]


def claims_sha256(directory: Path = CLAIMS_DIRECTORY) -> str:
    """Return a digest of all claim files; verdicts with another digest are out of date."""
    digest = hashlib.sha256()
    for path in _claim_files(directory):
        digest.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _claim_files(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.yaml"))


PLACES: Final = tuple(Path(__file__).parents[1] / name for name in ("cells", "metrics"))
"""Folders of the code that turns tables into numbers."""


@cache
def measures_sha256(places: tuple[Path, ...] = PLACES) -> str:
    """Return a digest of the code of all measures; verdicts with another digest are out of date."""
    digest = hashlib.sha256()
    for path in sorted(path for place in places for path in place.rglob("*.py")):
        digest.update(f"{path.parent.name}/{path.name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()
