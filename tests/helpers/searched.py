"""Searches and screenings on a testbed with known results."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
from helpers.experiments import load_text
from helpers.fake_testbed import FakeTestbed, flows

from rogue.harness.cell.cell import Cell
from rogue.harness.execution.slot import InlineSlot
from rogue.harness.experiment.document import Document, read_document
from rogue.harness.experiment.load import LoadedExperiment
from rogue.harness.plan.plan import Plan
from rogue.harness.run import Workers, begin_run
from rogue.harness.search.analysis import Analysed, analyse
from rogue.harness.search.asked import Asked
from rogue.harness.search.base import make_base
from rogue.harness.search.bench import Bench, KeptSlots
from rogue.harness.search.question import Question, make_target
from rogue.harness.search.space import Aim, Variation, check_variation
from rogue.harness.testbeds import TESTBEDS
from rogue.harness.testbeds.base import CellResult, Progress
from rogue.workloads.streams import start_jitter_ns

EXPERIMENT = """\
name: hill
topology: {kind: star, hosts: 9, rate: 10Gbps, buffer: 9MB}
workload: {kind: incast, senders: 2, size: 1MB}
transports: [{name: roce, label: own}, {name: irn, label: other}]
"""
SPACE = """\
aim: {metric: fct_mean_ns, direction: most, bound: 5000, transport: own}
keys:
  workload.senders: {from: 1, to: 12, unit: hosts, source: a test, shrink: from}
  workload.size: {from: 1KB, to: 10MB, scale: log, source: a test}
  topology.buffer: {choices: [1MB, 2MB], source: a test}
budget: {cells: 12, batch: 3, shrink: 8}
seeds: {first: 1, count: 2, held_out_first: 101, held_out_count: 3}
"""
VARIATION = """\
measures: [fct_mean_ns]
transport: own
keys:
  workload.senders: {from: 2, to: 8, unit: hosts, source: a test}
  workload.size: {from: 1KB, to: 10MB, scale: log, source: a test}
trajectories: 3
levels: 4
seeds: {count: 2}
"""


class HillTestbed(FakeTestbed):
    """A transfer takes 1000 ns for each sender; the other transport takes 500 ns for each."""

    ran: list[str]

    def __init__(self) -> None:
        self.ran = []

    def run(self, cell: Cell, progress: Progress) -> CellResult:
        self.ran.append(cell.id)
        senders = len(cell.groups[0].flows)
        duration_ns = senders * (1000 if cell.transport.shown == "own" else 500)
        start_ns = start_jitter_ns(cell.seed, "fake")
        changed = {"fct_ns": [duration_ns], "end_ns": [start_ns + duration_ns]}
        return CellResult({"flows": {**flows(cell), **changed}})


def hill(directory: Path, *settings: str) -> LoadedExperiment:
    """The experiment of a search."""
    return load_text(directory, EXPERIMENT, *settings)


def hill_bench(directory: Path, testbed: HillTestbed, aim: Aim, keys: tuple[str, ...]) -> Bench:
    """What measures in a new run."""
    loaded = hill(directory)
    run = begin_run(Plan(loaded, testbed, ()), directory, ("rogue",), datetime(2026, 11, 20, tzinfo=UTC))
    base = make_base(loaded, testbed, aim, 1)
    return Bench(run, base, make_target(aim), Workers(1, KeptSlots().lend), 60.0, keys)


def space_document(directory: Path, text: str = SPACE) -> Document:
    """A space file, read."""
    file = directory / "space.yml"
    file.write_text(text)
    return read_document(str(file))


@pytest.fixture
def testbed(monkeypatch: pytest.MonkeyPatch) -> HillTestbed:
    """The testbed that every command finds, with cells in this process."""
    made = HillTestbed()
    for name in ("simulator", made.name):
        monkeypatch.setitem(TESTBEDS, name, lambda: made)
    monkeypatch.setattr("rogue.harness.search.bench.Slot", InlineSlot)
    return made


AIM: Final = Aim(metric="fct_mean_ns", direction="most", transport="own")
WHOLE: Final = VARIATION + "flip: 8\nsobol: {keys: 2, samples: 4}\n"


def analysed(
    tmp_path: Path, testbed: HillTestbed, text: str = WHOLE, *, claims: bool = True
) -> tuple[Analysed, Variation]:
    """What came of one question, a claim that holds below 5 µs, and the file that was asked."""
    variation = check_variation(space_document(tmp_path, text))
    question = Question("C-1: It is short.", AIM, (lambda number: number < 5000) if claims else None)
    told: list[object] = []
    bench = hill_bench(tmp_path, testbed, AIM, tuple(variation.keys))
    (found,) = analyse([Asked(question, bench)], variation, lambda *each: told.append(each))
    assert len(told) == len(found.ran)
    return found, variation
