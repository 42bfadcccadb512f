"""What `claims.json` of a run says, and what it would say if it is old or missing."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rogue.reports.claims import Verdict, claims_sha256, evaluate, measures_sha256, read_claims
from rogue.reports.claims.claims_file import CLAIMS_SCHEMA, claims_text
from rogue.reports.reading.files import CLAIMS, read_regular
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.workloads.bounded_json import parse_json


class StoredOutcome(BaseModel):
    """One claim at one factor point, as `claims.json` has it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    transport: str
    factors: dict[str, str] = Field(default_factory=dict)
    published_text: str
    measured_text: str
    interval_text: str
    n: int
    seeds: list[int]
    own_conditions: bool
    verdict: Verdict
    verdict_text: str
    reasons: str


class StoredClaims(BaseModel):
    """The whole of `claims.json`, as far as the board needs it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_version: int = Field(alias="schema")
    claims_sha256: str
    measures_sha256: str
    run_id: str
    outcomes: list[StoredOutcome]


def stored_outcomes(directory: Path) -> list[StoredOutcome] | None:
    """Return what the run's `claims.json` says; None if it is missing, damaged or of other claims."""
    try:
        content = read_regular(directory / CLAIMS).decode("utf-8")
        return _current(content)
    except (OSError, UnicodeDecodeError):
        return None


def is_current(directory: Path) -> bool:
    """Return whether the run need not be held against the claims again."""
    return stored_outcomes(directory) is not None


def evaluated(directory: Path) -> tuple[str, list[StoredOutcome]]:
    """Hold a run against the claims: the content of its `claims.json`, and what that says."""
    run = Run(directory)
    text = claims_text(run.manifest, evaluate(read_claims(), Results(run)))
    outcomes = _current(text)
    assert outcomes is not None, "what was just written can be read"
    return text, outcomes


def _current(text: str) -> list[StoredOutcome] | None:
    try:
        content = parse_json(text.encode())
        claims = StoredClaims.model_validate(content)
    except (ValueError, ValidationError):
        return None
    judged_by = (claims.schema_version, claims.claims_sha256, claims.measures_sha256)
    is_new = judged_by == (CLAIMS_SCHEMA, claims_sha256(), measures_sha256())
    return claims.outcomes if is_new else None
