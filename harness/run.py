"""Start a run, run its cells, and resume it."""

import json
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from rogue.harness.data.files import DataFiles
from rogue.harness.errors import NothingToRunError, UsageError
from rogue.harness.execution.scheduler import CellSlot, Watcher, run_tasks
from rogue.harness.execution.task import Task
from rogue.harness.experiment.document import Document
from rogue.harness.experiment.load import LoadedExperiment, check_document, resolve
from rogue.harness.plan.plan import Plan, PlannedCell, make_plan
from rogue.harness.plugins.loading import LoadedPlugin
from rogue.harness.results.provenance import git_facts, host_facts, versions
from rogue.harness.results.recorded_run import Run, keep_data
from rogue.harness.results.run_directory import (
    create_run_directory,
    discard_all_unfinished,
    read_sound_manifest,
)
from rogue.harness.terminal import Counted, in_silence
from rogue.harness.testbeds.base import Testbed
from rogue.workloads.manifest import CellRecord, Manifest, PluginRecord, Session, Source
from rogue.workloads.printable import parse_json
from rogue.workloads.records import SCHEMA_VERSION, CellStatus

MANIFEST_SECONDS: Final = 1.0
"""The manifest is rewritten at most this often while cells finish."""


@dataclass(slots=True)
class _Bookkeeper(Watcher):
    """A watcher that updates the manifest and forwards every call."""

    run: Run
    watcher: Watcher
    written_at: float = 0.0

    def on_started(self, task: Task) -> None:
        self.watcher.on_started(task)

    def on_progress(self, task: Task, fraction: float) -> None:
        self.watcher.on_progress(task, fraction)

    def on_finished(self, record: CellRecord) -> None:
        self.run.note(record)
        if time.monotonic() - self.written_at > MANIFEST_SECONDS:
            self.run.write()
            self.written_at = time.monotonic()
        self.watcher.on_finished(record)


def start_run(plan: Plan, out: Path, command: Sequence[str]) -> Run:
    """Make the run directory with a manifest in which every cell is pending or cannot run."""
    if all(each.unsupported for each in plan.cells):
        reasons = sorted({each.unsupported for each in plan.cells if each.unsupported})
        raise NothingToRunError(f"{plan.loaded.document.file}: no cell can run: {'; '.join(reasons)}.")
    return begin_run(plan, out, command, datetime.now(UTC))


def begin_run(plan: Plan, out: Path, command: Sequence[str], now: datetime) -> Run:
    """Make the run directory with a manifest of a plan's cells; a search adds more."""
    experiment = _resolved(plan.loaded)
    directory = create_run_directory(out, plan.loaded.experiment.name, now)
    session = _session(command, now)
    manifest = Manifest(
        run_id=directory.name,
        status="running",
        testbed=plan.testbed.name,
        created_utc=session.created_utc,
        command=session.command,
        experiment=experiment,
        source=_source(plan.loaded),
        sessions=[session],
        git=session.git,
        versions=session.versions,
        host=session.host,
        cells=[_new_record(each, plan) for each in plan.cells],
        plugins=[_plugin_record(each) for each in plan.loaded.plugins],
        data=keep_data(directory, plan.loaded.data),
    )
    manifest.files |= {record.kept: record.sha256 for record in manifest.data}
    run = Run(directory, manifest)
    run.write()
    return run


def reopen_run(directory: Path, command: Sequence[str]) -> Run:
    """Resume a run from the records in its cells' directories.

    New cells follow the present schema, which becomes that of the run. DamagedRunError if the manifest was
    changed, because a wrong value would get a new checksum.
    """
    run = Run(directory, read_sound_manifest(directory))
    for path in (run.cells, *(run.cells / cell.id for cell in run.manifest.cells)):
        _refuse_another_kind(path)
    run.note_stored()
    run.manifest.schema_version = SCHEMA_VERSION
    run.manifest.sessions.append(_session(command, datetime.now(UTC)))
    return run


def _refuse_another_kind(path: Path) -> None:
    """UsageError for a link or a file in the place of a directory that is written."""
    if path.is_symlink():
        raise UsageError(f"{path}: got a link, expected a directory; nothing is written through links.")
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path}: got a file, expected a directory; move the file away.")


def replan(
    manifest: Manifest,
    testbed: Testbed,
    counted: Counted = in_silence,
    plugins: tuple[LoadedPlugin, ...] = (),
    files: DataFiles | None = None,
) -> Plan:
    """Return the plan of a run from its manifest; its plug-ins are loaded already.

    files: data files that the run keeps.
    """
    identifiers = {cell.id for cell in manifest.cells}
    plan = make_plan(loaded_again(manifest, plugins, files), testbed, counted, identifiers)
    if len(plan.cells) != len(identifiers):
        got, advice = "a plan with other cells", f"use the version of commit {manifest.git.commit}"
        raise UsageError(f"run {manifest.run_id}: got {got}, expected the cells of its manifest; {advice}.")
    return plan


