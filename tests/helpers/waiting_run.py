"""Keep a run in progress for as long as a test wants, and fetch its page."""

import os
import select
import signal
import subprocess
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from helpers.command_line import Finished, start_rogue
from helpers.experiments import SMALL, write_experiment

LABELS = SMALL.replace("[rogue, roce]", "[{name: rogue, label: %s}, {name: roce, label: %s}]")
PATIENCE_SECONDS = 180
FIGURES_SECONDS = 300
"""A machine that runs other tests builds a report slowly."""


class Waiting:
    """A run whose second cell has reported that it runs, and never ends."""

    def __init__(self, directory: Path, first: str = "ok", *more: str) -> None:
        self.directory = directory
        write_experiment(directory, LABELS % (first, "waits"))
        pipe = directory / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        arguments = ("run", "experiment.yaml", "--testbed", "fake", "--jobs", "1", *more)
        self.process = start_rogue(directory, *arguments, ROGUE_FAKE_PIPE=str(pipe))
        assert select.select([reader], [], [], PATIENCE_SECONDS)[0], "the cell did not start"
        self.worker = int(os.read(reader, 100))
        os.close(reader)
        self.worker_handle = os.pidfd_open(self.worker)

    def worker_is_gone(self) -> bool:
        """Wait for the process that ran the cell to end."""
        ended = select.select([self.worker_handle], [], [], PATIENCE_SECONDS)[0]
        os.close(self.worker_handle)
        return bool(ended)

    @property
    def run(self) -> Path:
        """The run's directory."""
        (run,) = (self.directory / "results/small").iterdir()
        return run

    def end_cell(self) -> None:
        """Let the waiting cell fail, and with it the run end."""
        os.kill(self.worker, signal.SIGKILL)

    def finish(self) -> Finished:
        """Wait for the run to end."""
        out, err = self.process.communicate(timeout=PATIENCE_SECONDS)
        return Finished(self.process.returncode, out, err)


def page_with(words: str, url: str, process: "subprocess.Popen[str]") -> str:
    """Fetch a page until it has these words; fails when its process ends, or after a long time."""
    handle, until, page = os.pidfd_open(process.pid), time.monotonic() + FIGURES_SECONDS, ""
    try:
        while words not in page:
            assert time.monotonic() < until, f"no {words!r} in: {page}"
            try:
                with urlopen(url, timeout=PATIENCE_SECONDS) as response:
                    page = response.read().decode()
            except URLError:
                page = ""
            ended = select.select([handle], [], [], 0 if words in page else 0.2)[0]
            assert words in page or not ended, f"ended without {words!r}"
    finally:
        os.close(handle)
    return page
