"""Read verdicts of runs and of earlier boards, and choose the best evidence of each claim."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from rogue.reports.claims import Claim, Verdict, claims_sha256, evaluate, measures_sha256, read_claims
from rogue.reports.claims.claim import JudgedBy, judging_sha256
from rogue.reports.claims.conditions import experiment_name
from rogue.reports.claims.evaluate import IS_HARDWARE
from rogue.reports.claims.rows import verdict_counts
from rogue.reports.claims.verdict import CLAIMS_SCHEMA, claims_text
from rogue.reports.errors import ReportError
from rogue.reports.quantities import joined
from rogue.reports.reading.files import CLAIMS, read_regular
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.workloads.manifest import Manifest
from rogue.workloads.printable import parse_json

DAY_LENGTH: Final = len("2026-01-01")
COMMIT_LENGTH: Final = 12


class StoredOutcome(BaseModel):
    """One claim at one factor point, as in `claims.json`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    transport: str
    factors: dict[str, str] = Field(default_factory=dict)
    published_text: str
    measured: float | None = None
    """In the base unit of the metric; None if it is infinite."""
    measured_text: str
    interval_text: str
    n: int
    seeds: list[int]
    own_conditions: bool
    verdict: Verdict
    verdict_text: str
    reasons: str

    @property
    def point(self) -> str:
        """Return the factor point as text; the transport without factors."""
        return ", ".join(f"{key} {value}" for key, value in self.factors.items()) or self.transport


class BoardRun(BaseModel):
    """The facts about a run that its evidence depends on, as the board's `claims.json` has them."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    run_id: str
    experiment: str
    testbed: str
    created_utc: str
    commit: str | None
    clean: bool
    """True if the commit had no uncommitted changes."""
    hardware: bool
    directory: Path | None = Field(default=None, exclude=True)
    """None if only an earlier board has the run."""

    @classmethod
    def of(cls, directory: Path, manifest: Manifest) -> "BoardRun":
        """Return the facts of a run from its manifest."""
        return cls(
            directory=directory,
            run_id=manifest.run_id,
            experiment=experiment_name(manifest.source.file) or manifest.name,
            testbed=Path(manifest.testbed).name,
            created_utc=manifest.created_utc,
            commit=manifest.git.commit,
            clean=manifest.git.commit is not None and manifest.git.dirty is False,
            hardware=any(cell.facts.get(IS_HARDWARE) is True for cell in manifest.cells),
        )


@dataclass(frozen=True, slots=True)
class BoardClaim:
    """A claim with the run that has the best evidence, if any, and the outcomes of that run."""

    claim: Claim
    outcomes: tuple[StoredOutcome, ...] = ()
    run: BoardRun | None = None

    @property
    def verdict(self) -> Verdict:
        """Return the worst verdict over its factor points."""
        if not self.outcomes:
            needs = self.claim.judged_by is JudgedBy.HARDWARE
            return Verdict.NEEDS_HARDWARE if needs else Verdict.NOT_RUN
        order = list(Verdict)
        return max((outcome.verdict for outcome in self.outcomes), key=order.index)

    @property
    def verdict_text(self) -> str:
        """Return the verdict, or how many factor points have which."""
        if not self.outcomes:
            return self.verdict.value
        return verdict_counts([(outcome.verdict, outcome.verdict_text) for outcome in self.outcomes])

    @property
    def n(self) -> int:
        """Return the least number of seeds at a factor point."""
        return min((outcome.n for outcome in self.outcomes), default=0)

    @property
    def seeds(self) -> list[int]:
        """Return the seeds that were run."""
        return sorted({seed for outcome in self.outcomes for seed in outcome.seeds})

    @property
    def seed_list(self) -> str:
        """Return the seeds as text: `1, 2 and 3`."""
        return joined([str(seed) for seed in self.seeds]) or "not recorded"

    @property
    def measured(self) -> str:
        """Return the measured value, or the values at the first and the last factor point."""
        texts = list(dict.fromkeys(outcome.measured_text for outcome in self.outcomes))
        return texts[0] if len(texts) == 1 else " … ".join((texts[0], texts[-1])) if texts else ""

    @property
    def multiples(self) -> list[tuple[float, Verdict]]:
        """Return measured / published of each factor point; none for bounds, sides and a published 0."""
        claim = self.claim
        if claim.judged_by is not JudgedBy.NUMBER or claim.bound != "equals" or not claim.published:
            return []
        return [
            (each.measured / claim.published, each.verdict)
            for each in self.outcomes
            if each.measured is not None
        ]


Judged = Iterable[tuple[BoardRun, Sequence[StoredOutcome]]]


def best_evidence(claims: Sequence[Claim], judged: Judged) -> list[BoardClaim]:
    """Return each claim with the run that has the best evidence, in the order of the claims."""
    best: dict[str, BoardClaim] = {}
    by_id = {claim.id: claim for claim in claims}
    for run, outcomes in judged:
        grouped: dict[str, list[StoredOutcome]] = {}
        for outcome in outcomes:
            if outcome.verdict.is_judged and outcome.id in by_id:
                grouped.setdefault(outcome.id, []).append(outcome)
        for name, own in grouped.items():
            candidate = BoardClaim(by_id[name], tuple(own), run)
            if name not in best or _weight(candidate) > _weight(best[name]):
                best[name] = candidate
    return [best.get(claim.id, BoardClaim(claim)) for claim in claims]


def _weight(candidate: BoardClaim) -> tuple[bool, bool, int, bool, str, str]:
    """Return the sort key: hardware, own conditions, number of seeds, clean commit, newest run."""
    run = candidate.run
    assert run is not None, "only claims with a run are compared"
    is_own = all(outcome.own_conditions for outcome in candidate.outcomes)
    return run.hardware, is_own, candidate.n, run.clean, run.created_utc, run.run_id


def evidence_text(each: BoardClaim) -> str:
    """Write the origin of a verdict in one line: experiment, run, seeds, commit and day."""
    if each.run is None:
        return ""
    place = f"{each.run.experiment} on {each.run.testbed}, {each.run.run_id}"
    return f"{place}, seeds {each.seed_list}, {commit_text(each.run)}"


def commit_text(run: BoardRun) -> str:
    """Write the commit and the day of a run: `1234567890ab, run on 2026-01-01`."""
    day = run.created_utc[:DAY_LENGTH]
    if run.commit is None:
        return f"no commit recorded, run on {day}"
    changes = "" if run.clean else " with changes"
    return f"{run.commit[:COMMIT_LENGTH]}{changes}, run on {day}"


BOARD_SCHEMA: Final = 3
OLDEST_BOARD_SCHEMA: Final = 2
"""Schema 2 also has the age of each verdict, which is ignored."""


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
