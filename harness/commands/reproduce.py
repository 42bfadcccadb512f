"""`rogue reproduce`: the shipped experiments of a paper, one after the other, and the claims board."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from rogue.harness.commands.claims import find_runs, write_board
from rogue.harness.commands.experiments import DIRECTORY, experiment_files, find_experiment
from rogue.harness.commands.run import DEFAULT_TESTBED, RunOptions, run_experiment
from rogue.harness.errors import HarnessError, UsageError
from rogue.harness.exit_codes import ExitCode
from rogue.harness.experiment.load import LoadedExperiment, load_experiment
from rogue.harness.results.manifest import read_manifest
from rogue.harness.results.provenance import git_facts
from rogue.harness.results.run_directory import DEFAULT_OUT
from rogue.workloads.manifest import Git, Manifest


@dataclass(frozen=True, slots=True)
class Step:
    """One experiment of a paper, and the run of it that is there already."""

    name: str
    loaded: LoadedExperiment
    run: Path | None
    is_complete: bool


def reproduce_paper(paper: str, settings: tuple[str, ...], out: Path | None, jobs: int | None) -> ExitCode:
    """Run what is missing, then write the board; the worst exit code of a run is returned.

    All experiments are read first, so that a wrong setting is told before anything runs.
    """
    place = out or DEFAULT_OUT
    names = paper_experiments(paper)
    loaded = [load_experiment(find_experiment(name), settings) for name in names]
    present = known_runs(place)
    steps = [step_of(name, each, present) for name, each in zip(names, loaded, strict=True)]
    worst = ExitCode.OK
    for number, step in enumerate(steps, start=1):
        what = "complete" if step.is_complete else "goes on" if step.run else "starts"
        typer.echo(f"[{number}/{len(steps)}] {step.name}: {what}", err=True)
        if not step.is_complete:
            worst = max(worst, run_experiment(_options(step, settings, place, jobs)))
    board = write_board((place,), None)
    return max(worst, board)


def paper_experiments(paper: str) -> list[str]:
    """Return the names of a paper's experiments; UsageError if there is no such paper."""
    from rogue.reports.board.papers import experiments_of
    from rogue.reports.claims import read_claims
    from rogue.reports.errors import ReportError

    shipped = [file.relative_to(DIRECTORY).with_suffix("").as_posix() for file in experiment_files()]
    try:
        return experiments_of(paper, read_claims(), shipped)
    except ReportError as error:
        raise UsageError(str(error)) from error


def known_runs(place: Path) -> list[tuple[Path, Manifest]]:
    """Return the runs that are there and can be read, the newest first."""
    found = []
    for run in find_runs((place,)) if place.is_dir() else []:
        try:
            found.append((run, read_manifest(run)))
        except HarnessError:
            continue
    return sorted(found, key=lambda each: each[1].created_utc, reverse=True)


def step_of(name: str, loaded: LoadedExperiment, present: Sequence[tuple[Path, Manifest]]) -> Step:
    """Find the run of the same experiment and settings by the same code; a complete one first."""
    git = git_facts()
    same = [(run, manifest) for run, manifest in present if is_same(manifest, loaded, git)]
    same.sort(key=lambda each: each[1].status != "complete")
    if not same:
        return Step(name, loaded, None, is_complete=False)
    run, manifest = same[0]
    return Step(name, loaded, run, manifest.status == "complete")


def is_same(manifest: Manifest, loaded: LoadedExperiment, git: Git) -> bool:
    """Return whether a run is this experiment: content, settings, testbed, all of its cells, and commit."""
    source = manifest.source
    return (
        (source.sha256, source.set) == (loaded.document.sha256, list(loaded.settings))
        and manifest.testbed == DEFAULT_TESTBED
        and "--only-cell" not in manifest.command
        and manifest.git == git
    )


def _options(step: Step, settings: tuple[str, ...], place: Path, jobs: int | None) -> RunOptions:
    goes_on = step.run is not None
    words = ["run", *(("--resume", str(step.run)) if goes_on else (step.name, "--out", str(place)))]
    if not goes_on:
        words += [word for setting in settings for word in ("--set", setting)]
    return RunOptions(
        experiment="" if goes_on else step.name,
        loaded=None if goes_on else step.loaded,
        testbed=DEFAULT_TESTBED,
        out=None if goes_on else place,
        settings=() if goes_on else settings,
        jobs=jobs,
        resume=step.run,
        only_failed=False,
        only_cell=None,
        dask=None,
        is_live=False,
        arguments=tuple(words),
        is_long_meant=True,
    )
