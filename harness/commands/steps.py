"""What is to be done for a paper: each experiment, the run of it that is there, and whether that is stale."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from rogue.harness.commands.experiments import find_experiment
from rogue.harness.commands.run import DEFAULT_TESTBED
from rogue.harness.experiment.load import LoadedExperiment
from rogue.harness.plan.plan import make_plan
from rogue.harness.testbeds import find_testbed
from rogue.workloads.history import COMMIT_LENGTH, Change, ChangesSince, changes_of
from rogue.workloads.manifest import Git, Manifest
from rogue.workloads.rechecks import Recheck, recheck, table_digests

CHANGES_NAMED_MAX: Final = 3


class Standing(StrEnum):
    """How an experiment stands, and what is done about it."""

    COMPLETE = "complete"
    GOES_ON = "goes on"
    STALE = "stale, starts again"
    STARTS = "starts"


@dataclass(frozen=True, slots=True)
class Step:
    """One experiment of a paper, and the run of it that is there already."""

    name: str
    loaded: LoadedExperiment
    standing: Standing
    run: Path | None = None
    """The run that is complete or goes on."""
    why: str = ""
    """Why it is stale."""
    seconds: float = 0.0
    """Expected time on one core of what is to be run; 0 if nothing is."""

    @property
    def text(self) -> str:
        """Write how it stands."""
        return f"{self.standing.value}{f': {self.why}' if self.why else ''}"


def step_of(
    name: str,
    loaded: LoadedExperiment,
    present: Sequence[tuple[Path, Manifest]],
    git: Git,
    changes_since: ChangesSince,
) -> Step:
    """Find the run that need not be repeated: complete before stopped, the newest first.

    A run counts if its experiment and settings are these, and no commit since touched what it depends on,
    or a run of today with fewer seeds gave the same tables.
    """
    own = [
        (run, manifest, stale_because(manifest, name, loaded, git, changes_since))
        for run, manifest in present
        if is_of(manifest, loaded)
    ]
    today = [manifest for _, manifest, reason in own if reason is None]
    alike = [each for each in own if is_alike(each[1], loaded)]
    fresh = [(run, manifest) for run, manifest, reason in alike if reason is None]
    fresh.sort(key=lambda each: each[1].status != "complete")
    if fresh and fresh[0][1].status == "complete":
        return Step(name, loaded, Standing.COMPLETE, fresh[0][0])
    for run, manifest, _ in alike:
        found = same_today(manifest, loaded, today)
        if found is not None:
            return Step(name, loaded, Standing.COMPLETE, run, why=found.text)
    seconds = expected_seconds(loaded)
    if fresh:
        run, manifest = fresh[0]
        left = sum(cell.status != "ok" for cell in manifest.cells) / max(len(manifest.cells), 1)
        return Step(name, loaded, Standing.GOES_ON, run, seconds=seconds * left)
    if alike:
        return Step(name, loaded, Standing.STALE, why=alike[0][2] or "", seconds=seconds)
    return Step(name, loaded, Standing.STARTS, seconds=seconds)


def is_of(manifest: Manifest, loaded: LoadedExperiment) -> bool:
    """Return whether a run is of this experiment, on the simulator, with whatever settings."""
    return manifest.testbed == DEFAULT_TESTBED and _is_same_file(
        find_experiment(manifest.source.file), loaded.document.file
    )


def is_alike(manifest: Manifest, loaded: LoadedExperiment) -> bool:
    """Return whether a run of this experiment has these settings, and all of its cells."""
    return manifest.source.set == list(loaded.settings) and "--only-cell" not in manifest.command


def _is_same_file(one: str, two: str) -> bool:
    try:
        return Path(one).resolve() == Path(two).resolve()
    except ValueError:  # a name that no file can have
        return False


def stale_because(
    manifest: Manifest, name: str, loaded: LoadedExperiment, git: Git, changes_since: ChangesSince
) -> str | None:
    """Return why a run has to be repeated; None if it has not."""
    if manifest.source.sha256 != loaded.document.sha256:
        return "the experiment’s file was changed"
    if manifest.git == git and not git.dirty:
        return None
    if git.dirty is not False or manifest.git.dirty is not False:
        return "it or the code of today has changes that nobody committed"
    changes = changes_since(manifest.git.commit)
    if changes is None:
        return f"nobody knows what was changed since {(manifest.git.commit or 'its commit')[:COMMIT_LENGTH]}"
    touching = changes_of(changes, name, DEFAULT_TESTBED, with_measures=False)  # the board judges again
    return _changes_text(touching, manifest) if touching else None


def same_today(manifest: Manifest, loaded: LoadedExperiment, today: Sequence[Manifest]) -> Recheck | None:
    """Return why a complete run is one of today's code: some of its seeds gave the same tables again."""
    if manifest.status != "complete" or manifest.source.sha256 != loaded.document.sha256:
        return None
    digests = table_digests(manifest)
    found = (recheck(digests, table_digests(other), other.git.commit or "") for other in today)
    return next((each for each in found if each is not None and each.is_same), None)


def _changes_text(changes: Sequence[Change], manifest: Manifest) -> str:
    """Write which commits touched what a run depends on, the newest first."""
    named = "; ".join(f"{each.commit[:COMMIT_LENGTH]} {each.subject}" for each in changes[:CHANGES_NAMED_MAX])
    more = f"; and {len(changes) - CHANGES_NAMED_MAX} more" if len(changes) > CHANGES_NAMED_MAX else ""
    since = f"{(manifest.git.commit or '')[:COMMIT_LENGTH]}, {manifest.created_utc.partition('T')[0]}"
    return f"touched since its run ({since}) by {named}{more}"


def expected_seconds(loaded: LoadedExperiment) -> float:
    """Return how long all cells should take on one core."""
    return make_plan(loaded, find_testbed(DEFAULT_TESTBED)).seconds(1)


def cheap_first(steps: Sequence[Step]) -> list[Step]:
    """Return what is complete, and then what is to be run, the cheapest first."""
    return sorted(steps, key=lambda step: step.seconds)
