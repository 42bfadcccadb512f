"""`rogue sensitivity`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rogue.harness.commands import completion
from rogue.harness.commands.growing_run import GrowingOptions, begun_run, check_start, growing, resumed
from rogue.harness.commands.options import (
    Dask,
    Jobs,
    OptionalExperiment,
    Out,
    Plugins,
    Settings,
    TestbedName,
    TrustsInventory,
    TrustsPlugins,
)
from rogue.harness.commands.run import jobs_at_once
from rogue.harness.commands.runs import update_index_of
from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.terminal import align
from rogue.workloads.printable import printable

if TYPE_CHECKING:
    from rogue.harness.data.files import DataFiles
    from rogue.harness.experiment.document import Document
    from rogue.harness.experiment.load import LoadedExperiment
    from rogue.harness.results.recorded_run import Run
    from rogue.harness.run import Workers
    from rogue.harness.search.analysis import Analysed
    from rogue.harness.search.asked import Asked
    from rogue.harness.search.base import Base
    from rogue.harness.search.bench import Measured
    from rogue.harness.search.question import Question
    from rogue.harness.search.record import AskedVariation
    from rogue.harness.search.space import Variation
    from rogue.harness.testbeds.base import Testbed


Vary = Annotated[Path | None, typer.Option(metavar="FILE", help="Which keys vary, and within which bounds.")]


Claims = Annotated[
    list[str] | None, typer.Option("--claim", metavar="ID", help="Ask what moves this claim; repeatable.")
]


IsPlan = Annotated[bool, typer.Option("--plan", help="Say what it should take; run nothing.")]


ResumedScreening = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="RUN",
        help="Go on with one that was stopped; on nodes with --testbed.",
        autocompletion=completion.runs,
    ),
]


def sensitivity(  # noqa: PLR0913  (one parameter per option)
    experiment: OptionalExperiment = "",
    vary: Vary = None,
    claims: Claims = None,
    is_plan: IsPlan = False,
    testbed: TestbedName = "simulator",
    out: Out = None,
    settings: Settings = None,
    jobs: Jobs = None,
    resume: ResumedScreening = None,
    dask: Dask = None,
    plugins: Plugins = None,
    trusts_plugins: TrustsPlugins = False,
    trusts_inventory: TrustsInventory = False,
) -> ExitCode:
    """Say which keys of an experiment move a measure or a claim, and what turns the claim.

    Morris's screening moves each key a few times, alone, from random points, with the same seeds before and
    after. The file may ask for Sobol indices of the keys that are left, and for the smallest change of one or
    two keys that turns a claim. The last line on standard output is the directory.

    \b
      rogue sensitivity my.yml --vary vary.yml
      rogue sensitivity controls/dcqcn-delay --set 'factors={}' --claim X-2-10 --vary vary.yml
    """
    is_changed = any((experiment, vary, claims, settings, out, is_plan))
    check_start("sensitivity", experiment, ("--vary", vary), resume, is_changed=is_changed)

    from rogue.harness.experiment.find import find_experiment, load_named

    files = tuple(plugins or ())
    loaded = load_named(experiment, tuple(settings or ()), files) if resume is None else None
    from rogue.harness.plugins.trust import Trust
    from rogue.harness.search.space import read_variation_document

    document = None if vary is None else read_variation_document(find_experiment(str(vary)))
    options = SensitivityOptions(
        loaded=loaded, arguments=tuple(sys.argv[1:]), testbed=testbed, out=out, jobs=jobs, resume=resume,
        dask=dask, trust=Trust(files, trusts_plugins), trusts_inventory=trusts_inventory,
        vary=document, is_plan=is_plan, claims=tuple(claims or ()),
    )  # fmt: skip
    return run_sensitivity(options)


SUFFIX: Final = "-sensitivity"
PAGE: Final = "sensitivity.html"


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
        from rogue.harness.search.asked import Asked
        from rogue.harness.search.bench import Bench
        from rogue.harness.search.question import make_target

        seconds_max, keys = self.variation.cell_ns / 1e9, tuple(self.keys)
        return [
            Asked(question, Bench(run, base, make_target(question.aim), workers, seconds_max, keys))
            for question, base in self.asked
        ]

    @property
    def keys(self) -> list[str]:
        """Return the keys that vary, and those at which a claim compares other values."""
        from rogue.harness.search.asked import values_beside

        beside = (values_beside(question.beside, base.subject) for question, base in self.asked)
        return list(dict.fromkeys([*self.variation.keys, *(key for each in beside for key in each)]))


def run_sensitivity(options: SensitivityOptions) -> ExitCode:
    """Screen, or go on with a screening; print its directory last."""
    from pydantic import JsonValue, TypeAdapter

    from rogue.harness.experiment.load import check_document
    from rogue.harness.search.base import named_for_search
    from rogue.harness.search.record import AskedVariation
    from rogue.harness.search.space import check_variation
    from rogue.harness.testbeds import find_testbed

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
    from rogue.harness.run import reopen_run
    from rogue.harness.search.record import AskedVariation

    with resumed(directory, AskedVariation, options) as begun:
        return _work(_ready(*begun), reopen_run(directory, options.words), options)


def _ready(
    asked: AskedVariation, loaded: LoadedExperiment, testbed: Testbed, files: DataFiles | None = None
) -> _Screening:
    """Check everything before anything is written."""
    from rogue.harness.experiment.document import Document
    from rogue.harness.search.axis import axes_of
    from rogue.harness.search.base import check_places, make_base
    from rogue.harness.search.question import make_target, question_of_claim, question_of_measure
    from rogue.harness.search.space import check_variation

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
    from rogue.harness.search.analysis_forecast import plan_lines

    jobs = jobs_at_once(screening.testbed, options.jobs, None)
    for line in plan_lines(screening.asked, screening.variation, jobs):
        typer.echo(printable(line))
    return ExitCode.OK


def _work(screening: _Screening, run: Run, options: SensitivityOptions) -> ExitCode:
    """Screen, then say and write what came of it; Ctrl-C leaves the cells that are there."""
    from rogue.harness.search.analysis import analyse

    with growing(run, screening.testbed, options, lambda: typer.echo(run.directory)) as workers:
        found = analyse(screening.benches(run, workers), screening.variation, _show)
    _finish(screening, run, found)
    return ExitCode.OK


def _show(question: Question, measured: Measured) -> None:
    from rogue.harness.search.words import point_line

    typer.echo(printable(point_line(question, measured)), err=True)


def _finish(screening: _Screening, run: Run, found: list[Analysed]) -> None:
    from rogue.harness.search.analysis import index_rows, sensitivity_of, turn_line
    from rogue.harness.search.record import SearchFiles
    from rogue.harness.search.words import moved_rows, screened_line
    from rogue.reports.pages.search_pages import sensitivity_html

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
