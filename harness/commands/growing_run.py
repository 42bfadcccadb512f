"""Begin, resume and stop the runs of `rogue search` and `rogue sensitivity`, which grow while they run."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import JsonValue, TypeAdapter, ValidationError

from rogue.harness.commands.call_again import call_again
from rogue.harness.commands.run import begun_testbed, jobs_at_once, opened_cluster, resume_options
from rogue.harness.commands.runs import update_index_of
from rogue.harness.data.files import DataFiles, kept_files
from rogue.harness.errors import ClusterLostError, StoppedError, UsageError, termination_as_interrupt
from rogue.harness.execution.scheduler import CellSlot
from rogue.harness.experiment.find import find_experiment, load_named
from rogue.harness.experiment.load import LoadedExperiment, check_document
from rogue.harness.plan.plan import Plan
from rogue.harness.plugins.trust import Trust, load_trusted
from rogue.harness.results.files import write_whole
from rogue.harness.results.manifest import read_manifest
from rogue.harness.results.recorded_run import Run, kept_data
from rogue.harness.results.run_directory import DEFAULT_OUT, locked
from rogue.harness.run import Workers, begin_run, loaded_again, reopen_run
from rogue.harness.search.candidates import named_for
from rogue.harness.search.sensitivity import AnalysisPlan
from rogue.harness.search.space import Request, read_file
from rogue.harness.search.study import SearchPlan
from rogue.harness.testbeds import find_testbed, ready_testbed
from rogue.harness.testbeds.base import Testbed
from rogue.reports.reading.files import checksum, read_regular
from rogue.workloads.json_text import parse_json

Checked = TypeVar("Checked", SearchPlan, AnalysisPlan)


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
    plugins: Sequence[Path] | None
    trusts_plugins: bool
    trusts_inventory: bool
    is_plan: bool
    """True if nothing is run."""
    claims: Sequence[str] = ()
    aim: Mapping[str, str] = field(default_factory=dict)
    """Keys in the place of what the aim of the file says."""
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
            raise UsageError(f"{self.command}: got no {missing}, expected {expected}; see docs/how-to/find-weaknesses.md.")

    def find_testbed(self, name: str) -> Testbed:
        """Return the testbed, in a state to measure unless nothing is run."""
        if self.is_plan:
            return find_testbed(name, is_trusted=self.trusts_inventory)
        return ready_testbed(name, self.dask, is_trusted=self.trusts_inventory, command=self.command)


Check = Callable[[Request, LoadedExperiment, Testbed, DataFiles | None], Checked]


@contextmanager
def opened(options: GrowingOptions, check: Check[Checked]) -> Iterator[tuple[Checked, Run | None]]:
    """Yield a checked request and its run, new or resumed, which is locked meanwhile; no run with --plan."""
    options.check()
    words = ("rogue", *sys.argv[1:])
    if options.resume is not None:
        with locked(options.resume):
            yield _resumed(options, options.resume, check), reopen_run(options.resume, words)
        return
    loaded = load_named(options.experiment, tuple(options.settings or ()), tuple(options.plugins or ()))
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
    data = TypeAdapter(dict[str, JsonValue]).validate_python(ranges.data)
    if options.aim:
        aim = data.get("aim")
        data["aim"] = {**(aim if isinstance(aim, dict) else {}), **options.aim}
    return Request(
        file=ranges.file,
        sha256=ranges.sha256,
        data=data,
        claims=tuple(options.claims),
        has_baseline=options.has_baseline,
    )


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
    trust = Trust(tuple(options.plugins or ()), options.trusts_plugins)
    loaded = loaded_again(manifest, load_trusted(manifest.plugins, trust), files)
    return check(request, loaded, testbed, files)


@contextmanager
def growing(
    run: Run, testbed: Testbed, options: GrowingOptions, on_stopped: Callable[[], None]
) -> Iterator[Workers]:
    """Yield workers; Ctrl-C or a lost cluster leaves the finished cells, and says how to continue."""
    slots: list[CellSlot] = []
    with ExitStack() as after:
        cluster = after.enter_context(opened_cluster(options.dask))
        after.callback(_close, slots)
        make_slot = None if cluster is None else cluster.make_slot
        try:
            with termination_as_interrupt():
                yield Workers(jobs_at_once(testbed, options.jobs, cluster), make_slot, slots)
        except (KeyboardInterrupt, ClusterLostError) as stop:
            on_stopped()
            said = resume_options(run.manifest, options.dask, is_trusted=options.trusts_inventory)
            again = call_again(options.command, "--resume", run.directory, *said)
            kept = f"finished cells are kept; to continue: {again}"
            if isinstance(stop, ClusterLostError):
                raise ClusterLostError(f"{stop}; {kept}") from stop
            raise StoppedError(f"stopped; {kept}", stop) from stop


def _close(slots: Sequence[CellSlot]) -> None:
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
    update_index_of([run.directory])
