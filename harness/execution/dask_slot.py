"""Run cells on the workers of a Dask cluster, and watch that it is still there."""

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
from rogue.harness.results.cell_directory import stored_record
from rogue.harness.results.provenance import git_facts
from rogue.workloads.manifest import CellRecord, Git
from rogue.workloads.records import FailureKind

if TYPE_CHECKING:
    from distributed import Client

LOOK_SECONDS: Final = 1.0
"""The scheduler is asked at most this often."""


class DaskLiveness:
    """Asks a scheduler for its workers. One that had none for too long has lost them."""

    def __init__(
        self,
        address: str,
        threads_of_workers: Callable[[], Mapping[str, int]],
        patience_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._address = address
        self._ask = threads_of_workers
        self._patience_seconds = patience_seconds
        self._clock = clock
        self._looked = self._had_workers = clock()

    def look(self) -> None:
        """ClusterLostError if the scheduler is gone, or has been without a worker for too long."""
        if self._clock() - self._looked >= LOOK_SECONDS:
            self.look_now()

    def look_now(self) -> None:
        """The same, whenever it was last done."""
        try:
            threads = sum(self._ask().values())
        except Exception as error:
            raise self.lost(error) from error
        self._looked = self._clock()
        if threads:
            self._had_workers = self._looked
        elif self._looked - self._had_workers >= self._patience_seconds:
            words = f"had no worker for {self._patience_seconds:g} s"
            raise ClusterLostError(f"the Dask scheduler {self._address} {words}")

    def lost(self, error: Exception) -> ClusterLostError:
        """What to say where nothing can be had from the scheduler any more."""
        words = f"is gone ({type(error).__name__}: {error})"
        return ClusterLostError(f"the Dask scheduler {self._address} {words}")


CONNECT_LIMIT_S: Final = 10
"""Or as long as Dask itself tries to reach one, if that is shorter."""
_HERE: Final = ("localhost", "::1")
_SHARED: Final = "put --out into a directory that all workers share"


class UnloadableError(Exception):
    """A worker cannot load a plug-in: a sentence with the reason."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """What there is to run cells on: so many at once, each through a slot."""

    threads: int
    make_slot: Callable[[], "DaskSlot"]


class DaskSlot:
    """Runs one cell after the other, each on some worker; a cell reports only its end.

    A cell that was begun cannot be stopped: after Ctrl-C its worker goes on to its end.
    """

    def __init__(self, executor: Executor, lookout: DaskLiveness) -> None:
        self._executor = executor
        self._lookout = lookout
        self._task: Task | None = None
        self._future: Future[CellRecord] | None = None

    def start(self, task: Task) -> Future[CellRecord]:
        """Hand a cell to the cluster; the slot must be free."""
        self._task = replace(task, cells=task.cells.absolute())
        try:
            self._future = self._executor.submit(run_here, pack(self._task))
        except Exception as error:
            raise self._lookout.lost(error) from error
        return self._future

    def take_progress(self) -> float | None:
        """A running cell reports nothing; ClusterLostError if no worker is left to run it."""
        self._lookout.look()
        return None

    def result(self, future: Future[CellRecord]) -> CellRecord:
        """The finished cell's record; WorkerDiedError if it is lost, or stored where we cannot see it.

        ClusterLostError if all are lost: then the cell is not to blame.
        """
        assert self._task is not None, "a slot that was given a cell"
        try:
            record = future.result()
        except UnloadableError as error:
            words = f"a Dask worker could not load a plug-in: {error}"
            raise WorkerDiedError(FailureKind.CONFIGURATION, words) from error
        except (Exception, CancelledError) as error:
            self._lookout.look_now()
            words = f"the Dask worker that ran the cell is lost ({type(error).__name__}: {error})"
            raise WorkerDiedError(FailureKind.NODE_LOST, words) from error
        if stored_record(self._task.cells, record.id) is None:
            words = f"the Dask worker stored the cell in a {self._task.cells} of its own; {_SHARED}"
            raise WorkerDiedError(FailureKind.CONFIGURATION, words)
        return record

    def close(self) -> None:
        """Give the cell up that is under way."""
        if self._future is not None:
            self._future.cancel()


def run_here(parcel: PickledTask) -> CellRecord:
    """What a worker does; UnloadableError if plug-ins load elsewhere and not here, for lack of a compiler."""
    try:
        with parcel.unpacked() as task:
            return execute(task, lambda _fraction: None)
    except ConfigError as error:  # which does not travel
        raise UnloadableError(str(error)) from None


@contextmanager
def cluster(address: str) -> Iterator[Cluster]:
    """Connect to a scheduler; UsageError if there is none, no worker, or one with other code than ours."""
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
        lookout = DaskLiveness(address, client.nthreads, _patience_seconds())
        yield Cluster(threads, lambda: DaskSlot(executor, lookout))


def _silence(library: str) -> None:
    """Let a library log nothing, for we say what is wrong; some of its loggers have levels of their own."""
    below = [name for name in logging.root.manager.loggerDict if name.startswith(f"{library}.")]
    for name in (library, *below):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _patience_seconds() -> float:
    """How long a cluster may have no worker: as long as Dask itself tries to reach one."""
    from dask import config
    from dask.utils import parse_timedelta

    return float(parse_timedelta(config.get("distributed.comm.timeouts.connect")))


def openness(address: str) -> str | None:
    """What to say of a scheduler that strangers may reach; None if it is encrypted."""
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    if parts.scheme == "tls":
        return None
    host = parts.hostname or ""
    others = ", every user of this computer," if host in _HERE or host.startswith("127.") else ""
    who = f"whoever reaches it{others} runs code as its workers' user"
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
        return f"no code of ours ({found})"
    return f"commit {found.commit}{' and changes' if found.dirty else ''}"
