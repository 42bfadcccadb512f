"""`rogue sensitivity`."""

from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import typer
from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter

from rogue.harness.columns import align
from rogue.harness.commands.index import update_index_of
from rogue.harness.commands.run import (
    begun_testbed,
    jobs_at_once,
    opened_cluster,
    ready_testbed,
    said_again,
)
from rogue.harness.data.files import DataFiles, kept_files
from rogue.harness.errors import ClusterLostError, UsageError
from rogue.harness.exit_codes import ExitCode
from rogue.harness.experiment.document import Document
from rogue.harness.experiment.load import LoadedExperiment, check_document
from rogue.harness.plan.plan import Plan
from rogue.harness.plugins.trust import NOBODY, Trust, load_trusted
from rogue.harness.program import call_again
from rogue.harness.results.data import kept_data
from rogue.harness.results.manifest import read_manifest
from rogue.harness.results.recorded_run import Run
from rogue.harness.results.run_directory import DEFAULT_OUT, locked
from rogue.harness.run import Workers, begin_run, reopen_run
from rogue.harness.search.base import Base, check_places, make_base, named_for_search
from rogue.harness.search.bench import Bench, Measured
from rogue.harness.search.question import Question, question_of_claim, question_of_measure
from rogue.harness.search.record import SearchFiles, read_record
from rogue.harness.search.screening import Asked, Screened, screen
from rogue.harness.search.slots import KeptSlots
from rogue.harness.search.values import Target, make_target
from rogue.harness.search.variation import Variation, check_variation
from rogue.harness.search.words import moved_rows, point_line, screened_line, tornado_of
from rogue.harness.termination import StoppedError, termination_as_interrupt
from rogue.harness.testbeds.base import Testbed
from rogue.reports.pages.sensitivity import sensitivity_html
from rogue.workloads.printable import printable

SUFFIX: Final = "-sensitivity"
ASKED: Final = "sensitivity.json"
PAGE: Final = "sensitivity.html"


