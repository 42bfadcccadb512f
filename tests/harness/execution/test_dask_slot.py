"""Tests: run cells on the workers of a Dask cluster, and watch that it is still there."""

from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from helpers.experiments import SMALL, cell_of
from helpers.fake_testbed import FakeTestbed
from helpers.plugin_files import plugin
from helpers.small_runs import cell_record

from rogue.harness.errors import ClusterLostError, UsageError
from rogue.harness.execution import dask_slot
from rogue.harness.execution.dask_slot import (
    LOOK_SECONDS,
    DaskLiveness,
    DaskSlot,
    UnloadableError,
    check_code,
    openness,
    run_here,
)
from rogue.harness.execution.slot import WorkerDiedError
from rogue.harness.execution.task import PickledTask, Task, execute
from rogue.workloads.manifest import CellRecord, Git
from rogue.workloads.records import CellStatus, FailureKind

if TYPE_CHECKING:
    from distributed import Client


class Worker(Executor):
    """Runs a cell at once, and stores it in its directory, or elsewhere if it sees another disk."""

    def __init__(self, elsewhere: Path | None = None, trouble: Exception | None = None) -> None:
        self._elsewhere = elsewhere
        self._trouble = trouble

    def submit(self, _do: object, parcel: PickledTask) -> Future[CellRecord]:  # type: ignore[override]
        future: Future[CellRecord] = Future()
        with parcel.unpacked() as task:
            assert task.cells.is_absolute()
            if self._trouble is not None:
                future.set_exception(self._trouble)
            else:
                cells = self._elsewhere or task.cells
                future.set_result(execute(replace(task, cells=cells), lambda _fraction: None))
        return future


CALM = DaskLiveness("tcp://head:8786", lambda: {"w1": 1}, 30.0, lambda: 0.0)


def gone() -> dict[str, int]:
    raise OSError("connection refused")


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    """Return a task whose directory is relative to the working directory, as a user names it."""
    cell = cell_of(tmp_path, "transports=[{name: rogue, label: ok}]", text=SMALL)
    (tmp_path / "cells").mkdir()
    monkeypatch.chdir(tmp_path)
    return Task(cell, FakeTestbed(), Path("cells"), cell_record(cell.id))


def test_a_cell_is_stored_where_the_command_runs(tmp_path: Path, task: Task) -> None:
    slot = DaskSlot(Worker(), CALM)
    record = slot.result(slot.start(task))
    assert record.status is CellStatus.OK
    assert slot.take_progress() is None
    assert (tmp_path / "cells" / "ok-r1" / "flows.parquet").is_file()


def test_worker_with_another_disk_fails_the_cell(tmp_path: Path, task: Task) -> None:
    (tmp_path / "elsewhere").mkdir()
    slot = DaskSlot(Worker(tmp_path / "elsewhere"), CALM)
    with pytest.raises(WorkerDiedError, match="put --out into a directory that all workers share") as caught:
        slot.result(slot.start(task))
    assert caught.value.kind is FailureKind.CONFIGURATION


def test_lost_worker_fails_its_cell(task: Task) -> None:
    slot = DaskSlot(Worker(trouble=OSError("worker tcp://10.0.0.7:3 is gone")), CALM)
    lost = r"the Dask worker that ran the cell is lost \(OSError: worker tcp://10\.0\.0\.7:3 is gone\)"
    with pytest.raises(WorkerDiedError, match=lost) as caught:
        slot.result(slot.start(task))
    assert caught.value.kind is FailureKind.NODE_LOST


def test_closing_cancels_a_waiting_cell(task: Task) -> None:
    class Busy(Executor):
        def submit(self, _do: object, _task: Task) -> Future[CellRecord]:  # type: ignore[override]
            return Future()

    slot = DaskSlot(Busy(), CALM)
    slot.close()
    future = slot.start(task)
    slot.close()
    assert future.cancelled()
    with pytest.raises(WorkerDiedError):
        slot.result(future)


def test_lost_cluster_is_not_a_failed_cell(task: Task) -> None:
    slot = DaskSlot(
        Worker(trouble=OSError("cancelled")), DaskLiveness("tcp://head:1", gone, 30.0, lambda: 0.0)
    )
    future = slot.start(task)
    with pytest.raises(ClusterLostError, match=r"tcp://head:1 is gone \(OSError: connection refused\)"):
        slot.result(future)


