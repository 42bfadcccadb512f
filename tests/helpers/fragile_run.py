"""A run in a process of its own that ends at a chosen instant, or whose disk is full from then on.

An instant is an operation on files: nothing on a disk changes between two of them. A kill during a sync
leaves half of the file.
"""

import os
import signal
import stat
import sys
import traceback
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from helpers.experiments import SMALL, load_text
from helpers.fake_testbed import FakeTestbed

from rogue.harness.commands.report import note_report_files
from rogue.harness.errors import HarnessError
from rogue.harness.execution.scheduler import Watcher
from rogue.harness.execution.slot import InlineSlot
from rogue.harness.plan.plan import Plan, make_plan
from rogue.harness.results.run_directory import locked, read_manifest, write_whole
from rogue.harness.run import Workers, cells_left, reopen_run, replan, start_run, work
from rogue.workloads.manifest import MANIFEST

TRANSPORTS = "transports=[{name: rogue, label: ok}, {name: roce, label: fine}]"
LOADED = (pd, pa)
"""What a run needs, so that its process need not import it; that would take most of the time."""
_CHANGES = {"os.rename", "os.mkdir", "os.remove", "os.rmdir"}


class Trouble(Enum):
    """What happens at the instant."""

    NONE = "nothing"
    KILLED = "killed"
    DISK_FULL = "disk full"


class End(Enum):
    """How a process ended; the value is its exit code, or the signal less than nothing."""

    DONE = 0
    ERROR = 6
    MISTAKE = 70
    KILLED = -signal.SIGKILL


class Instants:
    """Counts operations on files below a directory; makes trouble at one of them."""

    def __init__(self, place: Path, trouble: Trouble, at: int) -> None:
        self._place, self._trouble, self._at = str(place), trouble, at
        self.count = 0

    def watch(self) -> None:
        """From now on, for the rest of this process."""
        sys.addaudithook(self._audit)
        sync = os.fsync

        def syncing(descriptor: int) -> None:
            self._step(lambda: _cut(descriptor))
            sync(descriptor)

        os.fsync = syncing  # type: ignore[assignment]

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        is_written = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT
        if (is_written or event in _CHANGES) and str(arguments[0]).startswith(self._place):
            self._step(lambda: None, may_be_full=event in ("open", "os.mkdir"))

    def _step(self, before_the_kill: Callable[[], object], *, may_be_full: bool = True) -> None:
        self.count += 1
        if self.count == self._at and self._trouble is Trouble.KILLED:
            self._trouble = Trouble.NONE  # what is done now is part of the end
            before_the_kill()
            os.kill(os.getpid(), signal.SIGKILL)
        if self.count >= self._at and self._trouble is Trouble.DISK_FULL and may_be_full:
            raise OSError(28, "No space left on device")


def _cut(descriptor: int) -> None:
    """Leave half of a file."""
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode):
        os.ftruncate(descriptor, status.st_size // 2)


def attempt(directory: Path, trouble: Trouble = Trouble.NONE, at: int = 0) -> tuple[End, int]:
    """Start the run of a directory, or go on with it; how that ended, and how many instants it had."""
    made = make_plan(load_text(directory, SMALL, TRANSPORTS, "repetitions=2"), FakeTestbed())
    counted = directory / "instants"
    counted.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        os._exit(_play(directory, made, Instants(directory / "results", trouble, at), counted).value)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return End(code), int(counted.read_text()) if counted.exists() else 0


def found_run(directory: Path) -> Path | None:
    """The run, if it has come so far as to have a manifest."""
    runs = [path.parent for path in (directory / "results").glob(f"*/*/{MANIFEST}")]
    assert len(runs) <= 1, runs
    return runs[0] if runs else None


def _play(directory: Path, made: Plan, instants: Instants, counted: Path) -> End:
    instants.watch()
    try:
        _go_on(directory, made)
    except (OSError, HarnessError):
        return End.ERROR
    except BaseException:
        (directory / "traceback.txt").write_text(traceback.format_exc())
        return End.MISTAKE
    counted.write_text(str(instants.count))
    return End.DONE


def _go_on(directory: Path, made: Plan) -> None:
    """What `rogue run` does, and `rogue run --resume`."""
    there = found_run(directory)
    if there is None:
        run = start_run(made, directory / "results", ["rogue", "run"])
    else:
        made = replan(read_manifest(there), FakeTestbed())
        run = reopen_run(there, ["rogue", "run", "--resume"])
    with locked(run.directory):
        work(run, made, cells_left(run, made), Workers(1, InlineSlot), Watcher())
        write_whole(run.directory / "report.html", b"<p>nothing</p>")
        note_report_files(run.directory)
