"""`rogue sensitivity`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import typer
from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter

from rogue.harness.commands.growing_run import GrowingOptions, begun_run, growing, resumed
from rogue.harness.commands.manage_runs import update_index_of
from rogue.harness.commands.run import jobs_at_once
from rogue.harness.data.files import DataFiles
from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.experiment.document import Document
from rogue.harness.experiment.load import LoadedExperiment, check_document
from rogue.harness.results.recorded_run import Run
from rogue.harness.run import Workers, reopen_run
from rogue.harness.search.analysis import Analysed, analyse, index_rows, sensitivity_of, turn_line
from rogue.harness.search.analysis_forecast import plan_lines
from rogue.harness.search.asked import Asked, values_beside
from rogue.harness.search.axis import axes_of
from rogue.harness.search.base import Base, check_places, make_base, named_for_search
from rogue.harness.search.bench import Bench, Measured
from rogue.harness.search.question import Question, make_target, question_of_claim, question_of_measure
from rogue.harness.search.record import SearchFiles
from rogue.harness.search.space import Variation, check_variation
from rogue.harness.search.words import moved_rows, point_line, screened_line
from rogue.harness.terminal import align
from rogue.harness.testbeds import find_testbed
from rogue.harness.testbeds.base import Testbed
from rogue.reports.pages.search_pages import sensitivity_html
from rogue.workloads.printable import printable

SUFFIX: Final = "-sensitivity"
PAGE: Final = "sensitivity.html"


class AskedVariation(BaseModel):
    """What was asked; the experiment itself stands in the manifest."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    file: str
    sha256: str
    variation: dict[str, JsonValue]
    claims: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitivityOptions(GrowingOptions):
    """Options of `rogue sensitivity`, as given."""

    command = "sensitivity"
    vary: Document | None = None
    """The file of what varies; None with `resume`."""
    claims: tuple[str, ...] = ()
    is_plan: bool = False


@dataclass(frozen=True, slots=True)
class _Screening:
    """A screening, checked and ready to run."""

    loaded: LoadedExperiment
    testbed: Testbed
    variation: Variation
    asked: list[tuple[Question, Base]]

    def benches(self, run: Run, workers: Workers) -> list[Asked]:
        """Return what measures for each question."""
        seconds_max, keys = self.variation.cell_ns / 1e9, tuple(self.keys)
        return [
            Asked(question, Bench(run, base, make_target(question.aim), workers, seconds_max, keys))
            for question, base in self.asked
        ]

    @property
    def keys(self) -> list[str]:
        """Return the keys that vary, and those at which a claim compares other values."""
        beside = (values_beside(question.beside, base.subject) for question, base in self.asked)
        return list(dict.fromkeys([*self.variation.keys, *(key for each in beside for key in each)]))


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
    if options.is_plan:
        testbed = find_testbed(options.testbed, is_trusted=options.trusts_inventory)
        return _print_plan(_ready(asked, loaded, testbed), options)
    screening = _ready(asked, loaded, options.ready_testbed(options.testbed))
    with begun_run(loaded, screening.testbed, asked, options) as run:
        return _work(screening, run, options)


def _resume(options: SensitivityOptions, directory: Path) -> ExitCode:
    with resumed(directory, AskedVariation, options) as begun:
        return _work(_ready(*begun), reopen_run(directory, options.words), options)


def _ready(
    asked: AskedVariation, loaded: LoadedExperiment, testbed: Testbed, files: DataFiles | None = None
) -> _Screening:
    """Check everything before anything is written."""
    variation = check_variation(Document(asked.file, asked.sha256, asked.variation, {}))
    questions = [question_of_claim(identifier) for identifier in asked.claims]
    questions += [question_of_measure(metric, variation.transport) for metric in variation.measures]
    if not questions:
        got = f"sensitivity: got neither measures in {asked.file} nor a claim"
        raise UsageError(f"{got}, expected one at least; add --claim ID or measures.")
    for each in questions:
        make_target(each.aim)  # an error now, and not when the run has begun
    ready = [(each, make_base(loaded, testbed, each.aim, variation.seeds.first, files)) for each in questions]
    screening = _Screening(loaded, testbed, variation, ready)
    check_places(loaded.document, screening.keys)
    if variation.flip and asked.claims:
        axes_of(variation.keys, ready[0][1])
    return screening


def _print_plan(screening: _Screening, options: SensitivityOptions) -> ExitCode:
    jobs = jobs_at_once(screening.testbed, options.jobs, None)
    for line in plan_lines(screening.asked, screening.variation, jobs):
        typer.echo(printable(line))
    return ExitCode.OK


def _work(screening: _Screening, run: Run, options: SensitivityOptions) -> ExitCode:
    """Screen, then say and write what came of it; Ctrl-C leaves the cells that are there."""
    with growing(run, screening.testbed, options, lambda: typer.echo(run.directory)) as workers:
        found = analyse(screening.benches(run, workers), screening.variation, _show)
    _finish(screening, run, found)
    return ExitCode.OK


def _show(question: Question, measured: Measured) -> None:
    typer.echo(printable(point_line(question, measured)), err=True)


def _finish(screening: _Screening, run: Run, found: list[Analysed]) -> None:
    experiment = screening.loaded.experiment
    shown = sensitivity_of(experiment.title or experiment.name, found, screening.variation)
    page = sensitivity_html(shown)
    run.manifest.status = "complete"
    SearchFiles(run).write({PAGE: page})
    update_index_of([run.directory])
    for each in found:
        typer.echo(printable(screened_line(each.screened)))
        for rows in (moved_rows(each.screened), index_rows(each.indices) if each.indices else []):
            for line in align(rows):
                typer.echo(printable(f"  {line}"))
        if (turn := turn_line(each, screening.variation.held_out.numbers)) is not None:
            typer.echo(printable(turn))
    typer.echo(f"page: {run.directory / PAGE}", err=True)
    typer.echo(run.directory)
