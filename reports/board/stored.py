"""Read verdicts back: of one run from its `claims.json`, and of many from the `claims.json` of a board."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from rogue.reports.board.evidence import BoardRun, StoredOutcome
from rogue.reports.claims import Claim, claims_sha256, evaluate, measures_sha256, read_claims
from rogue.reports.claims.claim import judging_sha256
from rogue.reports.claims.verdict import CLAIMS_SCHEMA, claims_text
from rogue.reports.errors import ReportError
from rogue.reports.reading.files import CLAIMS, read_regular
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.workloads.json_text import parse_json

BOARD_SCHEMA: Final = 3
OLDEST_BOARD_SCHEMA: Final = 2
"""Schema 2 also had the age of each verdict, which is ignored."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class RunClaims(_Part):
    """The part of a run's `claims.json` that the board needs."""

    schema_version: int = Field(alias="schema")
    claims_sha256: str
    measures_sha256: str
    run_id: str
    outcomes: list[StoredOutcome]


class EarlierClaim(_Part):
    """A claim of an earlier board with its run and the outcomes of that run."""

    id: str
    judging_sha256: str
    run: BoardRun | None
    outcomes: list[dict[str, JsonValue]]


class EarlierBoard(_Part):
    """The part of a board's `claims.json` that another board needs."""

    schema_version: int = Field(alias="schema", ge=OLDEST_BOARD_SCHEMA, le=BOARD_SCHEMA)
    claims: list[EarlierClaim]


class Earlier(NamedTuple):
    """The verdicts of an earlier board, and the claims that are defined differently now."""

    judged: list[tuple[BoardRun, list[StoredOutcome]]]
    left_out: list[str]


def stored_outcomes(directory: Path) -> list[StoredOutcome] | None:
    """Return the outcomes in a run's `claims.json`; None if it is missing, damaged or of other claims."""
    try:
        return _current(read_regular(directory / CLAIMS).decode("utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def evaluated(directory: Path) -> tuple[str, list[StoredOutcome]]:
    """Evaluate the claims on a run; return the text of its `claims.json` and the outcomes."""
    run = Run(directory)
    text = claims_text(run.manifest, evaluate(read_claims(), Results(run)))
    outcomes = _current(text)
    assert outcomes is not None, "what was just written can be read"
    return text, outcomes


def _current(text: str) -> list[StoredOutcome] | None:
    try:
        claims = RunClaims.model_validate(parse_json(text.encode()))
    except ValueError:
        return None
    judged_by = (claims.schema_version, claims.claims_sha256, claims.measures_sha256)
    is_new = judged_by == (CLAIMS_SCHEMA, claims_sha256(), measures_sha256())
    return claims.outcomes if is_new else None


def read_earlier(path: Path, claims: Sequence[Claim]) -> Earlier:
    """Read a board's `claims.json`; ReportError if the file is not one."""
    known = {claim.id: judging_sha256(claim) for claim in claims}
    earlier = Earlier([], [])
    try:
        for each in EarlierBoard.model_validate(parse_json(read_regular(path))).claims:
            if each.run is None:
                continue
            if known.get(each.id) != each.judging_sha256:
                earlier.left_out.append(each.id)
                continue
            outcomes = [StoredOutcome.model_validate({**outcome, "id": each.id}) for outcome in each.outcomes]
            earlier.judged.append((each.run.model_copy(update={"directory": None}), outcomes))
    except (OSError, ValueError) as error:
        expected = f"the claims.json of a board (schema {BOARD_SCHEMA}), as `rogue claims` writes it"
        raise ReportError(f"{path}: got {_got(error)}, expected {expected}; name another file.") from error
    return earlier


def _got(error: OSError | ValueError) -> str:
    match error:
        case OSError():
            return f"{error.strerror!r}"
        case ValidationError():
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "the whole file"
            return f"{first['input']!r:.40} for {place}"
        case _:
            return "invalid JSON"