def loaded_again(
    manifest: Manifest, plugins: tuple[LoadedPlugin, ...], files: DataFiles | None
) -> LoadedExperiment:
    """Return the experiment in the manifest of a run, checked again."""
    source = manifest.source
    document = Document(source.file, source.sha256, source.data, {})
    return check_document(document, source.set, plugins, files)


def cells_left(run: Run, plan: Plan, only_failed: bool = False) -> list[PlannedCell]:
    """Return the cells that can run and have no result yet; with `only_failed` only failed ones."""
    wanted = {CellStatus.FAILED} if only_failed else {*CellStatus} - {CellStatus.OK}
    identifiers = {cell.id for cell in run.manifest.cells if cell.status in wanted}
    return [planned for planned in plan.runnable if planned.cell.id in identifiers]


@dataclass(frozen=True, slots=True)
class Workers:
    """The number of cells at once, and their slots; by default processes on this computer."""

    jobs: int
    make_slot: Callable[[], CellSlot] | None = None
    kept: list[CellSlot] | None = None
    """Idle slots, which the caller closes; None to close all slots after the tasks."""


def work(run: Run, plan: Plan, cells: Sequence[PlannedCell], workers: Workers, watcher: Watcher) -> None:
    """Run cells of a plan, and write the manifest however this ends. The caller holds the run's lock."""
    work_through(run, tasks_of(run, Plan(plan.loaded, plan.testbed, tuple(cells))), workers, watcher)


def work_through(run: Run, tasks: Sequence[Task], workers: Workers, watcher: Watcher) -> None:
    """Run tasks, which may be of several plans, and write the manifest however this ends."""
    discard_all_unfinished(run.cells)
    run.manifest.status = "running"
    run.write()
    try:
        run_tasks(tasks, workers.jobs, _Bookkeeper(run, watcher), workers.make_slot, workers.kept)
    finally:
        run.note_stored()
        done = all(cell.status in (CellStatus.OK, CellStatus.UNSUPPORTED) for cell in run.manifest.cells)
        run.manifest.status = "complete" if done else "partial"
        run.manifest.finished_utc = _utc(datetime.now(UTC))
        run.write()


def tasks_of(run: Run, plan: Plan) -> list[Task]:
    """Return the tasks of a plan's cells in the present session of the run."""
    return [_task(run, plan, planned) for planned in plan.cells]


def _task(run: Run, plan: Plan, planned: PlannedCell) -> Task:
    record = _new_record(planned, plan)
    record.session = len(run.manifest.sessions) - 1
    plugins = tuple(each.source for each in plan.loaded.plugins)
    return Task(planned.cell, plan.testbed, run.cells, record, planned.limit_seconds, plugins)


def _resolved(loaded: LoadedExperiment) -> dict[str, JsonValue]:
    """Return the experiment as the manifest keeps it; UsageError if a manifest with it cannot be read."""
    data = resolve(loaded)
    try:
        parse_json(json.dumps([data, loaded.document.data]).encode())
    except ValueError as error:
        raise UsageError(f"{loaded.document.file}: {error}; write numbers that a run can have.") from error
    return data


def _new_record(planned: PlannedCell, plan: Plan) -> CellRecord:
    cell = planned.cell
    return CellRecord(
        id=cell.id,
        transport=cell.transport.shown,
        transport_name=str(cell.transport.name),
        factors=dict(cell.factors),
        repetition=cell.repetition,
        seed=cell.seed,
        status=CellStatus.UNSUPPORTED if planned.unsupported else CellStatus.PENDING,
        message=planned.unsupported,
        facts={"reproduce": _reproduce(cell.id, plan)},
    )


def _reproduce(identifier: str, plan: Plan) -> str:
    words = ["rogue", "run", plan.loaded.document.file, "--testbed", plan.testbed.name]
    words += [word for setting in plan.loaded.settings for word in ("--set", setting)]
    files = [each.source.file for each in plan.loaded.plugins if not each.source.is_installed]
    words += [word for file in files for word in ("--plugin", file)]
    return shlex.join([*words, "--only-cell", identifier])


def _plugin_record(plugin: LoadedPlugin) -> PluginRecord:
    source = plugin.source
    return PluginRecord(
        file=source.file,
        sha256=source.sha256,
        text=source.text,
        adds=list(plugin.adds),
        is_installed=source.is_installed,
    )


def _source(loaded: LoadedExperiment) -> Source:
    document = loaded.document
    return Source.model_validate(
        {
            "file": document.file,
            "sha256": document.sha256,
            "set": list(loaded.settings),
            "data": document.data,
        }
    )


def _session(command: Sequence[str], now: datetime) -> Session:
    return Session(
        created_utc=_utc(now), command=list(command), git=git_facts(), versions=versions(), host=host_facts()
    )


def _utc(now: datetime) -> str:
    return f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