class AskedVariation(BaseModel):
    """What was asked; the experiment itself stands in the manifest."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    file: str
    sha256: str
    variation: dict[str, JsonValue]
    claims: list[str]


@dataclass(frozen=True, slots=True)
class SensitivityOptions:
    """Options of `rogue sensitivity`, as given."""

    loaded: LoadedExperiment | None
    """The experiment, read and checked; None with `resume`."""
    vary: Document | None
    """The file of what varies; None with `resume`."""
    claims: tuple[str, ...]
    arguments: tuple[str, ...]
    testbed: str = "simulator"
    out: Path | None = None
    """None: where runs are by default."""
    jobs: int | None = None
    resume: Path | None = None
    dask: str | None = None
    """Address of a scheduler; None for processes on this computer."""
    trust: Trust = NOBODY
    """With `resume`: which code of the screening may run."""
    trusts_inventory: bool = False
    """Whether the inventory may be a program."""


@dataclass(frozen=True, slots=True)
class _Screening:
    """A screening, checked and ready to run."""

    loaded: LoadedExperiment
    testbed: Testbed
    variation: Variation
    asked: list[tuple[Question, Base, Target]]

    def benches(self, run: Run, workers: Workers) -> list[Asked]:
        """Return what measures for each question."""
        seconds_max, keys = self.variation.cell_ns / 1e9, tuple(self.variation.keys)
        return [
            Asked(question, Bench(run, base, target, workers, seconds_max, keys))
            for question, base, target in self.asked
        ]


def run_sensitivity(options: SensitivityOptions) -> ExitCode:
    """Screen, or go on with a screening; print its directory last."""
    if options.resume is not None:
        return _resume(options, options.resume)
    assert options.loaded is not None and options.vary is not None, "both were read"
    check_variation(options.vary)
    document = named_for_search(options.loaded.document, SUFFIX)
    loaded = check_document(document, options.loaded.settings, options.loaded.plugins)
    asked = AskedVariation(
        file=options.vary.file,
        sha256=options.vary.sha256,
        variation=TypeAdapter(dict[str, JsonValue]).validate_python(options.vary.data),
        claims=list(options.claims),
    )
    screening = _ready(asked, loaded, _testbed(options.testbed, options))
    plan = Plan(loaded, screening.testbed, ())
    run = begin_run(plan, options.out or DEFAULT_OUT, ("rogue", *options.arguments), datetime.now(UTC))
    with locked(run.directory):
        SearchFiles(run).write_record(ASKED, asked)
        return _work(screening, run, options)


def _resume(options: SensitivityOptions, directory: Path) -> ExitCode:
    manifest, asked = read_manifest(directory), read_record(directory / ASKED, AskedVariation)
    with locked(directory):
        begun = begun_testbed(manifest.testbed, options.testbed, options.arguments)
        plugins = load_trusted(manifest.plugins, options.trust)
        files = kept_files(kept_data(directory, manifest))
        source = manifest.source
        document = Document(source.file, source.sha256, source.data, {})
        loaded = check_document(document, source.set, plugins, files)
        screening = _ready(asked, loaded, _testbed(begun, options), files)
        return _work(screening, reopen_run(directory, ("rogue", *options.arguments)), options)


def _testbed(name: str, options: SensitivityOptions) -> Testbed:
    return ready_testbed(name, options.dask, is_trusted=options.trusts_inventory, command="sensitivity")


def _ready(
    asked: AskedVariation, loaded: LoadedExperiment, testbed: Testbed, files: DataFiles | None = None
) -> _Screening:
    """Check everything before anything is written."""
    variation = check_variation(Document(asked.file, asked.sha256, asked.variation, {}))
    check_places(loaded.document, variation.keys)
    questions = [question_of_claim(identifier) for identifier in asked.claims]
    questions += [question_of_measure(metric, variation.transport) for metric in variation.measures]
    if not questions:
        got = f"sensitivity: got neither measures in {asked.file} nor a claim"
        raise UsageError(f"{got}, expected one at least; add --claim ID or measures.")
    ready = [
        (each, make_base(loaded, testbed, each.aim, variation.seeds.first, files), make_target(each.aim))
        for each in questions
    ]
    return _Screening(loaded, testbed, variation, ready)


def _work(screening: _Screening, run: Run, options: SensitivityOptions) -> ExitCode:
    """Screen, then say and write what came of it; Ctrl-C leaves the cells that are there."""
    with ExitStack() as after:
        cluster = after.enter_context(opened_cluster(options.dask))
        slots = after.enter_context(KeptSlots(None if cluster is None else cluster.make_slot))
        workers = Workers(jobs_at_once(screening.testbed, options.jobs, cluster), slots.lend)
        try:
            with termination_as_interrupt():
                found = screen(screening.benches(run, workers), screening.variation, _show)
        except (KeyboardInterrupt, ClusterLostError) as stop:
            typer.echo(run.directory)
            said = said_again(run.manifest, options.dask, is_trusted=options.trusts_inventory)
            again = call_again("sensitivity", "--resume", run.directory, *said)
            kept = f"what was measured is kept; to go on: {again}"
            if isinstance(stop, ClusterLostError):
                raise ClusterLostError(f"{stop}; {kept}") from stop
            raise StoppedError(f"stopped; {kept}", stop) from stop
    _finish(screening, run, found)
    return ExitCode.OK


def _show(question: Question, measured: Measured) -> None:
    typer.echo(printable(point_line(question, measured)), err=True)


def _finish(screening: _Screening, run: Run, found: list[Screened]) -> None:
    experiment = screening.loaded.experiment
    page = sensitivity_html(experiment.title or experiment.name, [tornado_of(each) for each in found])
    run.manifest.status = "complete"
    SearchFiles(run).write({PAGE: page})
    update_index_of([run.directory])
    for each in found:
        typer.echo(printable(screened_line(each)))
        typer.echo("\n".join(printable(f"  {line}") for line in align(moved_rows(each))))
    typer.echo(f"page: {run.directory / PAGE}", err=True)
    typer.echo(run.directory)
