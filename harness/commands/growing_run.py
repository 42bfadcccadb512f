"""Begin, resume and stop the runs of `rogue search` and `rogue sensitivity`, which grow while they run."""

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, TypeVar

import typer
from pydantic import ValidationError

from rogue.harness.commands.run import (
    begun_testbed,
    jobs_at_once,
    opened_cluster,
    resume_options,
    stop_error,
)
from rogue.harness.data.files import DataFiles, kept_files
from rogue.harness.errors import ClusterLostError, ExitCode, UsageError, termination_as_interrupt
from rogue.harness.execution.scheduler import CellSlot
from rogue.harness.experiment.find import find_experiment, load_named
from rogue.harness.experiment.load import LoadedExperiment, check_document
from rogue.harness.plan.plan import Plan
from rogue.harness.plugins.trust import Trust, load_trusted
from rogue.harness.results.named_run import DEFAULT_OUT
from rogue.harness.results.recorded_run import SO_FAR, Run, kept_data
from rogue.harness.results.run_directory import locked, read_manifest, write_whole
from rogue.harness.run import Workers, begin_run, loaded_again, reopen_run
from rogue.harness.search.candidates import named_for
from rogue.harness.search.finding import FILE, finding_file
from rogue.harness.search.sensitivity import AnalysisPlan, check_analysis
from rogue.harness.search.space import DOCS, Request, read_file
from rogue.harness.search.study import JOURNAL, Proposal, Search, SearchPlan, check_search
from rogue.harness.search.summary import (
    analysis_lines,
    outcome_lines,
    plan_lines,
    point_line,
    proposal_line,
    search_page,
    sensitivity_page,
)
from rogue.harness.terminal import call_again, inform
from rogue.harness.testbeds import find_testbed, ready_testbed
from rogue.harness.testbeds.base import Testbed
from rogue.reports.reading.files import checksum, read_regular
from rogue.workloads.printable import parse_json, printable

SEARCH_PAGE: Final = "search.html"
SENSITIVITY_PAGE: Final = "sensitivity.html"
Checked = TypeVar("Checked", SearchPlan, AnalysisPlan)
Check = Callable[[Request, LoadedExperiment, Testbed, DataFiles | None], Checked]


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowingOptions:
    """Options of both commands, as given."""

    command: Literal["search", "sensitivity"]
    experiment: str
    ranges: Path | None
    """The file of --space or --vary."""
    settings: Sequence[str] | None
    testbed: str
    out: Path | None
    jobs: int | None
    resume: Path | None
    dask: str | None
    """Address of a scheduler; None for processes on this computer."""
    trust: Trust
    """Plug-ins that are named, and whether all that a run keeps may run."""
    trusts_inventory: bool
    is_plan: bool
    """True if nothing is run."""
    claims: Sequence[str] = ()
    aim: Mapping[str, str] = field(default_factory=dict)
    """Values that replace those of the file's aim."""
    has_baseline: bool = True

    @property
    def record(self) -> str:
        """Return the name of the file with the request."""
        return f"{self.command}.json"

    def check(self) -> None:
        """UsageError unless there is an experiment with its file of ranges, or a run alone."""
        changes = (self.experiment, self.ranges, self.settings, self.claims, self.out, self.is_plan, self.aim)
        if self.resume is not None and (any(changes) or not self.has_baseline):
            got = "an experiment or options that change it"
            raise UsageError(f"--resume: got {got}, expected the {self.command} alone, as it was started.")
        if self.resume is None and not (self.experiment and self.ranges):
            option = "--space" if self.command == "search" else "--vary"
            missing = option if self.experiment else "experiment"
            expected = f"an experiment and {option} FILE, or --resume RUN"
            raise UsageError(f"{self.command}: got no {missing}, expected {expected}; see {DOCS}.")

    def find_testbed(self, name: str) -> Testbed:
        """Return the testbed, in a state to measure unless nothing is run."""
        if self.is_plan:
            return find_testbed(name, is_trusted=self.trusts_inventory)
        return ready_testbed(name, self.dask, is_trusted=self.trusts_inventory, command=self.command)


@contextmanager
def opened(options: GrowingOptions, check: Check[Checked]) -> Iterator[tuple[Checked, Run | None]]:
    """Yield a checked request and its run, new or resumed, which is locked meanwhile; no run with --plan."""
    options.check()
    words = ("rogue", *sys.argv[1:])
    if options.resume is not None:
        with locked(options.resume):
            yield _resumed(options, options.resume, check), reopen_run(options.resume, words)
        return
    loaded = load_named(options.experiment, tuple(options.settings or ()), options.trust.files)
    document = named_for(loaded.document, f"-{options.command}")
    loaded = check_document(document, loaded.settings, loaded.plugins)
    request = _request(options)
    checked = check(request, loaded, options.find_testbed(options.testbed), None)
    if options.is_plan:
        yield checked, None
        return
    begun = Plan(checked.candidates.loaded, checked.candidates.testbed, ())
    run = begin_run(begun, options.out or DEFAULT_OUT, words, datetime.now(UTC))
    with locked(run.directory):
        write_files(run, {options.record: json.dumps(request.model_dump(mode="json"), indent=1) + "\n"})
        yield checked, run


def _request(options: GrowingOptions) -> Request:
    ranges = read_file(find_experiment(str(options.ranges)), options.command)
    data, aim = dict(ranges.data), ranges.data.get("aim")
    if options.aim:
        data["aim"] = {**(aim if isinstance(aim, dict) else {}), **options.aim}
    return Request.model_validate(
        {
            "file": ranges.file, "sha256": ranges.sha256, "data": data, "claims": options.claims,
            "has_baseline": options.has_baseline,
        }
    )  # fmt: skip


