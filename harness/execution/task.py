"""Run one cell, store its result, and pickle cells for other processes."""

import errno
import math
import pickle
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import Group
from rogue.harness.plugins.loading import plugin_sentence, plugin_versions
from rogue.harness.plugins.source import PluginSource
from rogue.harness.results.run_directory import discard_unfinished, store_cell
from rogue.harness.results.tables import encode
from rogue.harness.testbeds.base import CellResult, Columns, Fact, Failure, Progress, Testbed, TestbedError
from rogue.workloads.manifest import CellRecord
from rogue.workloads.printable import printable_lines
from rogue.workloads.records import CellStatus, FailureKind, TransferStatus
from rogue.workloads.traffic.goal import Goal

Rows = dict[tuple[str, int], dict[str, int]]
"""Start, arrival and end of each transfer that arrived, by the ends of its flow and its 0-based number."""


def program_facts(cell: Cell, tables: Mapping[str, Columns]) -> dict[str, Fact]:
    """Return the time from the first start to the last arrival or computation; None if one never arrived.

    Empty unless exactly one group of the traffic is a program.
    """
    programs = [
        (group, workload) for group in cell.groups if isinstance(workload := group.spec.workload, Goal)
    ]
    if len(programs) != 1 or "flows" not in tables:
        return {}
    ((group, workload),) = programs
    rows = _rows_of(group, tables["flows"])
    if not rows or len(rows) < sum(len(flow.arrivals) for flow in group.flows):
        return {"program_ns": None}
    least_ns, after = workload.computed(cell.experiment.placement, cell.seed)
    arrived_ns = [row["arrival"] for row in rows.values()]
    first_ns = min(row["start"] for row in rows.values())
    computed_ns = [rows[each.flow, each.number][each.moment] + each.pause_ns for each in after]
    return {"program_ns": max(least_ns, *arrived_ns, *computed_ns) - first_ns}


def _rows_of(group: Group, flows: Columns) -> Rows:
    """Return the moments of a group's transfers; the acknowledgement replaces an arrival without a record."""
    ends_of = {flow.name_in(group.name): flow.ends for flow in group.flows}
    names = ("flow_id", "transfer_id", "status", "start_ns", "arrived_ns", "end_ns")
    rows: Rows = {}
    for flow_id, number, status, *moments_ns in zip(*(flows[name] for name in names), strict=True):
        start_ns, arrived_ns, end_ns = moments_ns
        if flow_id in ends_of and status == TransferStatus.OK:
            arrival_ns = end_ns if arrived_ns is None else arrived_ns
            moments = {"start": int(start_ns), "arrival": int(arrival_ns), "end": int(end_ns)}
            rows[ends_of[flow_id], int(number) - 1] = moments
    return rows


_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}


@dataclass(frozen=True, slots=True)
class Task:
    """A cell, its testbed and directory, and the record to fill in."""

    cell: Cell
    testbed: Testbed
    cells: Path
    record: CellRecord
    limit_seconds: float = math.inf
    """Real time after which the cell counts as hanging."""
    plugins: tuple[PluginSource, ...] = ()
    """Code from outside, without which the cell cannot be unpickled."""
    at_once: int = 1
    """Number of cells of the run that share this computer's memory."""

    @property
    def memory_advice(self) -> str:
        """Return how the cell can get more memory."""
        if self.at_once > 1:
            return "use fewer --jobs"
        return "end other programs, make the cell smaller, or raise the limit (`ulimit -v`)"


def execute(task: Task, progress: Progress) -> CellRecord:
    """Run a cell and store its directory; return its record."""
    started = time.perf_counter()
    result, files = _measure(task, progress)
    record = task.record.model_copy(deep=True)
    record.wall_seconds = round(time.perf_counter() - started, 3)
    record.facts = {**record.facts, **result.facts}
    record.not_measured = result.not_measured
    _note(record, result.failure)
    try:
        store_cell(task.cells, record, files)
    except OSError as error:
        discard_unfinished(task.cells, record.id)
        _note(record, _failure_of(error, task))
    return record


def _measure(task: Task, progress: Progress) -> tuple[CellResult, dict[str, bytes]]:
    """Return what the testbed measured, as files; an error or exit becomes a failure with its traceback."""
    result = CellResult()
    try:
        result = task.testbed.run(task.cell, progress)
        tables = encode(result.tables)
        result.facts |= program_facts(task.cell, result.tables)
    except (Exception, SystemExit) as error:
        result.failure = _failure_of(error, task)
        result.raw["traceback.txt"] = traceback.format_exc().encode()
        tables = {}
    return result, {**tables, **{f"raw/{name}": content for name, content in result.raw.items()}}


def _failure_of(error: BaseException, task: Task) -> Failure:
    if isinstance(error, TestbedError):
        return Failure(error.kind, str(error))
    if isinstance(error, OSError) and error.errno in _NO_SPACE:
        return Failure(FailureKind.OUT_OF_SPACE, f"no space left to store the cell ({error})")
    if isinstance(error, MemoryError):
        return Failure(FailureKind.OUT_OF_SPACE, f"not enough memory for the cell; {task.memory_advice}")
    if (sentence := plugin_sentence(error)) is not None:
        return Failure(FailureKind.CONFIGURATION, sentence)
    return Failure(FailureKind.BUG, f"{type(error).__name__}: {error}")


def _note(record: CellRecord, failure: Failure | None) -> None:
    record.status = CellStatus.FAILED if failure else CellStatus.OK
    record.failure_kind = failure.kind if failure else None
    record.message = printable_lines(failure.message) if failure else None


@dataclass(frozen=True, slots=True)
class PickledTask:
    """A task as bytes, with its plug-ins; unpickling this needs only our package."""

    plugins: tuple[PluginSource, ...]
    pickled: bytes

    @contextmanager
    def unpacked(self) -> Iterator[Task]:
        """Yield the task after loading its plug-ins, which have loaded without an error in the sender."""
        with plugin_versions(self.plugins):
            task = pickle.loads(self.pickled)
            assert isinstance(task, Task), task
            yield task


def pack(task: Task) -> PickledTask:
    """Pickle a task."""
    return PickledTask(task.plugins, pickle.dumps(task))
