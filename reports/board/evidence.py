"""Which run says most about a claim: the best evidence, not the best verdict."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Final

from rogue.reports.board.age import UNKNOWN, Age
from rogue.reports.board.stored import StoredOutcome
from rogue.reports.claims import Claim, Verdict, measures_sha256
from rogue.reports.claims.claim import JudgedBy
from rogue.reports.claims.evaluate import IS_HARDWARE
from rogue.reports.claims.row import verdict_counts
from rogue.reports.claims.shipped import experiment_name
from rogue.reports.quantities import joined
from rogue.workloads.history import COMMIT_LENGTH, ChangesSince, changes_of, changes_of_measures
from rogue.workloads.manifest import Manifest
from rogue.workloads.rechecks import Digests, Recheck, newest, recheck, table_digests

DAY_LENGTH: Final = len("2026-01-01")


@dataclass(frozen=True, slots=True)
class BoardRun:
    """A run, as far as its evidence depends on it."""

    directory: Path | None
    """None where it is known from an earlier board alone."""
    run_id: str
    experiment: str
    testbed: str
    created_utc: str
    commit: str | None
    is_clean: bool
    is_hardware: bool
    digests: Digests = field(default_factory=dict)
    """Of its cells' tables."""
    rechecked: Recheck | None = None
    """What an earlier board says became of its cells since."""
    measures_sha256: str | None = None
    """By which measures its verdicts were given."""

    @classmethod
    def of(cls, directory: Path, manifest: Manifest) -> "BoardRun":
        """Return the facts that a manifest has, of a run that is judged today."""
        return cls(
            directory=directory,
            run_id=manifest.run_id,
            experiment=experiment_name(manifest.source.file) or manifest.name,
            testbed=Path(manifest.testbed).name,
            created_utc=manifest.created_utc,
            commit=manifest.git.commit,
            is_clean=manifest.git.commit is not None and manifest.git.dirty is False,
            is_hardware=any(cell.facts.get(IS_HARDWARE) is True for cell in manifest.cells),
            digests=table_digests(manifest),
            measures_sha256=measures_sha256(),
        )


@dataclass(frozen=True, slots=True)
class BoardClaim:
    """A claim with the outcomes of the run that says most about it; without a run if none says anything."""

    claim: Claim
    outcomes: tuple[StoredOutcome, ...] = ()
    run: BoardRun | None = None
    age: Age = UNKNOWN

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
    def measured(self) -> str:
        """Return what was measured, or what at the first and the last factor point."""
        texts = list(dict.fromkeys(outcome.measured_text for outcome in self.outcomes))
        return texts[0] if len(texts) == 1 else " … ".join((texts[0], texts[-1])) if texts else ""


Judged = Iterable[tuple[BoardRun, Sequence[StoredOutcome]]]


def best_evidence(claims: Sequence[Claim], judged: Judged, changes_since: ChangesSince) -> list[BoardClaim]:
    """Return each claim with the run that says most about it and its age, in the order of the claims."""
    best: dict[str, BoardClaim] = {}
    runs: dict[str, BoardRun] = {}
    by_id: Mapping[str, Claim] = {claim.id: claim for claim in claims}
    for run, outcomes in judged:
        runs.setdefault(run.run_id, run)
        grouped: dict[str, list[StoredOutcome]] = {}
        for outcome in outcomes:
            if outcome.verdict.is_judged and outcome.id in by_id:
                grouped.setdefault(outcome.id, []).append(outcome)
        for name, own in grouped.items():
            candidate = BoardClaim(by_id[name], tuple(own), run)
            if name not in best or _weight(candidate) > _weight(best[name]):
                best[name] = candidate
    return _aged([best.get(claim.id, BoardClaim(claim)) for claim in claims], runs.values(), changes_since)


def _aged(
    board: Sequence[BoardClaim], runs: Iterable[BoardRun], changes_since: ChangesSince
) -> list[BoardClaim]:
    """Return the claims with the age of what each rests on; git is asked once for each commit."""
    asked, known = cache(changes_since), list(runs)
    ages = {
        run.run_id: _age(run, known, asked)
        for run in {each.run.run_id: each.run for each in board if each.run}.values()
    }
    return [replace(each, age=ages[each.run.run_id]) if each.run else each for each in board]


def _age(run: BoardRun, runs: Sequence[BoardRun], changes_since: ChangesSince) -> Age:
    """Return the age; of a run whose code nobody committed nobody can say it."""
    changes = changes_since(run.commit)
    if changes is None or not run.is_clean:
        return UNKNOWN
    later = {each.commit: each for each in _rechecks(run, runs)}
    since = {commit: changes_since(commit) for commit in later}
    found = newest(
        (len(own), later[commit])
        for commit, own in since.items()
        if own is not None and len(own) < len(changes)
    )
    is_judged_today = run.measures_sha256 == measures_sha256()
    if found is not None and found.is_same:
        judging = () if is_judged_today else changes_of_measures(changes)
        newer = {change.commit for change in [*(since[found.commit] or ()), *judging]}
        changes = [change for change in changes if change.commit in newer]
    own = changes_of(changes, run.experiment, run.testbed, with_measures=not is_judged_today)
    return Age(tuple(own), found)


def _rechecks(run: BoardRun, runs: Sequence[BoardRun]) -> Iterator[Recheck]:
    """Yield what other runs of the same experiment found, and what an earlier board says of that."""
    if run.rechecked is not None:
        yield run.rechecked
    for other in runs:
        is_alike = (other.experiment, other.testbed) == (run.experiment, run.testbed)
        if is_alike and other.is_clean and other.commit not in (None, run.commit):
            found = recheck(run.digests, other.digests, str(other.commit))
            if found is not None:
                yield found


def _weight(candidate: BoardClaim) -> tuple[bool, bool, int, bool, str, str]:
    """Return what decides: hardware, own conditions, seeds, a clean commit, the newest run."""
    run = candidate.run
    assert run is not None, "only claims with a run are compared"
    is_own = all(outcome.own_conditions for outcome in candidate.outcomes)
    return run.is_hardware, is_own, candidate.n, run.is_clean, run.created_utc, run.run_id


def evidence_text(each: BoardClaim) -> str:
    """Say in a line what a verdict rests on: experiment, run, seeds, commit, day and age."""
    if each.run is None:
        return ""
    place = f"{each.run.experiment} on {each.run.testbed}, {each.run.run_id}"
    return f"{place}, seeds {seeds_text(each)}, {commit_text(each.run)}, {each.age.text}"


def seeds_text(each: BoardClaim) -> str:
    """Write the seeds of a verdict: `1, 2 and 3`."""
    return joined([str(seed) for seed in each.seeds]) or "not recorded"


def commit_text(run: BoardRun) -> str:
    """Write the commit and the day of a run: `1234567890ab, run on 2026-01-01`."""
    day = run.created_utc[:DAY_LENGTH]
    if run.commit is None:
        return f"no commit recorded, run on {day}"
    changes = "" if run.is_clean else " with changes"
    return f"{run.commit[:COMMIT_LENGTH]}{changes}, run on {day}"
