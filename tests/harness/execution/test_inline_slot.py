"""A slot without a process."""

import os
from pathlib import Path

from helpers.cell_records import cell_record
from helpers.experiments import cell_of
from helpers.fake_testbed import FakeTestbed

from rogue.harness.execution.slot import InlineSlot
from rogue.harness.execution.task import Task
from rogue.harness.testbeds.base import CellResult, Progress
from rogue.workloads.records import CellStatus


class Here(FakeTestbed):
    """Says which process it runs in."""

    def run(self, cell: object, progress: Progress) -> CellResult:
        progress(0.5)
        progress(1.0)
        return CellResult(facts={"process": os.getpid()})


def test_a_cell_is_over_in_this_process_when_it_was_started(tmp_path: Path) -> None:
    cell, slot = cell_of(tmp_path), InlineSlot()
    (tmp_path / "cells").mkdir()
    future = slot.start(Task(cell, Here(), tmp_path / "cells", cell_record(cell.id)))
    assert (slot.take_progress(), slot.take_progress()) == (1.0, None)
    record = slot.result(future)
    assert (record.status, record.facts["process"]) == (CellStatus.OK, os.getpid())
