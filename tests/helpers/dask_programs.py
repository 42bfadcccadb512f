"""A Dask cluster of the programs in docs/how-to/slurm-and-dask.md, each a process that a test may kill."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

DASK = str(Path(sys.executable).with_name("dask"))
TESTS = Path(__file__).parent.parent


@dataclass
class Programs:
    """A scheduler that can be reached, and its workers."""

    scheduler: subprocess.Popen[str]
    address: str
    workers: list[subprocess.Popen[str]] = field(default_factory=list)

    def add_worker(self, **environment: str) -> subprocess.Popen[str]:
        """Start a worker of one thread, and wait until the scheduler knows it."""
        words = ("worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard")
        worker = _start(*words, "--host", "127.0.0.1", **environment)
        self.workers.append(worker)
        _said(worker, "Registered to: +(.*)")
        return worker


@contextmanager
def dask_programs(*words: str, workers: int = 0) -> Iterator[Programs]:
    """Yield a scheduler with these options and this number of workers; end all afterwards."""
    scheduler = _start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", *words)
    programs = Programs(scheduler, _said(scheduler, "Scheduler at: +(.*)"))
    try:
        for _ in range(workers):
            programs.add_worker()
        yield programs
    finally:
        for process in (*programs.workers, scheduler):
            process.kill()
            process.communicate()


def _start(*words: str, **environment: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(TESTS), str(TESTS.parent)])
    return subprocess.Popen(
        [DASK, *words],
        env=os.environ | {"PYTHONPATH": path} | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _said(process: subprocess.Popen[str], pattern: str) -> str:
    """Wait until a process writes the pattern to its log."""
    assert process.stderr is not None
    log = []
    for line in process.stderr:
        log.append(line)
        if found := re.search(pattern, line):
            return found[1].strip()
    raise AssertionError("".join(log))
