"""Run cells in worker processes, or in this process."""

import atexit
import contextlib
import gc
import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from typing import Final

from rogue.harness.execution.task import Task, execute, pack
from rogue.workloads.manifest import CellRecord
from rogue.workloads.records import FailureKind

_CONTEXT: Final = multiprocessing.get_context("fork")
"""A worker has all that this process has imported, for which a new interpreter would take half a second. The
other threads of this process wait for workers and show progress, and hold no lock that a cell needs."""
_EXIT_LIMIT_S: Final = 10
"""A process that has closed its pipe is killed after this time."""


class WorkerDiedError(Exception):
    """The process that ran a cell is gone; has the kind of failure and a sentence."""

    def __init__(self, kind: FailureKind, words: str) -> None:
        super().__init__(words)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class _Worker:
    """A process, and the pipe that carries cells to it, and fractions and records back.

    `scratch` holds its temporary files and is removed with it: a process may be killed at any instant.
    """

    process: BaseProcess
    pipe: connection.Connection
    scratch: "tempfile.TemporaryDirectory[str]"


class _Call:
    """One cell in a worker, and the thread that waits for it.

    Ctrl-C during a wait may leave the future locked, and then the thread never ends. No code joins it, and a
    daemon thread does not keep the program alive.
    """

    def __init__(self, worker: _Worker, task: Task) -> None:
        self.future: Future[CellRecord] = Future()
        self.newest: float | None = None
        threading.Thread(target=self._wait, args=(worker.pipe, task), daemon=True).start()

    def _wait(self, pipe: connection.Connection, task: Task) -> None:
        try:
            pipe.send(pack(task))
            while isinstance(message := pipe.recv(), float):
                self.newest = message
        except Exception as error:
            self.future.set_exception(error)
        else:
            self.future.set_result(message)


class Slot:
    """Runs one cell after the other in its own process; a new process replaces one that died."""

    def __init__(self) -> None:
        self._worker: _Worker | None = None
        self._call: _Call | None = None
        self._task: Task | None = None

    def start(self, task: Task) -> Future[CellRecord]:
        """Hand a cell to the process; the slot must be free."""
        with _signals_kept_from_children():
            if self._worker is None or not self._worker.process.is_alive():
                self.close()
                self._worker = _start_worker()
            self._call, self._task = _Call(self._worker, task), task
        return self._call.future

    def take_progress(self) -> float | None:
        """Return the newest fraction that the cell reported since the last call, if any."""
        if self._call is None:
            return None
        newest, self._call.newest = self._call.newest, None
        return newest

    def result(self, future: Future[CellRecord]) -> CellRecord:
        """Return the finished cell's record; WorkerDiedError if its process ended before."""
        try:
            return future.result()
        except (EOFError, OSError) as error:
            assert self._worker is not None, "a slot that was given a cell"
            assert self._task is not None, "the same"
            process = self._worker.process
            process.join(_EXIT_LIMIT_S)
            code = process.exitcode  # before close(), which kills
            self.close()
            number = -code if code is not None and code < 0 else None
            raise _cause_of_death(number, self._task.memory_advice) from error

    def close(self) -> None:
        """Kill the process, also during a cell, and wait for its end alone."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.process.kill()
            worker.process.join()
            atexit.unregister(worker.process.kill)
            worker.scratch.cleanup()


def _start_worker() -> _Worker:
    """Start a process that ends with this one, even if its slot is never closed."""
    ours, theirs = _CONTEXT.Pipe()
    scratch = tempfile.TemporaryDirectory(prefix="rogue-slot-", ignore_cleanup_errors=True)
    process = _CONTEXT.Process(target=_work, args=(theirs, scratch.name))
    process.start()
    atexit.register(process.kill)
    theirs.close()
    return _Worker(process, ours, scratch)


def _cause_of_death(signal_number: int | None, memory_advice: str) -> WorkerDiedError:
    """Return why a process ended; its crash or exit is our bug, a kill from outside is not."""
    if signal_number == signal.SIGKILL:
        text = f"the process that ran the cell was killed, perhaps for lack of memory; {memory_advice}"
        return WorkerDiedError(FailureKind.NODE_LOST, text)
    how = signal.Signals(signal_number).name if signal_number else "an exit"
    return WorkerDiedError(FailureKind.BUG, f"the process that ran the cell ended by {how}")


def _work(pipe: connection.Connection, scratch: str) -> None:
    """Run cells until the process is killed; temporary files go to `scratch`."""
    gc.freeze()  # objects of the parent stay in memory that both share
    tempfile.tempdir = scratch
    threading.Thread(target=_die_with_parent, daemon=True).start()
    while True:
        with pipe.recv().unpacked() as task:
            pipe.send(execute(task, lambda fraction: pipe.send(float(fraction))))


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


@contextlib.contextmanager
def _signals_kept_from_children() -> Iterator[None]:
    """Block Ctrl-C and termination signals in processes that start meanwhile: children inherit the mask."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class InlineSlot:
    """Runs each cell in this process when it is started, without a time limit."""

    def __init__(self) -> None:
        self._fractions: list[float] = []

    def start(self, task: Task) -> Future[CellRecord]:
        """Run the cell to its end."""
        future: Future[CellRecord] = Future()
        future.set_result(execute(task, self._fractions.append))
        return future

    def take_progress(self) -> float | None:
        """Return the newest fraction that the cell reported since the last call, if any."""
        newest = self._fractions[-1] if self._fractions else None
        self._fractions.clear()
        return newest

    def result(self, future: Future[CellRecord]) -> CellRecord:
        """Return the finished cell's record."""
        return future.result()

    def close(self) -> None:
        """Forget the reported fractions."""
        self._fractions.clear()
