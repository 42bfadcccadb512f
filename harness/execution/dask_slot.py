"""Run cells on the workers of a Dask cluster, and check that the cluster still exists."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from rogue.harness.errors import ClusterLostError, ConfigError, UsageError
from rogue.harness.execution.slot import WorkerDiedError
from rogue.harness.execution.task import PickledTask, Task, execute, pack
from rogue.harness.results.provenance import git_facts
from rogue.harness.results.run_directory import stored_record
from rogue.workloads.manifest import CellRecord, Git
from rogue.workloads.records import FailureKind

if TYPE_CHECKING:
    from distributed import Client

LOOK_SECONDS: Final = 1.0
"""Least time between two requests to the scheduler."""


class DaskLiveness:
    """Checks that a scheduler replies, and that it was not without workers for too long."""

    def __init__(
        self,
        address: str,
        threads_of_workers: Callable[[], Mapping[str, int]],
        patience_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._address = address
        self._threads_of_workers = threads_of_workers
        self._patience_seconds = patience_seconds
        self._clock = clock
        self._looked = self._had_workers = clock()

    def look(self) -> None:
        """Check, unless that was just done; ClusterLostError if scheduler or workers are lost."""
        if self._clock() - self._looked >= LOOK_SECONDS:
            self.look_now()

    def look_now(self) -> None:
        """Check now; ClusterLostError if scheduler or workers are lost."""
        try:
            threads = sum(self._threads_of_workers().values())
        except Exception as error:
            raise self.lost(error) from error
        self._looked = self._clock()
        if threads:
            self._had_workers = self._looked
        elif self._looked - self._had_workers >= self._patience_seconds:
            words = f"had no worker for {self._patience_seconds:g} s"
            raise ClusterLostError(f"the Dask scheduler {self._address} {words}")

    def lost(self, error: Exception) -> ClusterLostError:
        """Return the error for a scheduler that does not reply."""
        words = f"is gone ({type(error).__name__}: {error})"
        return ClusterLostError(f"the Dask scheduler {self._address} {words}")


CONNECT_LIMIT_S: Final = 10
"""Limit for connecting; Dask's own limit applies if it is shorter."""
_HERE: Final = ("localhost", "::1")
_SHARED: Final = "put --out into a directory that all workers share"


class UnloadableError(Exception):
    """A worker cannot load a plug-in; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """The number of cells that a cluster runs at once, and what makes a slot for each."""

    threads: int
    make_slot: Callable[[], "DaskSlot"]


class DaskSlot:
    """Runs one cell after the other, each on any worker; a cell reports only its end.

    A cell that has begun cannot be stopped: after Ctrl-C its worker continues to the end.
    """

    def __init__(self, executor: Executor, liveness: DaskLiveness) -> None:
        self._executor = executor
        self._liveness = liveness
        self._task: Task | None = None
        self._future: Future[CellRecord] | None = None

    def start(self, task: Task) -> Future[CellRecord]:
        """Hand a cell to the cluster; the slot must be free."""
        self._task = replace(task, cells=task.cells.absolute())
        try:
            self._future = self._executor.submit(run_here, pack(self._task))
        except Exception as error:
            raise self._liveness.lost(error) from error
        return self._future

    def take_progress(self) -> float | None:
        """Return None, because cells report nothing; ClusterLostError if no worker is left."""
        self._liveness.look()
        return None

    def result(self, future: Future[CellRecord]) -> CellRecord:
        """Return the finished cell's record.

        WorkerDiedError if it is lost, or stored where we cannot see it; ClusterLostError if all workers are
        lost, so that the cell is not to blame.
        """
        assert self._task is not None, "a slot that was given a cell"
        try:
            record = future.result()
        except UnloadableError as error:
            words = f"a Dask worker could not load a plug-in: {error}"
            raise WorkerDiedError(FailureKind.CONFIGURATION, words) from error
        except (Exception, CancelledError) as error:
            self._liveness.look_now()
            words = f"the Dask worker that ran the cell is lost ({type(error).__name__}: {error})"
            raise WorkerDiedError(FailureKind.NODE_LOST, words) from error
        if stored_record(self._task.cells, record.id) is None:
            words = f"the Dask worker stored the cell in its own {self._task.cells}; {_SHARED}"
            raise WorkerDiedError(FailureKind.CONFIGURATION, words)
        return record

    def close(self) -> None:
        """Cancel the present cell."""
        if self._future is not None:
            self._future.cancel()


def run_here(packed: PickledTask) -> CellRecord:
    """Run a cell on a worker; UnloadableError if plug-ins do not load here, for lack of a compiler."""
    try:
        with packed.unpacked() as task:
            return execute(task, lambda _fraction: None)
    except ConfigError as error:  # which cannot be pickled
        raise UnloadableError(str(error)) from None


@contextmanager
def cluster(address: str) -> Iterator[Cluster]:
    """Connect to a scheduler; UsageError without one, without workers, or if one has other code than ours."""
    from distributed import Client

    _silence("distributed")
    try:
        client = Client(address, timeout=min(CONNECT_LIMIT_S, _patience_seconds()))
    except Exception as error:  # of many kinds, where one side wants encryption and the other has none
        expected = "the address of a Dask scheduler, such as tcp://head:8786"
        raise UsageError(f"--dask: got {address!r} ({error}), expected {expected}.") from error
    with client:
        threads = sum(client.nthreads().values())
        if threads == 0:
            raise UsageError(f"--dask: got {address} without a worker, expected one at least; start some.")
        check_code(client)
        executor = client.get_executor(pure=False)
        liveness = DaskLiveness(address, client.nthreads, _patience_seconds())
        yield Cluster(threads, lambda: DaskSlot(executor, liveness))


def _silence(library: str) -> None:
    """Silence a library, because we print errors ourselves; some of its loggers set their own level."""
    below = [name for name in logging.root.manager.loggerDict if name.startswith(f"{library}.")]
    for name in (library, *below):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _patience_seconds() -> float:
    """Return how long a cluster may have no worker: as long as Dask tries to reach one."""
    from dask import config
    from dask.utils import parse_timedelta

    return float(parse_timedelta(config.get("distributed.comm.timeouts.connect")))


def openness(address: str) -> str | None:
    """Return a warning about a scheduler that strangers may reach; None if it is encrypted."""
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    if parts.scheme == "tls":
        return None
    host = parts.hostname or ""
    others = ", and every user of this computer," if host in _HERE or host.startswith("127.") else ""
    who = f"any host that reaches it{others} can run code as its workers' user"
    return f"{address} is open: {who}; docs/how-to/slurm-and-dask.md has TLS."


def check_code(client: "Client") -> None:
    """UsageError unless every worker runs what we run."""
    ours = git_facts()
    for worker, theirs in client.run(git_facts, on_error="return").items():
        if theirs != ours:
            got = f"worker {worker} with {_written(theirs)}, expected the code of this command"
            raise UsageError(f"--dask: got {got}, {_written(ours)}; start workers in this checkout.")


def _written(found: object) -> str:
    if not isinstance(found, Git):
        return f"none of our code ({found})"
    return f"commit {found.commit}{' and changes' if found.dirty else ''}"
