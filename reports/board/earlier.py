"""A board that was written before: what it says of runs that are not here."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from rogue.reports.board.evidence import BoardClaim, BoardRun
from rogue.reports.board.stored import StoredOutcome
from rogue.reports.claims import Claim
from rogue.reports.claims.claim import judging_sha256
from rogue.reports.errors import ReportError
from rogue.reports.reading.files import read_regular
from rogue.workloads.bounded_json import parse_json
from rogue.workloads.rechecks import Digests, Recheck

BOARD_SCHEMA = 2


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class EarlierRecheck(_Part):
    """What became of a run's cells at another commit."""

    commit: str
    seeds: tuple[int, ...] = Field(min_length=1)
    same: bool


class EarlierRun(_Part):
    """A run, as far as its evidence depends on it."""

    run_id: str
    experiment: str
    testbed: str
    created_utc: str
    commit: str | None
    clean: bool
    hardware: bool
    rechecked: EarlierRecheck | None = None
    measures_sha256: str | None = None


class EarlierClaim(_Part):
    """A claim with what its run says."""

    id: str
    judging_sha256: str
    run: EarlierRun | None
    outcomes: list[dict[str, JsonValue]]


class EarlierBoard(_Part):
    """The whole of a board's `claims.json`, as far as another board needs it."""

    schema_version: int = Field(alias="schema", ge=BOARD_SCHEMA, le=BOARD_SCHEMA)
    claims: list[EarlierClaim]
    digests: dict[str, dict[str, dict[int, str]]] = Field(default_factory=dict)
    """Of each run the digests of its cells' tables; a board of an earlier version has none."""


class Earlier(NamedTuple):
    """What an earlier board says, run by run, and which claims are judged otherwise since."""

    judged: list[tuple[BoardRun, list[StoredOutcome]]]
    left_out: list[str]


def read_earlier(path: Path, claims: Sequence[Claim]) -> Earlier:
    """Read a board's `claims.json`; ReportError if it is none."""
    try:
        board = EarlierBoard.model_validate(parse_json(read_regular(path)))
        known = {claim.id: judging_sha256(claim) for claim in claims}
        evident = [each for each in board.claims if each.run is not None]
        judged = [
            _judged(each, board.digests) for each in evident if known.get(each.id) == each.judging_sha256
        ]
    except (OSError, ValueError) as error:
        expected = f"the claims.json of a board (schema {BOARD_SCHEMA}), as `rogue claims` writes it"
        raise ReportError(f"{path}: got {_got(error)}, expected {expected}; name another.") from error
    return Earlier(judged, [each.id for each in evident if known.get(each.id) != each.judging_sha256])


def _got(error: OSError | ValueError) -> str:
    match error:
        case OSError():
            return f"{error.strerror!r}"
        case ValidationError():
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "the whole"
            return f"{first['input']!r:.40} for {place}"
        case _:
            return "no JSON"


def _judged(each: EarlierClaim, digests: Mapping[str, Digests]) -> tuple[BoardRun, list[StoredOutcome]]:
    assert each.run is not None, "only claims with a run are asked"
    outcomes = [StoredOutcome.model_validate({**outcome, "id": each.id}) for outcome in each.outcomes]
    return _run(each.run, digests.get(each.run.run_id, {})), outcomes


def _run(run: EarlierRun, digests: Digests) -> BoardRun:
    found = run.rechecked
    return BoardRun(
        directory=None,
        run_id=run.run_id,
        experiment=run.experiment,
        testbed=run.testbed,
        created_utc=run.created_utc,
        commit=run.commit,
        is_clean=run.clean,
        is_hardware=run.hardware,
        digests=digests,
        rechecked=None if found is None else Recheck(found.commit, found.seeds, found.same),
        measures_sha256=run.measures_sha256,
    )


def run_content(each: BoardClaim) -> JsonValue:
    """Return what a board's `claims.json` says of a claim's run; it names no place of this machine."""
    if each.run is None:
        return None
    return {
        "run_id": each.run.run_id,
        "experiment": each.run.experiment,
        "testbed": each.run.testbed,
        "created_utc": each.run.created_utc,
        "commit": each.run.commit,
        "clean": each.run.is_clean,
        "hardware": each.run.is_hardware,
        "seeds": list(each.seeds),
        "age_commits": None if each.age.changes is None else len(each.age.changes),
        "stale": each.age.is_stale,
        "rechecked": _recheck_content(each.age.recheck),
        "measures_sha256": each.run.measures_sha256,
    }


def _recheck_content(found: Recheck | None) -> JsonValue:
    return found and {"commit": found.commit, "seeds": list(found.seeds), "same": found.is_same}


def digests_content(board: Sequence[BoardClaim]) -> dict[str, JsonValue]:
    """Return the digests of all runs on which verdicts rest."""
    runs = {each.run.run_id: each.run for each in board if each.run is not None}
    return {
        run_id: {
            point: {str(seed): digest for seed, digest in own.items()} for point, own in run.digests.items()
        }
        for run_id, run in sorted(runs.items())
    }
