"""Report a run in progress, in a second process: new numbers after each cell, new figures less often."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import TYPE_CHECKING, Final, Self

from rogue.harness.results.recorded_run import present_manifest
from rogue.harness.testbeds import DEFAULT_TESTBED
from rogue.start_up import prepare
from rogue.workloads.manifest import Manifest
from rogue.workloads.records import CellStatus

if TYPE_CHECKING:
    from rogue.reports.pages.page import FigureSection
    from rogue.reports.results import Results

NICENESS: Final = 19
"""Of the process on testbeds whose results depend on real time: all but the simulator."""
NICENESS_BESIDE_SIMULATION: Final = 10
"""On the simulator, after the first figures: with less priority those would take minutes beside a full
machine, and the pauses between reports bound what the process takes from the cells."""
NUMBERS, FIGURES = "numbers", "figures"


class Preview:
    """Builds reports of the finished cells at the path `page`; figures stay until they are drawn again."""

    def __init__(self, run: Path, page: Path) -> None:
        from rogue.reports.pages import build  # slow: done before the first cell is finished

        self._build = build.build
        self._run, self._page = run, page
        self._figures: list[FigureSection] = []

    def build(self, what: str) -> None:
        """Build a report with new numbers, and also with new figures if `what` is FIGURES."""
        manifest = present_manifest(self._run)
        figures = self._drawn if what == FIGURES else lambda _key, _results: self._figures
        self._build(self._run, self._page, {self._run: manifest}, figures=figures)

    def _drawn(self, key: str, results: "Results") -> "list[FigureSection]":
        from rogue.reports.pages.page import figure_sections

        self._figures = figure_sections(key, results)
        return self._figures


def serve(testbed: str, run: Path, page: Path, orders: Iterable[str]) -> None:
    """Build a report for each line, NUMBERS or FIGURES, and answer each; lower the process's priority."""
    is_simulated = testbed == DEFAULT_TESTBED
    if not is_simulated:
        os.nice(NICENESS)
    preview, is_lowered = Preview(run, page), not is_simulated
    for what in map(str.strip, orders):
        preview.build(what)
        sys.stdout.write("built\n")
        sys.stdout.flush()
        if what == FIGURES and not is_lowered:
            os.nice(NICENESS_BESIDE_SIMULATION)
            is_lowered = True


if __name__ == "__main__":
    prepare()
    serve(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.stdin)


REBUILD_SECONDS: Final = {NUMBERS: 0.0, FIGURES: 20.0}
"""Least time between the end of one report and the start of the next, by what is new in it."""
PAUSE_PER_BUILD: Final = {NUMBERS: 1.0, FIGURES: 4.0}
"""Pause between two reports as a multiple of the duration of one, by what is new in it."""
LOOK_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class PartialReport:
    """A report of the cells that are finished."""

    cells: int
    page: str


class PreviewProcess:
    """Runs the process that builds partial reports, as a context manager; `problem` has its last error."""

    def __init__(self, run: Path, manifest: Callable[[], Manifest]) -> None:
        self.latest: PartialReport | None = None
        self.problem: str | None = None
        self._run = run
        self._manifest = manifest
        self._process: subprocess.Popen[str] | None = None
        self._stop = Event()
        self._thread = Thread(target=self._update, name="figures so far", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop the report that is being built, and build no more."""
        self._stop.set()
        while self._thread.is_alive():
            if (process := self._process) is not None:
                process.kill()
            self._thread.join(0.2)
        self._end()

    def _update(self) -> None:
        """Build a report whenever cells have finished and enough time has passed, until `stop`."""
        reported, due = dict.fromkeys(REBUILD_SECONDS, 0), dict.fromkeys(REBUILD_SECONDS, 0.0)
        with TemporaryDirectory(prefix="rogue-live-") as folder:
            page = Path(folder) / "report.html"
            self._start(self._manifest().testbed, page)
            while not self._stop.wait(LOOK_SECONDS):
                manifest = self._manifest()
                finished = sum(cell.status is CellStatus.OK for cell in manifest.cells)
                for what, pause_s in REBUILD_SECONDS.items():
                    started = time.monotonic()
                    is_due = finished > reported[what] and started >= due[what]
                    if is_due and manifest.status == "running":  # else the report itself is built
                        self._build(manifest.testbed, page, finished, what)
                        ended, reported[what] = time.monotonic(), finished
                        due[what] = ended + max(pause_s, PAUSE_PER_BUILD[what] * (ended - started))

    def _start(self, testbed: str, page: Path) -> None:
        words = ["-P", "-m", "rogue.harness.live.preview", testbed, str(self._run.resolve()), str(page)]
        try:
            with page.with_name("errors.txt").open("wb") as errors:
                self._process = subprocess.Popen(
                    [sys.executable, *words],
                    cwd=page.parent,  # not the user's directory, whose files libraries would read
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    text=True,
                    process_group=0,  # Ctrl-C is for us
                )
        except OSError as error:
            self.problem = str(error)

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _build(self, testbed: str, page: Path, finished: int, what: str = FIGURES) -> None:
        """Have the process build a report; one that failed is replaced for the next report."""
        if self._process is None:
            self._start(testbed, page)
        if self._process is None:
            return
        assert self._process.stdin is not None and self._process.stdout is not None, "both are pipes"
        try:
            print(what, file=self._process.stdin, flush=True)
            if self._process.stdout.readline():
                self.latest, self.problem = PartialReport(finished, page.read_text(encoding="utf-8")), None
                return
        except OSError as error:
            self.problem = str(error)
        self._end()
        if not self._stop.is_set():
            errors = page.with_name("errors.txt").read_text(encoding="utf-8", errors="replace").splitlines()
            self.problem = errors[-1] if errors else "its process ended"
