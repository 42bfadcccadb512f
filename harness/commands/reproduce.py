"""`rogue reproduce`: the shipped experiments of a paper, the cheapest first, and the claims board."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import typer

from rogue.harness.commands.claims import find_runs, write_board
from rogue.harness.commands.experiments import DIRECTORY, experiment_files, find_experiment
from rogue.harness.commands.run import DEFAULT_TESTBED, RunOptions, run_experiment
from rogue.harness.commands.steps import Standing, Step, cheap_first, step_of
from rogue.harness.errors import HarnessError, UsageError
from rogue.harness.exit_codes import ExitCode
from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan.text import format_seconds
from rogue.harness.results.history import changes_since
from rogue.harness.results.manifest import read_manifest
from rogue.harness.results.provenance import git_facts
from rogue.harness.results.run_directory import DEFAULT_OUT
from rogue.workloads.manifest import Manifest
from rogue.workloads.printable import printable

_COUNTED: Final = {
    Standing.COMPLETE: "complete",
    Standing.GOES_ON: "to go on",
    Standing.STALE: "stale",
    Standing.STARTS: "to start",
}


@dataclass(frozen=True, slots=True)
class ReproduceOptions:
    """Options of `rogue reproduce`, as given."""

    paper: str
    settings: tuple[str, ...] = ()
    out: Path | None = None
    """None: where runs are by default."""
    jobs: int | None = None
    dask: str | None = None
    """Address of a scheduler; None for processes on this computer."""
    is_dry: bool = False
    """Whether nothing is run and no board is written."""

    @property
    def place(self) -> Path:
        """Where the runs are."""
        return self.out or DEFAULT_OUT


def reproduce_paper(options: ReproduceOptions) -> ExitCode:
    """Say what is stale, run what is missing, then write the board; the worst exit code is returned.

    All experiments are read first, so that a wrong setting is told before anything runs.
    """
    steps = paper_steps(options)
    _say(steps, is_dry=options.is_dry)
    if options.is_dry:
        return ExitCode.OK
    left = [step for step in steps if step.standing is not Standing.COMPLETE]
    worst = ExitCode.OK
    for number, step in enumerate(left, start=1):
        typer.echo(f"[{number}/{len(left)}] {step.name}", err=True)
        worst = max(worst, run_experiment(_options(step, options)))
    return max(worst, write_board((options.place,), None))


def paper_steps(options: ReproduceOptions) -> list[Step]:
    """Return what is complete of a paper and what is to be run, the cheapest first."""
    names = paper_experiments(options.paper)
    loaded = [load_experiment(find_experiment(name), options.settings) for name in names]
    present, git = known_runs(options.place), git_facts()
    return cheap_first(
        [step_of(name, each, present, git, changes_since) for name, each in zip(names, loaded, strict=True)]
    )


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


def _say(steps: Sequence[Step], *, is_dry: bool) -> None:
    """Say before anything runs how each experiment stands, and how long the rest should take."""
    counts = Counter(step.standing for step in steps)
    words = ", ".join(f"{counts[standing]} {word}" for standing, word in _COUNTED.items() if counts[standing])
    seconds = format_seconds(sum(step.seconds for step in steps))
    for step in steps:
        time = f" ({format_seconds(step.seconds)} on one core)" if step.seconds else ""
        typer.echo(printable(f"{step.name}: {step.text}{time}"), err=not is_dry)
    typer.echo(f"Experiments: {words}; {seconds} on one core are left.", err=not is_dry)


def _options(step: Step, given: ReproduceOptions) -> RunOptions:
    goes_on = step.standing is Standing.GOES_ON
    words = ["run", *(("--resume", str(step.run)) if goes_on else (step.name, "--out", str(given.place)))]
    if not goes_on:
        words += [word for setting in given.settings for word in ("--set", setting)]
    if given.dask is not None:
        words += ["--dask", given.dask]
    return RunOptions(
        experiment="" if goes_on else step.name,
        loaded=None if goes_on else step.loaded,
        testbed=DEFAULT_TESTBED,
        out=None if goes_on else given.place,
        settings=() if goes_on else given.settings,
        jobs=given.jobs,
        resume=step.run if goes_on else None,
        only_failed=False,
        only_cell=None,
        dask=given.dask,
        is_live=False,
        arguments=tuple(words),
        is_long_meant=True,
        is_cheap_first=True,
    )
