"""One worker process at a time: told apart from the others, so that its death is the death of one cell."""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from typing import Final

from harness.execution.cell import Task, execute
from workloads.manifest import CellRecord
from workloads.records import FailureKind

_CONTEXT: Final = multiprocessing.get_context("spawn")


class WorkerDiedError(Exception):
    """What ran a cell is gone: whose fault that is, and a sentence."""

    def __init__(self, kind: FailureKind, words: str) -> None:
        super().__init__(words)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class _Worker:
    """A process and the two ways to it."""

    executor: ProcessPoolExecutor
    process: BaseProcess
    messages: connection.Connection


class Slot:
    """Runs one cell after the other in a process of its own; a new process replaces one that died."""

    def __init__(self) -> None:
        self._worker: _Worker | None = None

    def start(self, task: Task) -> Future[CellRecord]:
        """Hand a cell to the process; the slot must be free."""
        if self._worker is not None and self._worker.process.is_alive():
            return self._worker.executor.submit(_run, task)
        self.close()
        messages, to_parent = _CONTEXT.Pipe(duplex=False)
        with _signals_kept_from_children():
            executor = ProcessPoolExecutor(1, _CONTEXT, _prepare_worker, (to_parent,))
        before = set(multiprocessing.active_children())
        with _signals_kept_from_children():
            future = executor.submit(_run, task)
            (process,) = set(multiprocessing.active_children()) - before
            self._worker = _Worker(executor, process, messages)
        to_parent.close()
        return future

    def take_progress(self) -> float | None:
        """Newest fraction that the cell reported since the last call, if any."""
        newest: float | None = None
        with contextlib.suppress(EOFError, OSError):
            while self._worker is not None and self._worker.messages.poll():
                newest = self._worker.messages.recv()
        return newest

    def result(self, future: Future[CellRecord]) -> CellRecord:
        """The finished cell's record; WorkerDiedError if its process did not live to tell."""
        try:
            return future.result()
        except BrokenExecutor as error:
            process = self._worker.process if self._worker else None
            self.close()
            code = process.exitcode if process else None
            raise _cause_of_death(-code if code is not None and code < 0 else None) from error

    def close(self) -> None:
        """End the process, in the middle of a cell if need be."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.process.kill()
            worker.executor.shutdown(wait=True, cancel_futures=True)
            worker.messages.close()


def _cause_of_death(signal_number: int | None) -> WorkerDiedError:
    """Why a process is gone; a crash of its own is our bug, a kill from outside is not."""
    if signal_number == signal.SIGKILL:
        text = "the process that ran the cell was killed, perhaps for lack of memory; use fewer --jobs"
        return WorkerDiedError(FailureKind.NODE_LOST, text)
    how = signal.Signals(signal_number).name if signal_number else "an exit of its own"
    return WorkerDiedError(FailureKind.BUG, f"the process that ran the cell ended by {how}")


_to_parent: connection.Connection | None = None


def _prepare_worker(to_parent: connection.Connection) -> None:
    """First thing in a worker: without a parent there is no work."""
    global _to_parent  # noqa: PLW0603  (a pool gives its initializer no other place)
    _to_parent = to_parent
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _run(task: Task) -> CellRecord:
    return execute(task, _report)


def _report(fraction: float) -> None:
    if _to_parent is not None:
        _to_parent.send(float(fraction))


@contextlib.contextmanager
def _signals_kept_from_children() -> Iterator[None]:
    """A process started meanwhile leaves Ctrl-C and its like to us, even while it is starting.

    The mask is inherited.  Making a pool may start Python's own helper process, which changes the mask back.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