def test_refused_submission_is_a_lost_cluster(task: Task) -> None:
    class Closed(Executor):
        def submit(self, _do: object, _parcel: PickledTask) -> Future[CellRecord]:  # type: ignore[override]
            raise RuntimeError("cannot submit to a closed client")

    with pytest.raises(ClusterLostError, match=r"tcp://head:8786 is gone \(RuntimeError: cannot submit"):
        DaskSlot(Closed(), CALM).start(task)


class Workers:
    """A client whose workers reply so."""

    def __init__(self, **replies: object) -> None:
        self._replies = replies

    def run(self, _ask: object, *, on_error: str) -> dict[str, object]:
        assert on_error == "return"
        return self._replies


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Git(commit="c0ffee", dirty=False), None),
        (Git(commit="c0ffee", dirty=True), "worker w2 with commit c0ffee and changes, expected the code"),
        (
            Git(commit="decade", dirty=False),
            "worker w2 with commit decade, expected the code of this command",
        ),
        (
            ModuleNotFoundError("No module named 'harness'"),
            "worker w2 with none of our code (No module named",
        ),
    ],
)
def test_workers_must_have_the_code_of_the_command(
    monkeypatch: pytest.MonkeyPatch, reply: object, words: str | None
) -> None:
    ours = Git(commit="c0ffee", dirty=False)
    monkeypatch.setattr(dask_slot, "git_facts", lambda: ours)
    client = cast("Client", Workers(w1=ours, w2=reply))
    if words is None:
        check_code(client)
        return
    with pytest.raises(UsageError) as caught:
        check_code(client)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "address", ["tcp://head:8786", "10.0.0.7:8786", "tcp://[2001:db8::1]:8786", "ucx://head:1"]
)
def test_reachable_scheduler_is_a_warning(address: str) -> None:
    assert f"{address} is open: any host that reaches it can run code" in str(openness(address))


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:8786", "127.1.2.3:1", "localhost:1", "tcp://[::1]:1"])
def test_local_scheduler_is_open_to_other_users(address: str) -> None:
    words = f"{address} is open: any host that reaches it, and every user of this computer, can run code"
    assert words in str(openness(address))


def test_scheduler_with_tls_is_no_warning() -> None:
    assert openness("tls://head:8786") is None
    assert openness("tls://127.0.0.1:8786") is None


def test_worker_reports_a_plugin_that_does_not_load(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(UnloadableError, match=r"my\.h: got no no-such-compiler on this computer") as caught:
        run_here(PickledTask((plugin("int nothing;", "my.h"),), b""))
    slot = DaskSlot(Worker(trouble=caught.value), CALM)
    with pytest.raises(WorkerDiedError, match=r"a Dask worker could not load a plug-in: my\.h: got") as lost:
        slot.result(slot.start(task))
    assert lost.value.kind is FailureKind.CONFIGURATION


class Cluster:
    """A scheduler with some workers, at an instant that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0
        self.workers = {"w1": 1, "w2": 1}
        self.asked = 0
        self.liveness = DaskLiveness("tcp://head:8786", self._ask, 30.0, lambda: self.now)

    def _ask(self) -> dict[str, int]:
        self.asked += 1
        return self.workers

    def look_at(self, now: float) -> None:
        self.now = now
        self.liveness.look()


def test_liveness_requests_are_limited() -> None:
    cluster = Cluster()
    for tenth in range(21):
        cluster.look_at(100 + tenth * LOOK_SECONDS / 10)
    assert cluster.asked == 2


def test_cluster_without_workers_is_lost_after_a_while() -> None:
    cluster = Cluster()
    cluster.look_at(110)
    cluster.workers = {}
    cluster.look_at(139)
    with pytest.raises(ClusterLostError, match="the Dask scheduler tcp://head:8786 had no worker for 30 s"):
        cluster.look_at(140)


def test_returning_worker_resets_the_patience() -> None:
    cluster = Cluster()
    cluster.workers = {}
    cluster.look_at(120)
    cluster.workers = {"w3": 1}
    cluster.look_at(129)
    cluster.workers = {}
    cluster.look_at(158)
    with pytest.raises(ClusterLostError):
        cluster.look_at(159)
