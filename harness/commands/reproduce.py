"""`rogue reproduce`: run the experiments of a paper that have no complete run, and write the claims board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rogue.harness.commands.claims import claims, find_runs
from rogue.harness.commands.options import Dask, Jobs
from rogue.harness.commands.run import RunOptions, run_experiment
from rogue.harness.errors import ExitCode, HarnessError, UsageError
from rogue.harness.results.named_run import DEFAULT_OUT
from rogue.harness.results.provenance import git_facts
from rogue.harness.results.run_directory import read_manifest
from rogue.harness.terminal import inform
from rogue.harness.testbeds import DEFAULT_TESTBED, find_testbed
from rogue.reports.errors import ReportError
from rogue.workloads.manifest import Manifest
from rogue.workloads.printable import printable

if TYPE_CHECKING:
    from rogue.harness.experiment.load import LoadedExperiment


def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER",
            help="rogue, irn, rocc, hpcc, rdma-at-scale, ecn-or-delay, dctcp, swift, powertcp, uet, reps,"
            " smartt, measured-nics or all.",
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Change every experiment, e.g. scale=quick; repeatable."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Directory of the runs.", show_default="results")] = None,
    jobs: Jobs = None,
    dask: Dask = None,
    is_again: Annotated[
        bool, typer.Option("--again", help="Run every experiment, also those that have a complete run.")
    ] = False,
    is_dry: Annotated[
        bool, typer.Option("--dry-run", help="Print what is complete and what is missing; run nothing.")
    ] = False,
) -> ExitCode:
    """Run all experiments of a paper, and write the claims board.

    PAPER is `all` for the shipped experiments of all papers. An experiment with a complete run of the same
    file and settings does not run again. A run that was stopped resumes if the commit is the same: after
    Ctrl-C, the same command continues. Cheap experiments and cells run first.

    \b
      rogue reproduce rogue
      rogue reproduce all --dry-run
      rogue reproduce all --dask tls://head:8786
      rogue reproduce all --set scale=quick
      rogue reproduce uet --again
    """
    changes, place = tuple(settings or ()), out or DEFAULT_OUT
    steps = paper_steps(paper, changes, place, is_again=is_again)
    _print_steps(steps, is_dry=is_dry)
    if is_dry:
        return ExitCode.OK
    left = [step for step in steps if step.action in (Action.RESUME, Action.START)]
    worst = ExitCode.OK
    for number, step in enumerate(left, start=1):
        inform(f"[{number}/{len(left)}] {step.name}")
        worst = max(worst, run_experiment(*_start_or_resume(step, changes, place, jobs, dask)))
    return max(worst, claims([place]))


class Action(StrEnum):
    """The action for an experiment."""

    NONE = "complete"
    RESUME = "resumes"
    START = "starts"
    IMPOSSIBLE = "not on the simulator"


_COUNTED: Final = {Action.NONE: "complete", Action.RESUME: "to resume", Action.START: "to start"}


@dataclass(frozen=True, slots=True)
class Step:
    """One experiment of a paper, and the action for it."""

    name: str
    loaded: LoadedExperiment
    action: Action
    run: Path | None = None
    """The run that is complete or resumes."""
    seconds: float = 0.0
    """Expected time on one core of the cells that are missing."""
    reason: str = ""
    """Why no cell can run on the simulator."""


def paper_steps(paper: str, settings: Sequence[str], place: Path, *, is_again: bool) -> list[Step]:
    """Return a step for each experiment of a paper, the cheapest first; `place` has earlier runs.

    An experiment that the simulator cannot run, such as one about processor time, has the action IMPOSSIBLE.
    """
    from rogue.harness.experiment.find import find_experiment
    from rogue.harness.experiment.load import load_experiment

    loaded = {name: load_experiment(find_experiment(name), settings) for name in paper_experiments(paper)}
    present = [] if is_again else known_runs(place)
    commit = git_facts().commit
    steps = (step_of(name, each, present, commit) for name, each in loaded.items())
    return sorted(steps, key=lambda step: step.seconds)


def paper_experiments(paper: str) -> list[str]:
    """Return the names of a paper's experiments; UsageError if there is no such paper."""
    from rogue.harness.experiment.find import DIRECTORY, experiment_files
    from rogue.reports.board.tally import experiments_of
    from rogue.reports.claims import read_claims

    shipped = [file.relative_to(DIRECTORY).with_suffix("").as_posix() for file in experiment_files()]
    try:
        return experiments_of(paper, read_claims(), shipped)
    except ReportError as error:
        raise UsageError(str(error)) from error


def known_runs(place: Path) -> list[tuple[Path, Manifest]]:
    """Return the runs in a directory whose manifests can be read, the newest first."""
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
    """Return what to do about an experiment.

    Of several runs that fit, the first counts. A run that was stopped resumes only at its own commit, since a
    verdict names one commit.
    """
    from rogue.harness.plan.plan import make_plan

    alike = [(run, manifest) for run, manifest in present if is_alike(manifest, loaded)]
    for run, manifest in alike:
        if manifest.status == "complete":
            return Step(name, loaded, Action.NONE, run)
    plan = make_plan(loaded, find_testbed(DEFAULT_TESTBED))
    if not plan.runnable:
        reasons = dict.fromkeys(cell.unsupported for cell in plan.cells if cell.unsupported)
        return Step(name, loaded, Action.IMPOSSIBLE, reason="; ".join(reasons))
    seconds = plan.seconds(1)
    for run, manifest in alike:
        if manifest.git.commit == commit:
            left = sum(cell.status != "ok" for cell in manifest.cells) / max(len(manifest.cells), 1)
            return Step(name, loaded, Action.RESUME, run, seconds * left)
    return Step(name, loaded, Action.START, seconds=seconds)


def is_alike(manifest: Manifest, loaded: LoadedExperiment) -> bool:
    """True if a run has the file and settings of this experiment, and all its cells, on the simulator."""
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
    """Print the action for each experiment, and the expected time of all."""
    from rogue.harness.plan.text import format_seconds

    counts = Counter(step.action for step in steps)
    words = ", ".join(f"{counts[action]} {word}" for action, word in _COUNTED.items() if counts[action])
    seconds = format_seconds(sum(step.seconds for step in steps))
    lines = []
    for step in steps:
        time = f" ({format_seconds(step.seconds)} on one core)" if step.seconds else ""
        why = f": {step.reason}" if step.reason else ""
        lines.append(printable(f"{step.name}: {step.action.value}{time}{why}"))
    lines.append(f"Experiments: {words}; {seconds} on one core are left.")
    if is_dry:
        typer.echo("\n".join(lines))
    else:
        inform(*lines)


def _start_or_resume(
    step: Step, settings: tuple[str, ...], place: Path, jobs: int | None, dask: str | None
) -> tuple[LoadedExperiment | None, RunOptions]:
    """Return the arguments of `run_experiment`."""
    if is_resumed := step.action is Action.RESUME:
        words = ["run", "--resume", str(step.run)]
    else:
        words = ["run", step.name, "--out", str(place)]
        words += [word for setting in settings for word in ("--set", setting)]
    return None if is_resumed else step.loaded, RunOptions(
        testbed=DEFAULT_TESTBED,
        out=None if is_resumed else place,
        jobs=jobs,
        resume=step.run if is_resumed else None,
        dask=dask,
        arguments=(*words, *(() if dask is None else ("--dask", dask))),
        allows_long=True,
        is_cheap_first=True,
    )
