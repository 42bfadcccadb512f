"""Run one cell and store what comes of it; nothing that a cell does gets past this."""

import errno
import math
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

from rogue.harness.cell.cell import Cell
from rogue.harness.execution.program import program_facts
from rogue.harness.plugins.loading import plugin_sentence
from rogue.harness.plugins.source import PluginSource
from rogue.harness.results.cell_directory import discard_unfinished, store_cell
from rogue.harness.results.tables import encode
from rogue.harness.testbeds.base import CellResult, Failure, Progress, Testbed, TestbedError
from rogue.workloads.manifest import CellRecord
from rogue.workloads.printable import printable_lines
from rogue.workloads.records import CellStatus, FailureKind

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}


@dataclass(frozen=True, slots=True)
class Task:
    """A cell to run, where, and the record to fill in."""

    cell: Cell
    testbed: Testbed
    cells: Path
    record: CellRecord
    limit_seconds: float = math.inf
    """Real time after which the cell counts as hanging."""
    plugins: tuple[PluginSource, ...] = ()
    """Code from outside, without which the cell cannot even be unpickled."""
    silent_seconds: float = math.inf
    """Real time without any word of the cell after which its plug-ins count as hanging."""
    at_once: int = 1
    """How many cells of the run share this computer's memory."""

    @property
    def memory_advice(self) -> str:
        """Return how the cell can get more memory."""
        if self.at_once > 1:
            return "use fewer --jobs"
        return "end other programs, make the cell smaller, or raise the limit (`ulimit -v`)"


def execute(task: Task, progress: Progress) -> CellRecord:
    """Run a cell; return its filled-in record once its directory stands."""
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
