"""What a claim is: a published number or statement, as data."""

import hashlib
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

CLAIMS_DIRECTORY: Final = Path(__file__).parent

Scalar = str | int | float


class ClaimKind(StrEnum):
    """What could confirm a claim."""

    SIMULATED = "simulated"
    HARDWARE_ONLY = "hardware_only"
    DIRECTION_ONLY = "direction_only"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Condition(_Part):
    """One parameter that must have a value, or lie in a range, for the claim to apply."""

    parameter: str
    equals: Scalar | None = None
    at_least: int | float | None = None
    at_most: int | float | None = None

    @model_validator(mode="after")
    def _one_demand(self) -> Self:
        has_range = self.at_least is not None or self.at_most is not None
        if (self.equals is not None) == has_range:
            raise ValueError("a condition has either `equals` or a range of `at_least` and `at_most`")
        return self


class Reference(_Part):
    """What a measurement is held against: another transport, other factor values, or both.

    `at` names parameters in base units; everything that it does not name is as in the measured setting.
    """

    transport: str | None = None
    at: dict[str, Scalar] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _refers(self) -> Self:
        if self.transport is None and not self.at:
            raise ValueError("a reference names a transport, or parameters in `at`")
        return self


class Direction(_Part):
    """A statement without a number: above or below a value, or what another setting measured."""

    sign: Literal["above", "below"]
    value: float | None = None
    than: Reference | None = None

    @model_validator(mode="after")
    def _one_reference(self) -> Self:
        if (self.value is None) == (self.than is None):
            raise ValueError("a direction is relative to either a `value` or, with `than`, another setting")
        return self


class Claim(_Part):
    """A published number or statement, and what it takes to hold a run against it.

    `published` and `tolerance` are in the base unit of the metric, or ratios where the claim is
    `relative_to` another setting; `published_text` is what the paper says.
    """

    id: str
    statement: str
    metric: str | None = None
    transport: str
    relative_to: Reference | None = None
    kind: ClaimKind
    published: float | None = None
    published_text: str
    bound: Literal["equals", "at_least", "at_most"] = "equals"
    tolerance: float = Field(default=0.0, ge=0)
    direction: Direction | None = None
    conditions: tuple[Condition, ...] = ()
    fitted_to: str | None = None
    note: str
    source: str = ""
    paper: str = ""
    experiments: tuple[str, ...] = ()
    """Shipped experiments that were written for it, as `rogue list experiments` names them."""
    docs: str | None = None
    """Place in `docs/` that says more."""

    @model_validator(mode="after")
    def _can_be_judged(self) -> Self:
        if self.metric is None and self.kind is not ClaimKind.HARDWARE_ONLY:
            raise ValueError("only a claim about hardware may be without a `metric`")
        if self.metric and self.kind is not ClaimKind.DIRECTION_ONLY and self.published is None:
            raise ValueError("a claim with a `metric` needs `published`, or is one of direction only")
        if self.kind is ClaimKind.DIRECTION_ONLY and self.direction is None:
            raise ValueError("a claim of direction needs `direction`")
        return self


class ClaimFile(_Part):
    """One file of claims, all from one place of one source. What a claim itself says comes first."""

    source: str
    paper: Annotated[str, Field(pattern=r"^[a-z0-9-]+$")]
    """What `rogue reproduce` calls the paper."""
    experiments: tuple[str, ...] = ()
    docs: str | None = None
    claims: tuple[Claim, ...]

    def complete(self) -> list[Claim]:
        """Return the claims with what the file says of all of them."""
        return [
            claim.model_copy(
                update={
                    "source": self.source,
                    "paper": self.paper,
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
    """Return a digest of all claim files: verdicts that were given by other ones are old."""
    digest = hashlib.sha256()
    for path in _claim_files(directory):
        digest.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _claim_files(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.yaml"))
