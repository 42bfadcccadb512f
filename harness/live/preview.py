"""Build the report of a run in progress, in a low-priority process."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Final, Self

from rogue.harness.results.recorded_run import present_manifest
from rogue.start_up import prepare
from rogue.workloads.manifest import Manifest
from rogue.workloads.records import CellStatus

NICENESS: Final = 19
NICENESS_ON_THE_SIMULATOR: Final = 10
"""Higher priority, because simulated results do not depend on real time, and all cores may be busy."""


def preview(run: Path, page: Path) -> None:
    """Build a report of the finished cells at the path `page`."""
    from rogue.reports.pages.build import build

    build(run, page, {run: present_manifest(run)})


if __name__ == "__main__":
    prepare()
    testbed, *paths = sys.argv[1:]
    os.nice(NICENESS_ON_THE_SIMULATOR if testbed == "simulator" else NICENESS)
    preview(*map(Path, paths))


REBUILD_SECONDS: Final = 20.0
"""Least time between the end of one report and the start of the next."""
PAUSE_PER_BUILD: Final = 4.0
"""Pause between two reports as a multiple of the duration of one."""
LOOK_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class SoFar:
    """A report of the cells that were finished."""

    cells: int
    page: str


class Figures:
    """Keeps the report so far; a context manager. An error here is a sentence on the page."""

    def __init__(self, run: Path, manifest: Callable[[], Manifest]) -> None:
        self.latest: SoFar | None = None
        self.problem: str | None = None
        self._run = run
        self._manifest = manifest
        self._stop = Event()
        self._thread = Thread(target=self._keep, name="figures so far", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop the report that is being built, and build no more."""
        self._stop.set()
        self._thread.join()

    def _keep(self) -> None:
        pause, reported = 0.0, 0
        with TemporaryDirectory(prefix="rogue-live-") as folder:
            while not self._stop.wait(pause):
                pause = LOOK_SECONDS
                manifest = self._manifest()
                finished = sum(cell.status is CellStatus.OK for cell in manifest.cells)
                if finished > reported and manifest.status == "running":  # else the report itself is built
                    started = time.monotonic()
                    self._build(manifest.testbed, Path(folder) / "report.html", finished)
                    reported = finished
                    pause = max(REBUILD_SECONDS, PAUSE_PER_BUILD * (time.monotonic() - started))

    def _build(self, testbed: str, page: Path, finished: int) -> None:
        words = ["-P", "-m", "rogue.harness.live.preview", testbed, str(self._run.resolve()), str(page)]
        errors = page.with_name("errors.txt")
        try:
            with errors.open("wb") as stream:
                process = subprocess.Popen(
                    [sys.executable, *words],
                    cwd=page.parent,  # not the user's directory, whose files libraries would read
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=stream,
                    process_group=0,  # Ctrl-C is for us
                )
            if self._ends_well(process):
                self.latest, self.problem = SoFar(finished, page.read_text(encoding="utf-8")), None
            elif not self._stop.is_set():
                lines = errors.read_text(encoding="utf-8", errors="replace").splitlines()
                self.problem = lines[-1] if lines else f"its process ended with {process.returncode}"
        except OSError as error:
            self.problem = str(error)

    def _ends_well(self, process: "subprocess.Popen[bytes]") -> bool:
        """Wait for the report; end it if it is no longer wanted."""
        while not self._stop.is_set():
            try:
                return process.wait(timeout=0.2) == 0
            except subprocess.TimeoutExpired:
                continue
        process.kill()
        process.wait()
        return False
