"""`rogue reproduce`: run the experiments of a paper that have no complete run, then write the board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rogue.harness.commands.claims import claims, find_runs
from rogue.harness.commands.options import Dask
from rogue.harness.commands.run import RunOptions, run_experiment
from rogue.harness.errors import ExitCode, HarnessError, UsageError
from rogue.harness.testbeds import DEFAULT_TESTBED
from rogue.workloads.printable import printable

if TYPE_CHECKING:
    from rogue.harness.experiment.load import LoadedExperiment
    from rogue.workloads.manifest import Manifest


def reproduce(  # noqa: PLR0913  (one parameter per option)
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER",
            help="rogue, irn, rocc, hpcc, rdma-at-scale, ecn-or-delay, dctcp, swift, powertcp, uet, reps,"
            " smartt or all.",
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Change every experiment, e.g. scale=quick; repeatable."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Directory of the runs.", show_default="results")] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, max=1024, help="Cells at once; by default one per core."),
    ] = None,
    dask: Dask = None,
    is_again: Annotated[
        bool, typer.Option("--again", help="Run every experiment, also those that have a complete run.")
    ] = False,
    is_dry: Annotated[
        bool, typer.Option("--dry-run", help="Print what is complete and what is missing; run nothing.")
    ] = False,
) -> ExitCode:
    """Run all experiments of a paper, and write the claims board.

    An experiment with a complete run of the same file and settings does not run again. A run that was
    stopped resumes if the commit is the same: after Ctrl-C, the same command continues. Cheap experiments
    and cells run first.

    \b
      rogue reproduce rogue
      rogue reproduce all --dry-run
      rogue reproduce all --dask tls://head:8786
      rogue reproduce all --set scale=quick
      rogue reproduce uet --again
    """
    options = ReproduceOptions(paper, tuple(settings or ()), out, jobs, dask, is_again)
    steps = paper_steps(options)
    _print_steps(steps, is_dry=is_dry)
    if is_dry:
        return ExitCode.OK
    left = [step for step in steps if step.action is not Action.NONE]
    worst = ExitCode.OK
    for number, step in enumerate(left, start=1):
        typer.echo(f"[{number}/{len(left)}] {step.name}", err=True)
        worst = max(worst, run_experiment(_options(step, options)))
    return max(worst, claims([options.place]))


class Action(StrEnum):
    """What to do about an experiment."""

    NONE = "complete"
    RESUME = "resumes"
    START = "starts"


_COUNTED: Final = {Action.NONE: "complete", Action.RESUME: "to resume", Action.START: "to start"}


@dataclass(frozen=True, slots=True)
class ReproduceOptions:
    """Options of `rogue reproduce`, as given."""

    paper: str
    settings: tuple[str, ...] = ()
    out: Path | None = None
    """None for the default directory of runs."""
    jobs: int | None = None
    dask: str | None = None
    """Address of a scheduler; None for processes on this computer."""
    is_again: bool = False
    """True to run every experiment, also those that have a complete run."""

    @property
    def place(self) -> Path:
        """Return the directory of the runs."""
        from rogue.harness.results.run_directory import DEFAULT_OUT

        return self.out or DEFAULT_OUT


@dataclass(frozen=True, slots=True)
class Step:
    """One experiment of a paper, and what to do about it."""

    name: str
    loaded: LoadedExperiment
    action: Action
    run: Path | None = None
    """The run that is complete or resumes."""
    seconds: float = 0.0
    """Expected time on one core of the cells that are missing."""


def paper_steps(options: ReproduceOptions) -> list[Step]:
    """Return a step for each experiment of a paper, the cheapest first."""
    from rogue.harness.experiment.find import find_experiment
    from rogue.harness.experiment.load import load_experiment
    from rogue.harness.results.provenance import git_facts

    names = paper_experiments(options.paper)
    loaded = [load_experiment(find_experiment(name), options.settings) for name in names]
    present = [] if options.is_again else known_runs(options.place)
    commit = git_facts().commit
    steps = [step_of(name, each, present, commit) for name, each in zip(names, loaded, strict=True)]
    return sorted(steps, key=lambda step: step.seconds)


def paper_experiments(paper: str) -> list[str]:
    """Return the names of a paper's experiments; UsageError if there is no such paper."""
    from rogue.harness.experiment.find import DIRECTORY, experiment_files
    from rogue.reports.board.tally import experiments_of
    from rogue.reports.claims import read_claims
    from rogue.reports.errors import ReportError

    shipped = [file.relative_to(DIRECTORY).with_suffix("").as_posix() for file in experiment_files()]
    try:
        return experiments_of(paper, read_claims(), shipped)
    except ReportError as error:
        raise UsageError(str(error)) from error


