"""`rogue search`."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from rogue.harness.commands.weaknesses import try_weakness
from rogue.harness.errors import ExitCode, StoppedError, UsageError, termination_as_interrupt
from rogue.harness.testbeds import ready_testbed
from rogue.workloads.printable import printable

if TYPE_CHECKING:
    from pydantic import JsonValue

    from rogue.harness.data.files import DataFiles
    from rogue.harness.experiment.document import Document
    from rogue.harness.experiment.load import LoadedExperiment
    from rogue.harness.results.recorded_run import Run
    from rogue.harness.search.base import Base
    from rogue.harness.search.campaign import Find, Outcome, Told
    from rogue.harness.search.question import Target
    from rogue.harness.search.record import Asked
    from rogue.harness.search.space import Aim, SecondAim, Space
    from rogue.harness.testbeds.base import Testbed


SpaceOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="What may change, what is looked for, and for how long.",
        autocompletion=completion.spaces,
    ),
]


Worst = Annotated[
    str | None,
    typer.Option(metavar="METRIC", help="The measure whose worst value is looked for, if FILE has no aim."),
]


Against = Annotated[
    str | None, typer.Option(metavar="TRANSPORT", help="Divide by the same measure of this transport.")
]


IsPlan = Annotated[bool, typer.Option("--plan", help="Say what it should take; run nothing.")]


HasBaseline = Annotated[
    bool, typer.Option("--baseline/--no-baseline", help="Also draw random values with the same budget.")
]


Confirm = Annotated[
    str | None,
    typer.Option(
        metavar="TESTBED",
        help="Run the find on this testbed, too, for example on the kernel.",
        autocompletion=completion.testbeds,
    ),
]


ResumedSearch = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="RUN",
        help="Go on with a search that was stopped; on nodes with --testbed.",
        autocompletion=completion.runs,
    ),
]


def search(  # noqa: PLR0913  (one parameter per option)
    experiment: OptionalExperiment = "",
    space: SpaceOption = None,
    worst: Worst = None,
    against: Against = None,
    is_plan: IsPlan = False,
    has_baseline: HasBaseline = True,
    confirm: Confirm = None,
    testbed: TestbedName = "simulator",
    out: Out = None,
    settings: Settings = None,
    jobs: Jobs = None,
    resume: ResumedSearch = None,
    dask: Dask = None,
    plugins: Plugins = None,
    trusts_plugins: TrustsPlugins = False,
    trusts_inventory: TrustsInventory = False,
) -> ExitCode:
    """Look for values at which a measure is worst, and keep the simplest that hold on other seeds.

    The space file has a range for each key of the experiment that may change. The same file and seeds give
    the same cells with any number of jobs. The last line on standard output is the search's directory.

    \b
      rogue search experiments/found/start/livelock.yml --space experiments/found/spaces/livelock.yml --plan
      rogue search --resume results/livelock-search/20261120T101500Z-3f9a1c
    """
    is_changed = any((experiment, space, settings, worst, against, out, is_plan, not has_baseline))
    check_start("search", experiment, ("--space", space), resume, is_changed=is_changed)

    from rogue.harness.experiment.find import find_experiment, load_named

    files = tuple(plugins or ())
    loaded = load_named(experiment, tuple(settings or ()), files) if resume is None else None
    from rogue.harness.plugins.trust import Trust
    from rogue.harness.search.space import read_space_document

    document = None if space is None else read_space_document(find_experiment(str(space)))
    options = SearchOptions(
        loaded=loaded, arguments=tuple(sys.argv[1:]), testbed=testbed, out=out, jobs=jobs, resume=resume,
        dask=dask, trust=Trust(files, trusts_plugins), trusts_inventory=trusts_inventory,
        space=document, worst=worst, against=against, has_baseline=has_baseline, is_plan=is_plan,
        confirm=confirm,
    )  # fmt: skip
    return run_search(options)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions(GrowingOptions):
    """Options of `rogue search`, as given."""

    command = "search"
    space: Document | None = None
    """The space file; None with `resume`."""
    worst: str | None = None
    against: str | None = None
    has_baseline: bool = True
    is_plan: bool = False
    """Whether nothing is run."""
    confirm: str | None = None
    """Another testbed, on which a find is run, too."""


@dataclass(frozen=True, slots=True)
class _Search:
    """A search, checked and ready to run."""

    base: Base
    space: Space
    aim: Aim
    target: Target
    also: Target | None
    """The second aim."""
    asked: Asked

    @property
    def measure(self) -> str:
        """What is looked at, in words."""
        from rogue.harness.search.words import measure_text

        choices = self.base.loaded.experiment.transports
        against = None if self.base.against is None else choices[self.base.against].shown
        return measure_text(self.target, choices[self.base.subject].shown, against)


def run_search(options: SearchOptions) -> ExitCode:
    """Search, or go on with a search; print its directory last."""
    from rogue.harness.experiment.load import check_document
    from rogue.harness.search.base import named_for_search
    from rogue.harness.search.record import Asked
    from rogue.harness.testbeds import find_testbed

    if options.resume is not None:
        return _resume(options, options.resume)
    assert options.loaded is not None and options.space is not None, "both were read"
    document = named_for_search(options.loaded.document)
    loaded = check_document(document, options.loaded.settings, options.loaded.plugins)
    asked = Asked(
        space_file=options.space.file,
        space_sha256=options.space.sha256,
        space=_with_aim(options.space, options.worst, options.against),
        has_baseline=options.has_baseline,
    )
    if options.is_plan:
        testbed = find_testbed(options.testbed, is_trusted=options.trusts_inventory)
        return _print_plan(_ready(asked, loaded, testbed), options)
    search = _ready(asked, loaded, options.ready_testbed(options.testbed))
    confirmer = _confirmer(options)
    with begun_run(loaded, search.base.testbed, asked, options) as run:
        return _work(search, run, options, confirmer)


def _resume(options: SearchOptions, directory: Path) -> ExitCode:
    from rogue.harness.run import reopen_run
    from rogue.harness.search.record import Asked

    confirmer = _confirmer(options)
    with resumed(directory, Asked, options) as begun:
        return _work(_ready(*begun), reopen_run(directory, options.words), options, confirmer)


def _confirmer(options: SearchOptions) -> Testbed | None:
    """Return the testbed on which a find is run, too, in a state to measure; no cluster is part of it."""
    if options.confirm is None:
        return None
    return ready_testbed(options.confirm, None, is_trusted=options.trusts_inventory, command=options.command)


def _with_aim(space: Document, worst: str | None, against: str | None) -> dict[str, JsonValue]:
    """Return a space with what the command line says of its aim; UsageError if the file says otherwise."""
    data = _plain(space)
    written = data.get("aim", {})
    aim = dict(written) if isinstance(written, dict) else {}
    for option, key, said in (("--worst", "metric", worst), ("--against", "against", against)):
        if said is not None and aim.setdefault(key, said) != said:
            got, advice = f"{option} {said}", "leave the option out, or change the file"
            raise UsageError(f"{space.file}: got {got}, expected {key} {aim[key]} as the aim says; {advice}.")
    return {**data, "aim": aim} if aim else data


def _plain(space: Document) -> dict[str, JsonValue]:
    """Return what a checked space file says, as JSON."""
    from pydantic import JsonValue, TypeAdapter

    from rogue.harness.search.space import check_space

    check_space(space)
    return TypeAdapter(dict[str, JsonValue]).validate_python(space.data)


def _ready(
    asked: Asked, loaded: LoadedExperiment, testbed: Testbed, files: DataFiles | None = None
) -> _Search:
    from rogue.harness.search.base import check_places, make_base
    from rogue.harness.search.question import make_target
    from rogue.harness.search.space import check_space

    space = check_space(asked.document)
    if space.aim is None:
        got = f"search: got no aim, neither in {asked.space_file} nor by --worst"
        raise UsageError(f"{got}, expected a measure; `rogue list measures` has them.")
    check_places(loaded.document, space.keys)
    base = make_base(loaded, testbed, space.aim, space.seeds.first, files)
    also = None if space.also is None else _second(space.aim, space.also)
    return _Search(base, space, space.aim, make_target(space.aim), also, asked)


def _second(aim: Aim, also: SecondAim) -> Target:
    """Return the second aim of a search, which is about the same transports."""
    from rogue.harness.search.question import make_target

    said = {"metric": also.metric, "direction": also.direction, "bound": also.bound}
    return make_target(aim.model_copy(update=said))


def _print_plan(search: _Search, options: SearchOptions) -> ExitCode:
    from rogue.harness.search.words import forecast_lines

    typer.echo(printable(f"{search.measure}, {search.target.direction}"))
    samplers = len(search.space.samplers(has_baseline=search.asked.has_baseline))
    jobs = jobs_at_once(search.base.testbed, options.jobs, None)
    for line in forecast_lines(search.base, search.space, samplers, jobs):
        typer.echo(printable(line))
    return ExitCode.OK


def _work(search: _Search, run: Run, options: SearchOptions, confirmer: Testbed | None) -> ExitCode:
    """Search, then say and write what came of it; Ctrl-C leaves what is there."""
    from rogue.harness.search.bench import Bench
    from rogue.harness.search.campaign import Campaign, Outcome

    outcome, space = Outcome(), search.space
    with growing(run, search.base.testbed, options, lambda: _finish(search, run, outcome)) as workers:
        seconds_max, keys = space.budget.cell_ns / 1e9, tuple(space.keys)
        bench = Bench(run, search.base, search.target, workers, seconds_max, keys, search.also)
        has_baseline = search.asked.has_baseline
        Campaign(
            bench, space, has_baseline, time.monotonic, lambda told: _show(told, search, run, outcome)
        ).run(outcome)
    confirmed = ""
    try:
        if confirmer is not None and outcome.find is not None:
            with termination_as_interrupt():
                confirmed = _confirmed(search, run, outcome.find, confirmer, options)
    except KeyboardInterrupt as stop:
        raise StoppedError("stopped; the find is kept, and was not confirmed.", stop) from stop
    finally:
        _finish(search, run, outcome, confirmed)
    return ExitCode.OK


def _confirmed(search: _Search, run: Run, find: Find, testbed: Testbed, options: SearchOptions) -> str:
    """Run the find on another testbed, beside the search; return what it gave there, in a sentence."""
    from rogue.harness.experiment.load import check_document
    from rogue.harness.search.found_file import found_document
    from rogue.harness.search.record import FOUND
    from rogue.harness.search.weakness import make_weakness
    from rogue.harness.search.words import tried_text

    loaded = search.base.loaded
    document = found_document(loaded.document, find.simple.values, search.space.seeds.held_out)
    found = check_document(document, (), loaded.plugins, search.base.files)
    weakness = make_weakness(run.directory / FOUND, found, search.aim, testbed, None)
    gave = try_weakness(weakness, run.directory.parent.parent, options.words, options.jobs)
    return f"On {testbed.name} {gave.verdict}: {tried_text(gave)}."


def _show(told: Told, search: _Search, run: Run, outcome: Outcome) -> None:
    """Say what a proposal gave, here and to whoever watches."""
    from rogue.harness.results.files import write_whole
    from rogue.harness.results.recorded_run import SO_FAR
    from rogue.harness.search.words import front_lines, so_far_lines, told_line

    line = told_line(told, search.target, search.also)
    typer.echo(printable(line), err=True)
    front = [] if search.also is None else front_lines(outcome, search.target, search.also)
    lines = [*so_far_lines(outcome, search.target, search.measure), *front, line]
    write_whole(run.directory / SO_FAR, "\n".join(map(printable, lines)).encode())


def _finish(search: _Search, run: Run, outcome: Outcome, confirmed: str = "") -> None:
    """Write the page and the find, print the summary, and the run's directory as the last line."""
    from rogue.harness.results.recorded_run import SO_FAR
    from rogue.harness.search.found_file import search_page
    from rogue.harness.search.record import FOUND, PAGE, SearchFiles
    from rogue.harness.search.words import front_lines, outcome_lines

    lines = outcome_lines(outcome, search.target, search.measure, search.space)
    lines += [] if search.also is None else front_lines(outcome, search.target, search.also)
    lines += [confirmed] if confirmed else []
    is_whole = outcome.is_over and not outcome.is_out_of_time
    run.manifest.status = "complete" if is_whole else "partial"
    files = SearchFiles(run)
    title = search.base.loaded.experiment.title or search.base.loaded.experiment.name
    page = search_page(title, lines, outcome, search.space, (search.target, search.also))
    files.write({PAGE: page, FOUND: _found(search, run, outcome, confirmed)})
    (run.directory / SO_FAR).unlink(missing_ok=True)
    update_index_of([run.directory])
    for line in lines:
        typer.echo(printable(line))
    if outcome.find is not None:
        typer.echo(f"find: {run.directory / FOUND}", err=True)
    typer.echo(f"page: {run.directory / PAGE}", err=True)
    typer.echo(run.directory)


def _found(search: _Search, run: Run, outcome: Outcome, confirmed: str) -> str | None:
    """Return the file of the find; None if there is none."""
    from rogue.harness.search.found_file import FoundBy, criterion, found_document, found_text
    from rogue.harness.search.words import find_sentence

    find = outcome.find
    if find is None:
        return None
    sentence = find_sentence(find, search.target, search.measure, search.space)
    command = run.manifest.sessions[0].command
    loaded = search.base.loaded
    has_files = bool(loaded.data or loaded.document.data.get("plugins"))
    found = FoundBy(sentence, command, criterion(search.aim, search.target), has_files, confirmed)
    document = found_document(loaded.document, find.simple.values, search.space.seeds.held_out)
    return found_text(document, found)