def _resumed(options: GrowingOptions, directory: Path, check: Check[Checked]) -> Checked:
    """Check the request of a run; UsageError if it has none, or that of an earlier version."""
    manifest = read_manifest(directory)
    try:
        request = Request.model_validate(parse_json(read_regular(directory / options.record)))
    except (OSError, ValueError, ValidationError) as error:
        got = f"{directory}: got a run without a {options.record} of this version"
        expected = f"expected one that `rogue {options.command}` began"
        advice = f"`rogue report` opens others; begin a new {options.command}"
        raise UsageError(f"--resume: {got}, {expected}; {advice}.") from error
    testbed = options.find_testbed(begun_testbed(manifest.testbed, options.testbed, sys.argv[1:]))
    files = kept_files(kept_data(directory, manifest))
    loaded = loaded_again(manifest, load_trusted(manifest.plugins, options.trust), files)
    return check(request, loaded, testbed, files)


def print_plan(plan: SearchPlan | AnalysisPlan, options: GrowingOptions) -> None:
    """Print the ranges, and how long all cells should take."""
    jobs = jobs_at_once(plan.candidates.testbed, options.jobs, None)
    for line in plan_lines(plan.keys, plan.some_plans(), plan.cells_max, min(jobs, plan.cells_at_once)):
        typer.echo(printable(line))


@contextmanager
def growing(
    run: Run, testbed: Testbed, options: GrowingOptions, on_stopped: Callable[[], None]
) -> Iterator[Workers]:
    """Yield workers; Ctrl-C or a lost cluster leaves the finished cells, and says how to continue."""
    slots: list[CellSlot] = []
    with opened_cluster(options.dask) as cluster:
        make_slot = None if cluster is None else cluster.make_slot
        try:
            with termination_as_interrupt():
                yield Workers(jobs_at_once(testbed, options.jobs, cluster), make_slot, slots)
        except (KeyboardInterrupt, ClusterLostError) as stop:
            on_stopped()
            same = resume_options(run.manifest, options.dask, is_trusted=options.trusts_inventory)
            again = call_again(options.command, "--resume", run.directory, *same)
            raise stop_error(stop, f"finished cells are kept; to continue: {again}") from stop
        finally:
            for slot in slots:
                slot.close()


def write_files(run: Run, content: Mapping[str, str | None], *noted: str) -> None:
    """Write files of a run, or remove them for None; note them and others in its manifest."""
    for name, text in content.items():
        if text is not None:
            write_whole(run.directory / name, text.encode())
        else:
            (run.directory / name).unlink(missing_ok=True)
            run.manifest.files.pop(name, None)
    there = [name for name in (*content, *noted) if (run.directory / name).exists()]
    run.manifest.files |= {name: checksum(run.directory / name) for name in there}
    run.write()


def print_results(run: Run, lines: Sequence[str], page: str) -> None:
    """Print lines, the place of the page, and the run's directory as the last line."""
    for line in lines:
        typer.echo(printable(line))
    inform(f"page: {run.directory / page}")
    typer.echo(run.directory)


def run_search(options: GrowingOptions) -> ExitCode:
    """Plan, begin or resume a search."""
    with opened(options, check_search) as (plan, run):
        if run is None:
            typer.echo(printable(f"{plan.aim.metric} of {plan.candidates.measure_text}"))
            print_plan(plan, options)
            return ExitCode.OK
        found = plan.begun(run)
        with growing(run, plan.candidates.testbed, options, lambda: _finish(found)) as workers:
            found.objective.workers = workers
            found.run(time.monotonic, lambda proposal: _show(proposal, found))
        _finish(found)
    return ExitCode.OK


def _show(proposal: Proposal, search: Search) -> None:
    """Print a proposal, and write the state of the search for `rogue watch`."""
    line = proposal_line(proposal, search.objective)
    inform(line)
    text = "\n".join(map(printable, [*outcome_lines(search), line]))
    write_whole(search.objective.run.directory / SO_FAR, text.encode())


def _finish(search: Search) -> None:
    """Write the page and the finding, and print the summary."""
    run, lines, held_out = search.objective.run, outcome_lines(search), search.plan.space.seeds.held_out
    run.manifest.status = "complete" if search.is_over and not search.is_out_of_time else "partial"
    best, aim = search.finding, search.plan.aim
    found = None if best is None else finding_file(best, search.objective, aim, held_out)
    (run.directory / SO_FAR).unlink(missing_ok=True)
    write_files(run, {SEARCH_PAGE: search_page(lines, search), FILE: found}, JOURNAL)
    if found is not None:
        inform(f"finding: {run.directory / FILE}")
    print_results(run, lines, SEARCH_PAGE)


def run_sensitivity(options: GrowingOptions) -> ExitCode:
    """Plan, begin or resume an analysis of sensitivity."""
    with opened(options, check_analysis) as (plan, run):
        if run is None:
            print_plan(plan, options)
            return ExitCode.OK
        with growing(run, plan.candidates.testbed, options, lambda: typer.echo(run.directory)) as workers:
            analyses = plan.analyse(run, workers, lambda *point: inform(point_line(*point)))
        run.manifest.status = "complete"
        write_files(run, {SENSITIVITY_PAGE: sensitivity_page(analyses)})
        print_results(run, [line for each in analyses for line in analysis_lines(each)], SENSITIVITY_PAGE)
    return ExitCode.OK
