"""Tests: run the cells of a candidate, or find their results, and read the measure."""

from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path

import pytest
from helpers.experiments import load_text
from helpers.searched import HillTestbed, testbed

from rogue.harness.cell.cell import Cell
from rogue.harness.experiment.choices import Scalar
from rogue.harness.plan.plan import Plan
from rogue.harness.results.manifest import read_manifest
from rogue.harness.run import Workers, begin_run, reopen_run
from rogue.harness.search.base import make_base
from rogue.harness.search.bench import Bench, KeptSlots
from rogue.harness.search.question import make_target
from rogue.harness.search.space import Aim
from rogue.harness.testbeds.base import CellResult, Failure, Progress, Testbed
from rogue.workloads.manifest import CellRecord
from rogue.workloads.records import FailureKind

__all__ = ["testbed"]

EXPERIMENT = """\
name: twice
topology: {kind: star, hosts: 9, rate: 10Gbps, buffer: 9MB}
traffic:
  - {name: first, workload: {kind: incast, senders: 2, size: 1MB}}
  - {name: second, workload: {kind: incast, senders: 2, size: 1MB}}
transports: [roce]
"""
NOW = datetime(2026, 11, 20, tzinfo=UTC)
KEYS = ("traffic[0].workload.senders", "traffic[1].workload.senders")
"""Both are `senders` in an id where they vary alone."""
POINTS: list[dict[str, Scalar]] = [{KEYS[0]: 4}, {KEYS[1]: 4}, {KEYS[0]: 4, KEYS[1]: 4}]


def bench(directory: Path, testbed: Testbed) -> Bench:
    """What measures in a run, which is new unless it is there."""
    loaded, aim = load_text(directory, EXPERIMENT), Aim(metric="fct_mean_ns")
    found = [file.parent for file in directory.glob("twice/*/manifest.json")]
    plan = Plan(loaded, testbed, ())
    run = reopen_run(found[0], ("rogue",)) if found else begin_run(plan, directory, ("rogue",), NOW)
    workers = Workers(1, KeptSlots().lend)
    return Bench(run, make_base(loaded, testbed, aim, 1), make_target(aim), workers, 60.0, KEYS)


def test_keys_with_the_same_last_word_do_not_share_a_cell(tmp_path: Path, testbed: HillTestbed) -> None:
    first = bench(tmp_path, testbed)
    found = first.measure(POINTS, range(1, 2))
    assert [each.value for each in found] == [2000.0, 1000.0, 2000.0], "500 ns for each sender of the first"
    cells = read_manifest(first.run.directory).cells
    assert [(cell.factors[KEYS[0]], cell.factors[KEYS[1]]) for cell in cells] == [(4, 2), (2, 4), (4, 4)]
    assert cells[0].id == "roce-senders4-r1" and cells[1].id.startswith("roce-senders4-")
    assert str(cells[1].facts["reproduce"]).endswith("--only-cell roce-senders4-r1"), "as a plan calls it"
    again = bench(tmp_path, testbed)
    assert again.measure(POINTS, range(1, 2)) == first.measure(POINTS, range(1, 2))
    assert len(testbed.ran) == 3, "nothing runs twice"


@pytest.mark.parametrize(
    ("kind", "runs"), [(FailureKind.NODE_LOST, 2), (FailureKind.OUT_OF_SPACE, 2), (FailureKind.TIMEOUT, 1)]
)
def test_a_cell_that_was_lost_runs_again_and_one_that_failed_does_not(
    tmp_path: Path, testbed: HillTestbed, monkeypatch: pytest.MonkeyPatch, kind: FailureKind, runs: int
) -> None:
    def fails(self: HillTestbed, cell: Cell, progress: Progress) -> CellResult:
        self.ran.append(cell.id)
        return CellResult(failure=Failure(kind, "as asked"))

    with monkeypatch.context() as patched:
        patched.setattr(HillTestbed, "run", fails)
        (found,) = bench(tmp_path, testbed).measure(POINTS[:1], range(1, 2))
    assert (found.value, found.problem) == (None, "roce-senders4-r1: as asked")
    (again,) = bench(tmp_path, testbed).measure(POINTS[:1], range(1, 2))
    assert len(testbed.ran) == runs and again.value == (2000.0 if runs == 2 else None)


def test_a_cell_is_its_own_in_a_batch_of_one_too(tmp_path: Path, testbed: HillTestbed) -> None:
    made = bench(tmp_path, testbed)
    for point in POINTS:
        made.measure([point], range(1, 3))
    cells: list[CellRecord] = made.run.manifest.cells
    assert len({cell.id for cell in cells}) == len(testbed.ran) == 6


class Counted:
    """A slot that counts its closings; what it starts ends when the test says so."""

    def __init__(self) -> None:
        self.closed = 0
        self.future: Future[object] = Future()

    def start(self, _task: object) -> Future[object]:
        self.future = Future()
        return self.future

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def made() -> list[Counted]:
    return []


def lender(made: list[Counted]) -> KeptSlots:
    def make() -> Counted:
        made.append(Counted())
        return made[-1]

    return KeptSlots(make)  # type: ignore[arg-type]


def test_an_idle_slot_is_lent_again_and_ended_last(made: list[Counted]) -> None:
    with lender(made) as slots:
        first = slots.lend()
        first.start(None).set_result(None)  # type: ignore[arg-type]
        first.close()
        slots.lend().close()
        assert len(made) == 1 and made[0].closed == 0
    assert made[0].closed == 1


def test_what_still_runs_is_ended(made: list[Counted]) -> None:
    with lender(made) as slots:
        lent = slots.lend()
        lent.start(None)  # type: ignore[arg-type]
        lent.close()
        assert made[0].closed == 1
