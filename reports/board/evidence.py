"""Which run says most about a claim: the best evidence, not the best verdict."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rogue.reports.board.stored import StoredOutcome
from rogue.reports.claims import Claim, Verdict
from rogue.reports.claims.claim import JudgedBy
from rogue.reports.claims.evaluate import IS_HARDWARE
from rogue.reports.claims.row import verdict_counts
from rogue.reports.claims.shipped import experiment_name
from rogue.reports.quantities import joined
from rogue.workloads.manifest import Manifest


@dataclass(frozen=True, slots=True)
class BoardRun:
    """A run, as far as its evidence depends on it."""

    directory: Path
    run_id: str
    experiment: str
    testbed: str
    created_utc: str
    commit: str | None
    is_clean: bool
    is_hardware: bool

    @classmethod
    def of(cls, directory: Path, manifest: Manifest) -> "BoardRun":
        """Return the facts that a manifest has."""
        return cls(
            directory=directory,
            run_id=manifest.run_id,
            experiment=experiment_name(manifest.source.file) or manifest.name,
            testbed=Path(manifest.testbed).name,
            created_utc=manifest.created_utc,
            commit=manifest.git.commit,
            is_clean=manifest.git.commit is not None and manifest.git.dirty is False,
            is_hardware=any(cell.facts.get(IS_HARDWARE) is True for cell in manifest.cells),
        )


@dataclass(frozen=True, slots=True)
class BoardClaim:
    """A claim with the outcomes of the run that says most about it; without a run if none says anything."""

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
    def measured(self) -> str:
        """Return what was measured, or what at the first and the last factor point."""
        texts = list(dict.fromkeys(outcome.measured_text for outcome in self.outcomes))
        return texts[0] if len(texts) == 1 else " … ".join((texts[0], texts[-1])) if texts else ""


Judged = Iterable[tuple[BoardRun, Sequence[StoredOutcome]]]


def best_evidence(claims: Sequence[Claim], judged: Judged) -> list[BoardClaim]:
    """Return each claim with the run that says most about it, in the order of the claims."""
    best: dict[str, BoardClaim] = {}
    by_id: Mapping[str, Claim] = {claim.id: claim for claim in claims}
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
    """Return what decides: hardware, own conditions, seeds, a clean commit, the newest run."""
    run = candidate.run
    assert run is not None, "only claims with a run are compared"
    is_own = all(outcome.own_conditions for outcome in candidate.outcomes)
    return run.is_hardware, is_own, candidate.n, run.is_clean, run.created_utc, run.run_id


def evidence_text(each: BoardClaim) -> str:
    """Say in a line what a verdict rests on."""
    if each.run is None:
        return ""
    commit = each.run.commit[:12] if each.run.commit else "no commit recorded"
    dirty = "" if each.run.is_clean or not each.run.commit else " with changes"
    seeds = joined([str(seed) for seed in each.seeds]) or "not recorded"
    return f"{each.run.experiment} on {each.run.testbed}, {each.run.run_id}, seeds {seeds}, {commit}{dirty}"