def known_runs(place: Path) -> list[tuple[Path, Manifest]]:
    """Return the runs in a directory whose manifests can be read, the newest first."""
    from rogue.harness.results.manifest import read_manifest

    found = []
    for run in find_runs((place,)) if place.is_dir() else []:
        try:
            found.append((run, read_manifest(run)))
        except HarnessError:
            continue
    return sorted(found, key=lambda each: each[1].created_utc, reverse=True)


def step_of(
    name: str, loaded: LoadedExperiment, present: Sequence[tuple[Path, Manifest]], commit: str | None
) -> Step:
    """Return what to do about an experiment; of several runs that fit, the first one counts.

    A run that was stopped resumes only at its own commit, since a verdict names one commit.
    """
    from rogue.harness.plan.plan import make_plan
    from rogue.harness.testbeds import find_testbed

    alike = [(run, manifest) for run, manifest in present if is_alike(manifest, loaded)]
    for run, manifest in alike:
        if manifest.status == "complete":
            return Step(name, loaded, Action.NONE, run)
    seconds = make_plan(loaded, find_testbed(DEFAULT_TESTBED)).seconds(1)
    for run, manifest in alike:
        if manifest.git.commit == commit:
            left = sum(cell.status != "ok" for cell in manifest.cells) / max(len(manifest.cells), 1)
            return Step(name, loaded, Action.RESUME, run, seconds * left)
    return Step(name, loaded, Action.START, seconds=seconds)


def is_alike(manifest: Manifest, loaded: LoadedExperiment) -> bool:
    """True if a run has this experiment's file and settings, and all of its cells, on the simulator."""
    from rogue.harness.experiment.find import find_experiment

    return (
        manifest.testbed == DEFAULT_TESTBED
        and manifest.source.sha256 == loaded.document.sha256
        and manifest.source.set == list(loaded.settings)
        and "--only-cell" not in manifest.command
        and _is_same_file(find_experiment(manifest.source.file), loaded.document.file)
    )


def _is_same_file(one: str, two: str) -> bool:
    try:
        return Path(one).resolve() == Path(two).resolve()
    except ValueError:  # a name that no file can have
        return False


def _print_steps(steps: Sequence[Step], *, is_dry: bool) -> None:
    """Print what happens to each experiment, and the expected time of all."""
    from rogue.harness.plan.text import format_seconds

    counts = Counter(step.action for step in steps)
    words = ", ".join(f"{counts[action]} {word}" for action, word in _COUNTED.items() if counts[action])
    seconds = format_seconds(sum(step.seconds for step in steps))
    for step in steps:
        time = f" ({format_seconds(step.seconds)} on one core)" if step.seconds else ""
        typer.echo(printable(f"{step.name}: {step.action.value}{time}"), err=not is_dry)
    typer.echo(f"Experiments: {words}; {seconds} on one core are left.", err=not is_dry)


def _options(step: Step, given: ReproduceOptions) -> RunOptions:
    is_resumed = step.action is Action.RESUME
    words = ["run", *(("--resume", str(step.run)) if is_resumed else (step.name, "--out", str(given.place)))]
    if not is_resumed:
        words += [word for setting in given.settings for word in ("--set", setting)]
    if given.dask is not None:
        words += ["--dask", given.dask]
    return RunOptions(
        experiment="" if is_resumed else step.name,
        loaded=None if is_resumed else step.loaded,
        testbed=DEFAULT_TESTBED,
        out=None if is_resumed else given.place,
        settings=() if is_resumed else given.settings,
        jobs=given.jobs,
        resume=step.run if is_resumed else None,
        only_failed=False,
        only_cell=None,
        dask=given.dask,
        is_live=False,
        arguments=tuple(words),
        allows_long=True,
        is_cheap_first=True,
    )
